#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>

namespace sabath::base {

/// As `digest_file`, and tells after each mebibyte how many bytes were read so far. Throws what
/// `told` throws.
Digest digest_file(const std::filesystem::path& path,
                   DigestAlgorithm algorithm,
                   const std::function<void(std::uint64_t done)>& told);

}  // namespace sabath::base
