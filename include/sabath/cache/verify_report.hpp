#pragma once

#include <sabath/base/digest.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::cache {

struct VerifyFinding {
  std::filesystem::path path{};
  std::string problem{};
  std::optional<base::Digest> digest{};  ///< of the object or tree; records have none
};

struct VerifyReport {
  std::uint64_t objects = 0;
  std::uint64_t trees = 0;
  std::uint64_t size_bytes = 0;  ///< of all objects and trees in the report
  std::uint64_t bytes_hashed = 0;
  std::vector<VerifyFinding> damaged{};
  /// Entries that an earlier check moved to damaged/ for inspection. They are harmless.
  std::vector<std::filesystem::path> set_aside{};
};

}  // namespace sabath::cache
