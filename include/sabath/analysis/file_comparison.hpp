#pragma once

#include <sabath/spec/comparison.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace sabath::analysis {

struct FilesRequest {
  std::filesystem::path a{};
  std::filesystem::path b{};
  std::string as{};  ///< a format of spec::OutputRule, or "raw:TYPE[:big]"; empty: by content
  std::optional<spec::Rung> require{};
  spec::Tolerance tolerance{};
};

/// Compares two files array by array; files of other formats by their bytes. Throws Error{usage}
/// for an unknown format, and Error{not_found|storage|integrity} as the readers do.
spec::Comparison compare_files(const FilesRequest& request);

}  // namespace sabath::analysis
