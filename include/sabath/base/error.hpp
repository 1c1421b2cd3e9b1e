#pragma once

#include <stdexcept>
#include <string>

namespace sabath::base {

/// Kind of an error, by what the caller can do about it. `cli` maps each kind to one exit status.
enum class ErrorKind {
  usage,        ///< the request itself is wrong (a bad option, a bad document)
  not_found,    ///< something named does not exist
  integrity,    ///< bytes do not match their digest, or a store is damaged
  transfer,     ///< a source could not be read
  environment,  ///< an environment could not be built or may not be used
  launch,       ///< a command could not be started, or a scheduler refused
  catalog,      ///< the SQLite index is unusable
  storage,      ///< no space, quota, permission, read-only
  access,       ///< a login or a consent is needed
  interrupted,  ///< the user, or a scheduler, asked to stop
  internal,     ///< a bug in sabath
};

/// Exception that ends the current command. Absence is `std::optional`, a failed job is a value.
/// `what()` is "place: problem: cause", lower case, without a final stop; the hint stands apart.
class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message, std::string hint = {})
      : std::runtime_error(message), kind_(kind), hint_(std::move(hint)) {}

  ErrorKind kind() const noexcept { return kind_; }
  const std::string& hint() const noexcept { return hint_; }

 private:
  ErrorKind kind_;
  std::string hint_;
};

/// The text of `errno` value `code` ("No such file or directory"); safe in threads.
std::string errno_text(int code);

/// Throws Error for a failed system call: ENOENT is not_found; ENOSPC, EDQUOT, EROFS, EACCES,
/// EPERM, EIO and all others are storage. `place` is a path or a noun, `problem` what was tried
/// ("cannot write").
[[noreturn]] void throw_errno(const std::string& place, const std::string& problem, int code);

}  // namespace sabath::base
