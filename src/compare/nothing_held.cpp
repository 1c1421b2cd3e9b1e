#include "nothing_held.hpp"

#include <algorithm>

namespace sabath::compare {

bool is_added_by_reader(std::string_view path) {
  const std::size_t mark = path.rfind('(');
  return path.ends_with(')') && mark != std::string_view::npos &&
         (mark == 0 || path[mark - 1] == '@');
}

bool hold_nothing(const std::vector<base::ArrayInfo>& arrays) {
  const auto is_array = [](const base::ArrayInfo& info) { return !info.is_attribute; };
  const bool has_arrays = std::any_of(arrays.begin(), arrays.end(), is_array);
  return std::none_of(arrays.begin(), arrays.end(), [&](const base::ArrayInfo& info) {
    if (info.is_attribute && (has_arrays || is_added_by_reader(info.path))) return false;
    return !info.unreadable.empty() || info.elements() > 0;
  });
}

bool hold_nothing(const spec::OutputTrees& trees) {
  std::vector<base::ArrayInfo> arrays;
  for (const spec::ArrayTree& tree : trees.arrays) {
    arrays.push_back({tree.path, base::ArrayType::opaque, tree.shape, tree.is_attribute});
    arrays.back().unreadable = tree.unreadable;
  }
  return hold_nothing(arrays);
}

std::string nothing_held_text(const std::string& name) {
  return (name.empty() ? "neither file holds a value" : name + " holds no value on either side") +
         ": there is nothing to compare";
}

}  // namespace sabath::compare
