#include "extents.hpp"

#include <algorithm>
#include <iterator>

namespace sabath::cache {

void Extents::add(base::ByteRange range, unsigned source) {
  if (range.begin >= range.end) return;
  remove(range);
  bytes_ += range.size();
  auto at = stretches_.emplace(range.begin, Stretch{range.end, source}).first;
  const auto next = std::next(at);
  if (next != stretches_.end() && next->first == range.end && next->second.source == source) {
    at->second.end = next->second.end;
    stretches_.erase(next);
  }
  if (at != stretches_.begin()) {
    const auto before = std::prev(at);
    if (before->second.end == range.begin && before->second.source == source) {
      before->second.end = at->second.end;
      stretches_.erase(at);
    }
  }
  if (range.begin > prefix_) return;
  at = std::prev(stretches_.upper_bound(prefix_));
  while (at != stretches_.end() && at->first <= prefix_) {
    prefix_ = std::max(prefix_, at->second.end);
    ++at;
  }
}

void Extents::remove(base::ByteRange range) {
  if (range.begin >= range.end) return;
  prefix_ = std::min(prefix_, range.begin);
  auto at = stretches_.upper_bound(range.begin);
  if (at != stretches_.begin() && std::prev(at)->second.end > range.begin) --at;
  while (at != stretches_.end() && at->first < range.end) {
    const base::ByteRange old{at->first, at->second.end};
    const unsigned source = at->second.source;
    at = stretches_.erase(at);
    bytes_ -= old.size();
    if (old.begin < range.begin) {
      stretches_[old.begin] = {range.begin, source};
      bytes_ += range.begin - old.begin;
    }
    if (old.end > range.end) {
      stretches_[range.end] = {old.end, source};
      bytes_ += old.end - range.end;
    }
  }
}

bool Extents::touches(base::ByteRange range) const {
  if (range.begin >= range.end) return false;
  const auto next = stretches_.lower_bound(range.end);
  return next != stretches_.begin() && std::prev(next)->second.end > range.begin;
}

std::vector<base::SourcedRange> Extents::list() const {
  std::vector<base::SourcedRange> ranges;
  ranges.reserve(stretches_.size());
  for (const auto& [begin, stretch] : stretches_)
    ranges.push_back({{begin, stretch.end}, stretch.source});
  return ranges;
}

}  // namespace sabath::cache
