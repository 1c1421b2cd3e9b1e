#include <sabath/spec/group_name.hpp>

namespace sabath::spec {

std::string group_name(const std::vector<std::string>& by, const std::vector<std::string>& levels) {
  const bool are_sides = by.size() == 1 && by.front() == "side";
  std::string name;
  for (std::size_t i = 0; i < levels.size(); ++i) {
    if (i > 0) name += ", ";
    if (!are_sides && i < by.size()) name += by[i] + " ";
    name += levels[i].empty() ? "(none)" : levels[i];
  }
  return name.empty() ? "all runs" : name;
}

}  // namespace sabath::spec
