#include "coverage.hpp"

#include <algorithm>
#include <iterator>

namespace sabath::fetch {

void Coverage::add(base::ByteRange range) {
  if (range.begin >= range.end) return;
  auto next = ranges_.upper_bound(range.begin);
  if (next != ranges_.begin() && std::prev(next)->second >= range.begin) {
    --next;
    if (next->second >= range.end) return;
    range.begin = next->first;
  }
  while (next != ranges_.end() && next->first <= range.end) {
    range.end = std::max(range.end, next->second);
    bytes_ -= next->second - next->first;
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, range.begin, range.end);
  bytes_ += range.size();
  most_bytes_ = std::max(most_bytes_, bytes_);
}

std::uint64_t Coverage::first_missing(std::uint64_t from) const {
  const auto next = ranges_.upper_bound(from);
  if (next == ranges_.begin()) return from;
  return std::max(from, std::prev(next)->second);
}

std::uint64_t Coverage::first_present(std::uint64_t from) const {
  const auto next = ranges_.upper_bound(from);
  if (next != ranges_.begin() && std::prev(next)->second > from) return from;
  return next == ranges_.end() ? endless : next->first;
}

}  // namespace sabath::fetch
