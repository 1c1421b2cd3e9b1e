#include "extents.hpp"

#include <algorithm>
#include <iterator>

namespace sabath::cache {

void Extents::add(std::uint64_t begin, std::uint64_t end) {
  if (begin >= end) return;
  auto next = extents_.upper_bound(begin);
  if (next != extents_.begin() && std::prev(next)->second >= begin) {
    --next;
    begin = next->first;
  }
  while (next != extents_.end() && next->first <= end) {
    end = std::max(end, next->second);
    next = extents_.erase(next);
  }
  extents_.emplace_hint(next, begin, end);
}

std::uint64_t Extents::prefix() const {
  const auto first = extents_.begin();
  return first != extents_.end() && first->first == 0 ? first->second : 0;
}

std::uint64_t Extents::end() const {
  return extents_.empty() ? 0 : extents_.rbegin()->second;
}

}  // namespace sabath::cache
