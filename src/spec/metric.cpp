#include <sabath/base/text/regex.hpp>
#include <sabath/spec/metric.hpp>

namespace sabath::spec {

std::optional<std::string> Judge::label() const {
  if (kind == JudgeKind::last) return std::nullopt;
  if (kind == JudgeKind::best) return "best";
  return "mean of last " + std::to_string(values);
}

std::vector<int> value_groups(const base::Regex& pattern, const std::string& key) {
  for (const std::string& name : {key, std::string("value")}) {
    auto numbers = pattern.groups_named(name);
    if (!numbers.empty()) return numbers;
  }
  return pattern.group_count() == 1 ? std::vector<int>{1} : std::vector<int>{};
}

}  // namespace sabath::spec
