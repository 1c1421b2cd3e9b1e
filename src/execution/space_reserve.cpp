#include "space_reserve.hpp"

#include <sabath/base/error.hpp>

#include <cerrno>
#include <cstdint>
#include <system_error>

#include <fcntl.h>

namespace sabath::execution {
namespace {

/// More than a record, a status and a note of the inbox take.
constexpr off_t held_bytes = off_t{1} << 20U;
/// What is left of a full disk is less than any program's block.
constexpr std::uintmax_t nearly_nothing = 64U << 10U;

}  // namespace

SpaceReserve::SpaceReserve(std::filesystem::path folder)
    : folder_(std::move(folder)),
      file_(::open(folder_.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600)) {
  if (file_ && ::fallocate(file_.get(), 0, 0, held_bytes) != 0) file_ = base::UniqueFd();
}

std::string SpaceReserve::problem() const {
  std::error_code code;
  const auto space = std::filesystem::space(folder_, code);
  if (code || space.available >= nearly_nothing) return {};
  return folder_.string() + ": " + base::errno_text(ENOSPC);
}

}  // namespace sabath::execution
