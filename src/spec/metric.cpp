#include <sabath/base/text/regex.hpp>
#include <sabath/spec/metric.hpp>

namespace sabath::spec {

std::vector<int> value_groups(const base::Regex& pattern, const std::string& key) {
  for (const std::string& name : {key, std::string("value")}) {
    auto numbers = pattern.groups_named(name);
    if (!numbers.empty()) return numbers;
  }
  return pattern.group_count() == 1 ? std::vector<int>{1} : std::vector<int>{};
}

}  // namespace sabath::spec
