#include "launch_failure.hpp"

#include <sabath/base/unique_fd.hpp>

#include <array>
#include <cerrno>
#include <string_view>

#include <fcntl.h>
#include <sys/stat.h>
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

}  // namespace

Error not_on_path(const std::string& name, const std::string& path_variable) {
  for (std::string_view rest = path_variable; !rest.empty();) {
    const auto colon = rest.find(':');
    const fs::path candidate = fs::path(rest.substr(0, colon)) / name;
    rest = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
    if (::access(candidate.c_str(), F_OK) == 0) return no_rights(name, candidate);
  }
  return cannot_start(name, "no such command on PATH", "install it, or add its folder to PATH");
}

Error exec_failed(const std::string& name, const fs::path& program, int code) {
  if (code == ENOENT && ::access(program.c_str(), F_OK) == 0) {
    return missing_interpreter(name, program);
  }
  if (code == ENOENT || code == ENOTDIR) return cannot_start(name, "no such file", "");
  if (code == EACCES) return no_rights(name, program);
  if (code == ENOEXEC) {
    return cannot_start(
        name,
        program.string() + " is no program of this machine",
        "a script needs a first line such as '#!/bin/sh'; a binary must be built for this machine");
  }
  if (code == E2BIG) {
    return cannot_start(name,
                        "its arguments and environment are too long for the system",
                        "pass long lists in a file");
  }
  return cannot_start(name, errno_text(code), "");
}

}  // namespace sabath::base
