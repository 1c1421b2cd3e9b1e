#include "documents/enum_text.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/metric.hpp>

#include <array>

namespace sabath::spec {
std::string_view to_string(Rung rung) {
  static constexpr std::array<std::string_view, 3> words{"tolerance", "ulp", "bitwise"};
  return words.at(static_cast<std::size_t>(rung));
}

std::optional<Rung> parse_rung(std::string_view text) {
  return parse_enum<Rung>(text);
}

std::string_view to_string(Better better) {
  static constexpr std::array<std::string_view, 3> words{"none", "lower", "higher"};
  return words.at(static_cast<std::size_t>(better));
}

std::string_view to_string(SourceKind kind) {
  static constexpr std::array<std::string_view, 6> words{
      "jsonl", "regex", "key_value", "csv", "mllog", "tensorboard"};
  return words.at(static_cast<std::size_t>(kind));
}

std::vector<int> value_groups(const base::Regex& pattern, const std::string& key) {
  for (const std::string& name : {key, std::string("value")}) {
    auto numbers = pattern.groups_named(name);
    if (!numbers.empty()) return numbers;
  }
  return pattern.group_count() == 1 ? std::vector<int>{1} : std::vector<int>{};
}

}  // namespace sabath::spec
