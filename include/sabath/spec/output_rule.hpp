#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// What a file of bare numbers does not say itself.
struct RawLayout {
  base::ArrayType type = base::ArrayType::float64;  ///< of numbers
  bool big_endian = false;
  std::vector<std::uint64_t> shape{};  ///< row-major; empty: as many as there are

  bool operator==(const RawLayout&) const = default;
};

/// What of an array is a prediction: each value, or of scores the greatest of each row.
enum class Prediction { labels, argmax };
constexpr auto words_of(Prediction) {
  return std::to_array<std::string_view>({"labels", "argmax"});
}

/// How a declared output is compared.
struct OutputRule {
  /// The formats that can be declared, "bytes" among them.
  static const std::vector<std::string>& formats();

  std::string as{};  ///< one of those; empty: by arrays of whatever format its content has
  Tolerance tolerance{};
  std::optional<RawLayout> raw{};                   ///< of "raw", always and only
  std::map<std::string, Prediction> predictions{};  ///< by path of the array, without a leading '/'

  bool compares_arrays() const { return !as.empty() && as != "bytes"; }
  bool operator==(const OutputRule&) const = default;
};

/// "model/" is a folder and "shards/*.h5" a pattern: both stand for all files that they match.
bool is_group(std::string_view declared);
/// Does the declared output have this file? '*' matches neither a '/' nor a '.' that a name begins
/// with.
bool declares(const std::string& declared, const std::string& path);

/// The rule for an output: under "stage/path", else under its path, else under a folder or pattern
/// that has it, else an empty one.
OutputRule rule_for(const std::map<std::string, OutputRule>& rules,
                    const std::string& stage,
                    const std::string& path);

}  // namespace sabath::spec
