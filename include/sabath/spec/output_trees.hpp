#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// Digests (XXH3, 128 bits, in hexadecimal) of the values of a chunk of an array.
struct ChunkDigest {
  std::string exact{};
  /// Of the values rounded to the tolerance: chunks of one digest hold it. Nothing: the same.
  std::optional<std::string> rounded{};
  std::optional<std::uint64_t> nans{};  ///< values that are NaN; nothing: none

  bool operator==(const ChunkDigest&) const = default;
};

/// The tree of one array: its root is the digest of the chunks' exact ones.
struct ArrayTree {
  std::string path{};
  bool is_attribute = false;
  std::string type{};  ///< as base::to_string has it
  std::vector<std::uint64_t> shape{};
  bool column_major = false;
  std::string unreadable{};  ///< why the array has no chunks; else empty
  std::uint64_t chunk = 0;   ///< elements of a chunk; the last may have fewer
  double absolute = 0;       ///< the tolerance that was rounded to
  double relative = 0;
  std::string root{};
  std::vector<ChunkDigest> chunks{};

  bool operator==(const ArrayTree&) const = default;
};

/// What is left of an output's values when they are gone: trees/<stage>/<path>.json of a run.
struct OutputTrees {
  std::vector<ArrayTree> arrays{};  ///< sorted by path, as in base::ArraySource

  bool operator==(const OutputTrees&) const = default;
};

/// JSON without blanks between: there are many digests.
std::string text_of(const OutputTrees& trees);
OutputTrees parse_output_trees(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
