#include <sabath/base/error.hpp>

#include <cerrno>
#include <system_error>

namespace sabath::base {

std::string errno_text(int code) {
  return std::generic_category().message(code);
}

void throw_errno(const std::string& place, const std::string& problem, int code) {
  std::string hint;
  if (code == ENOSPC || code == EDQUOT) hint = "free some space, or choose another place";
  if (code == EFBIG) hint = "allow larger files (ulimit -f), or choose another file system";
  if (code == EROFS) hint = "the file system is read-only; choose another place";
  throw Error(code == ENOENT ? ErrorKind::not_found : ErrorKind::storage,
              place + ": " + problem + ": " + errno_text(code),
              hint);
}

}  // namespace sabath::base
