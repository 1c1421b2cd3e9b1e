#include "builder_process.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <array>
#include <filesystem>
#include <optional>
#include <sstream>

#include <unistd.h>

namespace sabath::env {
namespace {

/// Field 22 of /proc/PID/stat; the command's name before it, in parentheses, may hold anything.
std::optional<std::string> start_ticks_of(std::int64_t pid) {
  std::optional<std::string> text;
  try {
    text = base::read_file_if_exists("/proc/" + std::to_string(pid) + "/stat");
  } catch (const base::Error&) {
    // The process ended between open and read.
    return std::nullopt;
  }
  if (!text || text->rfind(')') == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(text->rfind(')') + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number)
    fields >> field;
  return field;
}

std::string first_line_of(const char* path) {
  std::string text = base::read_file_if_exists(path).value_or("");
  return text.substr(0, text.find('\n'));
}

}  // namespace

BuilderProcess this_process() {
  BuilderProcess self;
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) self.host = host.data();
  self.boot_id = first_line_of("/proc/sys/kernel/random/boot_id");
  std::error_code code;
  self.pid_namespace = std::filesystem::read_symlink("/proc/self/ns/pid", code).string();
  self.pid = ::getpid();
  self.start_ticks = start_ticks_of(self.pid).value_or("");
  return self;
}

Liveness liveness_of(const BuilderProcess& builder) {
  const BuilderProcess self = this_process();
  if (builder.boot_id != self.boot_id || builder.pid_namespace != self.pid_namespace) {
    return Liveness::unknown;
  }
  const auto ticks = start_ticks_of(builder.pid);
  return ticks && *ticks == builder.start_ticks ? Liveness::alive : Liveness::dead;
}

}  // namespace sabath::env
