#include "journal_check.hpp"

#include "parallel.hpp"
#include "read_range.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include <fcntl.h>

namespace sabath::cache {
namespace {

bool is_intact(int fd, const std::filesystem::path& file, const RangeSum& part) {
  Summer summer;
  std::uint64_t seen = 0;
  std::vector<std::byte> buffer;
  try {
    read_range(fd, file, part.range, buffer, [&](base::ByteView bytes) {
      summer.update(bytes);
      seen += bytes.size();
    });
  } catch (const base::Error&) {
    return false;
  }
  return seen == part.range.size() && summer.sum() == part.sum;
}

}  // namespace

JournalContent only_intact(const std::filesystem::path& file, JournalContent content) {
  const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::vector<RangeSum> claimed = std::exchange(content.ranges, {});
  if (!fd) return content;
  std::vector<char> intact(claimed.size(), 0);
  for_each_in_parallel(claimed.size(), [&](std::size_t i) {
    intact[i] = is_intact(fd.get(), file, claimed[i]) ? 1 : 0;
  });
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (intact[i] != 0) content.ranges.push_back(claimed[i]);
  }
  std::stable_sort(
      content.ranges.begin(), content.ranges.end(), [](const RangeSum& a, const RangeSum& b) {
        return a.range.begin < b.range.begin;
      });
  std::uint64_t end = 0;
  std::erase_if(content.ranges, [&end](const RangeSum& part) {
    const bool overlaps = part.range.begin < end;
    if (!overlaps) end = part.range.end;
    return overlaps;
  });
  return content;
}

}  // namespace sabath::cache
