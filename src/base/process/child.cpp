#include "child.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/program.hpp>
#include <sabath/base/process/variables.hpp>

#include <dirent.h>
#include <linux/sched.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string_view>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sabath::base {
namespace {

namespace fs = std::filesystem;

Error cannot_start(const std::string& name, const std::string& cause, const std::string& hint) {
  return {ErrorKind::launch, name + ": cannot be started: " + cause, hint};
}

/// The first bytes of a file, enough for "#!" and its interpreter.
std::string first_bytes(const fs::path& program) {
  std::array<char, 256> bytes{};
  const UniqueFd fd(::open(program.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = fd ? ::read(fd.get(), bytes.data(), bytes.size()) : 0;
  return {bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0};
}

/// The interpreter that a script names in its first line, or empty.
std::string interpreter_of(std::string_view start) {
  if (!start.starts_with("#!")) return {};
  start.remove_prefix(2);
  start = start.substr(0, start.find('\n'));
  const auto begin = start.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  start.remove_prefix(begin);
  return std::string(start.substr(0, start.find_first_of(" \t")));
}

Error missing_interpreter(const std::string& name, const fs::path& program) {
  std::string interpreter = interpreter_of(first_bytes(program));
  if (interpreter.empty()) {
    return cannot_start(name,
                        program.string() + " needs a loader that is not on this system",
                        "it was built for another system; build it here");
  }
  if (interpreter.back() == '\r') {
    return cannot_start(name,
                        "the first line of " + program.string() + " ends in a carriage return",
                        "give the script Unix line ends");
  }
  return cannot_start(name,
                      "its interpreter '" + interpreter + "' does not exist",
                      "install it, or correct the first line of " + fs::path(program).string());
}

Error no_rights(const std::string& name, const fs::path& program) {
  struct stat status {};
  if (::stat(program.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) {
    return cannot_start(name, program.string() + " is a folder", "");
  }
  if (::access(program.c_str(), X_OK) != 0) {
    return cannot_start(
        name, program.string() + " is not executable", "chmod +x " + program.string());
  }
  return cannot_start(name,
                      "no permission to execute " + program.string(),
                      "is its interpreter executable, its file system mounted noexec?");
}

/// Why `name` is on no folder of `path_variable`.
Error not_on_path(const std::string& name, const std::string& path_variable) {
  for (std::string_view rest = path_variable; !rest.empty();) {
    const auto colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    if (::access(candidate.c_str(), F_OK) == 0) return no_rights(name, candidate);
  }
  return cannot_start(name, "no such command on PATH", "install it, or add its folder to PATH");
}

/// Why execve of `program` failed with errno `code`: the file, its rights, its interpreter.
Error exec_failed(const std::string& name, const fs::path& program, int code) {
  if (code == ENOENT && ::access(program.c_str(), F_OK) == 0) {
    return missing_interpreter(name, program);
  }
  if (code == ENOENT || code == ENOTDIR) return cannot_start(name, "no such file", "");
  if (code == EACCES) return no_rights(name, program);
  if (code == ENOEXEC) {
    return cannot_start(
        name,
        program.string() + " is not a program for this machine",
        "a script needs a first line such as '#!/bin/sh'; a binary must be built for this machine");
  }
  if (code == E2BIG) {
    return cannot_start(name,
                        "its arguments and environment are too long for the system",
                        "pass long lists in a file");
  }
  return cannot_start(name, errno_text(code), "");
}

/// In the child the pipe that tells of failures stands here, just above what the program gets.
constexpr int failure_fd = 3;

[[noreturn]] void refuse(const std::string& name, const std::string& cause) {
  throw Error(ErrorKind::launch, name + ": cannot be started: " + cause);
}

void check(const Command& command) {
  if (command.argv.empty() || command.argv.front().empty()) refuse("command", "it is empty");
  const auto has_nul = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  if (std::any_of(command.argv.begin(), command.argv.end(), has_nul)) {
    refuse(command.argv.front().c_str(), "an argument holds a NUL character");
  }
  if (!command.environment) return;
  for (const auto& [key, value] : *command.environment) {
    if (key.empty() || key.find('=') != std::string::npos || has_nul(key) || has_nul(value)) {
      refuse(command.argv.front(), "'" + key + "' cannot be an environment variable");
    }
  }
}

/// A name without '/' is looked up in the child's own PATH, whose relative folders are the
/// caller's.
std::string resolve(const std::string& name, const Environment& environment) {
  if (name.find('/') != std::string::npos) return name;
  const std::string path_variable = variable_of(environment, "PATH", "/bin:/usr/bin");
  const auto found = find_program(name, path_variable);
  if (!found) throw not_on_path(name, path_variable);
  return std::filesystem::absolute(*found).string();
}

/// A copy of `fd` above all that the child's descriptors are moved to, so that none is overwritten.
UniqueFd out_of_the_way(int fd) {
  UniqueFd copy(::fcntl(fd, F_DUPFD_CLOEXEC, failure_fd + 1));
  if (!copy) throw_errno("descriptor", "cannot duplicate", errno);
  return copy;
}

/// A file in memory: nobody has to feed it while the command runs, and nothing lies on a disk.
UniqueFd open_input(const std::string& input) {
  UniqueFd file(input.empty() ? ::open("/dev/null", O_RDONLY | O_CLOEXEC)
                              : ::memfd_create("stdin", MFD_CLOEXEC));
  if (!file) throw_errno("standard input", "cannot open", errno);
  if (input.empty()) return file;
  write_all(file.get(), as_bytes(input), "standard input");
  if (::lseek(file.get(), 0, SEEK_SET) != 0) throw_errno("standard input", "cannot rewind", errno);
  return file;
}

int highest_open_descriptor() {
  int highest = failure_fd;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(::opendir("/proc/self/fd"), ::closedir);
  if (!folder) return 65536;
  // NOLINTNEXTLINE(concurrency-mt-unsafe): the stream is this function's own
  while (const dirent* entry = ::readdir(folder.get())) {
    highest = std::max(highest, static_cast<int>(std::strtol(entry->d_name, nullptr, 10)));
  }
  return highest;
}

void reset_dispositions() noexcept {
  struct sigaction plain {};
  plain.sa_handler = SIG_DFL;
  for (int signal = 1; signal < NSIG; ++signal)
    ::sigaction(signal, &plain, nullptr);
}

/// Blocks every signal of this thread while it lives, so that no handler of ours runs in the child.
class BlockedSignals {
 public:
  BlockedSignals() {
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &old_);
  }
  ~BlockedSignals() { ::pthread_sigmask(SIG_SETMASK, &old_, nullptr); }
  BlockedSignals(const BlockedSignals&) = delete;
  BlockedSignals& operator=(const BlockedSignals&) = delete;

 private:
  sigset_t old_{};
};

}  // namespace

Child::Child(const Command& command, int stdout_fd, int stderr_fd)
    : working_directory_(command.working_directory.string()),
      control_group_(command.control_group.string()),
      argv_(command.argv),
      caller_(::getpid()),
      outlives_caller_(command.outlives_caller) {
  check(command);
  name_ = argv_.front();
  const Environment environment =
      command.environment ? *command.environment : current_environment();
  program_ = resolve(name_, environment);
  for (const auto& [key, value] : environment)
    environment_.push_back(key + "=" + value);
  argv_pointers_ = pointers_to(argv_);
  environment_pointers_ = pointers_to(environment_);
  const UniqueFd input = open_input(command.input);
  stdin_ = out_of_the_way(input.get());
  stdout_ = out_of_the_way(stdout_fd);
  stderr_ = out_of_the_way(stderr_fd);
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) throw_errno("pipe", "cannot open", errno);
  failure_reader_.reset(ends[0]);
  const UniqueFd writer(ends[1]);
  failure_writer_ = out_of_the_way(writer.get());
}

int Child::fork() {
  highest_descriptor_ = highest_open_descriptor();
  int pid = -1;
  int code = 0;
  {
    const BlockedSignals blocked;
    pid = fork_into_group();
    if (pid < 0) pid = ::fork();
    code = errno;
    if (pid == 0) become_program();
  }
  stdin_.reset();
  stdout_.reset();
  stderr_.reset();
  failure_writer_.reset();
  if (pid > 0) return pid;
  throw Error(ErrorKind::launch,
              name_ + ": cannot be started: " + errno_text(code),
              "too many processes, or too little memory (ulimit -u, free)");
}

/// Forks into the group at once (Linux 5.7). A later move makes all forks of the machine wait for a
/// moment. What the process started meanwhile would stay behind. Returns a negative number without
/// a group, or where the kernel cannot do it.
int Child::fork_into_group() const noexcept {
#if defined(SYS_clone3) && defined(CLONE_INTO_CGROUP)
  if (control_group_.empty()) return -1;
  const UniqueFd group(::open(control_group_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!group) return -1;
  struct clone_args arguments {};
  arguments.flags = CLONE_INTO_CGROUP;
  arguments.exit_signal = SIGCHLD;
  arguments.cgroup = static_cast<std::uint64_t>(group.get());
  return static_cast<int>(::syscall(SYS_clone3, &arguments, sizeof arguments));
#else
  return -1;
#endif
}

void Child::become_program() const noexcept {
  reset_dispositions();
  if (!outlives_caller_) {
    ::prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (::getppid() != caller_) ::_exit(127);
  }
  ::setsid();
  if (::dup2(stdin_.get(), 0) < 0 || ::dup2(stdout_.get(), 1) < 0 || ::dup2(stderr_.get(), 2) < 0 ||
      ::dup3(failure_writer_.get(), failure_fd, O_CLOEXEC) < 0) {
    fail(failure_writer_.get(), Step::descriptors);
  }
  close_other_descriptors();
  if (!working_directory_.empty() && ::chdir(working_directory_.c_str()) != 0) {
    fail(failure_fd, Step::working_directory);
  }
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  ::execve(program_.c_str(), argv_pointers_.data(), environment_pointers_.data());
  fail(failure_fd, Step::exec);
}

void Child::close_other_descriptors() const noexcept {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, failure_fd + 1, ~0U, 0) == 0) return;
#endif
  for (int fd = failure_fd + 1; fd <= highest_descriptor_; ++fd)
    ::close(fd);
}

void Child::fail(int fd, Step step) noexcept {
  const Failure failure{step, errno};
  while (::write(fd, &failure, sizeof failure) < 0 && errno == EINTR) {
  }
  ::_exit(127);
}

void Child::await_exec() {
  Failure failure;
  ssize_t got = 0;
  do {
    got = ::read(failure_reader_.get(), &failure, sizeof failure);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return;
  switch (failure.step) {
    case Step::descriptors:
      refuse(name_, "its descriptors cannot be set up: " + errno_text(failure.code));
    case Step::working_directory:
      refuse(name_,
             "its working directory " + working_directory_ + ": " + errno_text(failure.code));
    case Step::exec:
      break;
  }
  std::filesystem::path program = program_;
  if (program.is_relative()) program = std::filesystem::path(working_directory_) / program;
  throw exec_failed(name_, program, failure.code);
}

}  // namespace sabath::base
