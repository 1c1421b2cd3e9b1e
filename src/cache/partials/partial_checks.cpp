#include "partial_checks.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <limits>

#include <sys/types.h>

namespace sabath::cache {

using base::Error;
using base::ErrorKind;

bool exceeds_any_file(std::uint64_t offset_bytes, std::uint64_t size_bytes) {
  constexpr std::uint64_t longest_file = std::numeric_limits<off_t>::max();
  return size_bytes > longest_file || offset_bytes > longest_file - size_bytes;
}

base::ByteRange checked_range(std::uint64_t offset_bytes,
                              std::uint64_t size_bytes,
                              std::optional<std::uint64_t> announced_bytes) {
  const base::ByteRange range{offset_bytes, offset_bytes + size_bytes};
  if (!announced_bytes || range.end <= *announced_bytes) return range;
  throw Error(ErrorKind::integrity,
              "partial file: gets bytes up to " + std::to_string(range.end) + ", but has only " +
                  std::to_string(*announced_bytes));
}

bool is_complete(const Extents& present, std::optional<std::uint64_t> announced_bytes) {
  return present.prefix() == present.end() &&
         present.end() == announced_bytes.value_or(present.end());
}

void check_complete(const Extents& present, std::optional<std::uint64_t> announced_bytes) {
  if (is_complete(present, announced_bytes)) return;
  throw Error(ErrorKind::integrity,
              "partial file: is incomplete: nothing was written at byte " +
                  std::to_string(present.prefix()) + " of " +
                  std::to_string(announced_bytes.value_or(present.end())));
}

base::DigestMatch match_of(const std::vector<base::Digest>& actual,
                           const std::vector<base::Digest>& wanted) {
  const bool all = std::ranges::all_of(wanted, [&](const base::Digest& digest) {
    return std::ranges::find(actual, digest) != actual.end();
  });
  return all ? base::DigestMatch::right : base::DigestMatch::wrong;
}

void check_digests(const std::string& place,
                   const std::vector<base::Digest>& actual,
                   const std::vector<base::Digest>& expected,
                   const std::string& hint) {
  for (const base::Digest& wanted : expected) {
    if (std::ranges::find(actual, wanted) != actual.end()) continue;
    const auto same_kind = std::ranges::find_if(
        actual, [&](const auto& digest) { return digest.algorithm == wanted.algorithm; });
    throw Error(ErrorKind::integrity,
                place + ": does not match its digest: expected " + wanted.text() + ", got " +
                    (same_kind == actual.end() ? "none" : same_kind->text()),
                hint);
  }
}

}  // namespace sabath::cache
