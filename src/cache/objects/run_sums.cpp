#include "run_sums.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sabath::cache {
namespace {

/// More than the streams of any engine. Beyond it, writes are scattered and runs short.
constexpr std::size_t most_open_runs = 512;

std::uint64_t piece_end(std::uint64_t offset, std::uint64_t piece_bytes) {
  return (offset / piece_bytes + 1) * piece_bytes;
}

}  // namespace

void RunSums::add(std::uint64_t offset_bytes,
                  base::ByteView bytes,
                  unsigned source,
                  std::uint64_t piece_bytes,
                  std::vector<RangeSum>& finished) {
  while (!bytes.empty()) {
    const std::uint64_t end = piece_end(offset_bytes, piece_bytes);
    const auto part = bytes.first(
        static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - offset_bytes)));
    auto node = open_.extract(offset_bytes);
    if (!node.empty() && node.mapped().source != source) {
      close(open_.insert(std::move(node)).position, finished);
      node = {};
    }
    const std::uint64_t run_end = offset_bytes + part.size();
    if (node.empty()) {
      open_.insert_or_assign(run_end, Run{offset_bytes, source, {}});
    } else {
      node.key() = run_end;
      open_.insert(std::move(node));
    }
    const auto run = open_.find(run_end);
    run->second.summer.update(part);
    if (run_end == end) close(run, finished);
    offset_bytes = run_end;
    bytes = bytes.subspan(part.size());
  }
  while (open_.size() > most_open_runs)
    close(open_.begin(), finished);
}

void RunSums::close(OpenRuns::iterator run, std::vector<RangeSum>& finished) {
  const RangeSum sum{{run->second.begin, run->first}, run->second.source, run->second.summer.sum()};
  open_.erase(run);
  finished_[sum.range.begin] = sum;
  finished.push_back(sum);
}

void RunSums::close_at(std::uint64_t end_bytes, std::vector<RangeSum>& finished) {
  const auto run = open_.find(end_bytes);
  if (run != open_.end()) close(run, finished);
}

void RunSums::close_all(std::vector<RangeSum>& finished) {
  while (!open_.empty())
    close(open_.begin(), finished);
}

void RunSums::forget(base::ByteRange range) {
  auto open = open_.upper_bound(range.begin);
  while (open != open_.end() && open->second.begin < range.end)
    open = open_.erase(open);
  auto done = finished_.lower_bound(range.begin);
  if (done != finished_.begin() && std::prev(done)->second.range.end > range.begin) --done;
  while (done != finished_.end() && done->first < range.end)
    done = finished_.erase(done);
}

std::vector<RangeSum> RunSums::finished() const {
  std::vector<RangeSum> all;
  all.reserve(finished_.size());
  for (const auto& [begin, run] : finished_)
    all.push_back(run);
  return all;
}

std::vector<base::SourcedRange> RunSums::lacking(const std::vector<base::SourcedRange>& present,
                                                 std::uint64_t piece_bytes) const {
  std::vector<base::SourcedRange> parts;
  for (const auto& [range, source] : present) {
    std::uint64_t at = range.begin;
    while (at < range.end) {
      auto next = finished_.upper_bound(at);
      if (next != finished_.begin() && std::prev(next)->second.range.end > at) {
        at = std::prev(next)->second.range.end;
        continue;
      }
      std::uint64_t end = std::min(range.end, piece_end(at, piece_bytes));
      if (next != finished_.end()) end = std::min(end, next->first);
      parts.push_back({{at, end}, source});
      at = end;
    }
  }
  return parts;
}

}  // namespace sabath::cache
