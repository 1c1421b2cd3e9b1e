#pragma once

#include "objects/extents.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/partial_file.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// Rules that all partial files share.
namespace sabath::cache {

/// Says whether a write reaches beyond the largest file that the kernel knows.
bool exceeds_any_file(std::uint64_t offset_bytes, std::uint64_t size_bytes);
/// Returns the range of a write. Throws Error{integrity} beyond the announced size.
base::ByteRange checked_range(std::uint64_t offset_bytes,
                              std::uint64_t size_bytes,
                              std::optional<std::uint64_t> announced_bytes);

bool is_complete(const Extents& present, std::optional<std::uint64_t> announced_bytes);
/// Throws Error{integrity} where bytes are missing.
void check_complete(const Extents& present, std::optional<std::uint64_t> announced_bytes);

/// Says whether a complete file has all digests that are `wanted`.
base::DigestMatch match_of(const std::vector<base::Digest>& actual,
                           const std::vector<base::Digest>& wanted);
/// Throws Error{integrity} with both digests for one of `expected` that is not in `actual`.
void check_digests(const std::string& place,
                   const std::vector<base::Digest>& actual,
                   const std::vector<base::Digest>& expected,
                   const std::string& hint = {});

}  // namespace sabath::cache
