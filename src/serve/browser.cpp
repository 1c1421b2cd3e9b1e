#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/serve/browser.hpp>

#include <array>

#include <fcntl.h>
#include <spawn.h>
#include <unistd.h>

namespace sabath::serve {

std::string open_browser(const std::string& address) {
  const base::Environment environment = base::current_environment();
  const bool has_display =
      environment.contains("DISPLAY") || environment.contains("WAYLAND_DISPLAY");
  if (!has_display) return {};
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    ::posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
  std::string program = "xdg-open";
  std::string argument = address;
  const std::array<char*, 3> words{program.data(), argument.data(), nullptr};
  pid_t pid = 0;
  const int problem =
      ::posix_spawnp(&pid, program.c_str(), &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return problem == 0 ? "" : "no browser was opened: xdg-open: " + base::errno_text(problem);
}

}  // namespace sabath::serve
