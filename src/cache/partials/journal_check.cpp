#include "journal_check.hpp"

#include "objects/read_range.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include <fcntl.h>

namespace sabath::cache {
namespace {

/// Throws Error{storage}.
bool is_intact(int fd, const std::filesystem::path& file, const RangeSum& part) {
  Summer summer;
  std::uint64_t seen = 0;
  std::vector<std::byte> buffer;
  read_range(fd, file, part.range, buffer, [&](base::ByteView bytes) {
    summer.update(bytes);
    seen += bytes.size();
  });
  return seen == part.range.size() && summer.sum() == part.sum;
}

/// For each part whether it is intact.
std::vector<char> check_all(int fd,
                            const std::filesystem::path& file,
                            const std::vector<RangeSum>& parts) {
  std::vector<char> intact(parts.size(), 0);
  std::mutex mutex;
  std::size_t unreadable = 0;
  base::for_each_in_parallel(parts.size(), [&](std::size_t i) {
    try {
      intact[i] = is_intact(fd, file, parts[i]) ? 1 : 0;
    } catch (const base::Error&) {
      const std::lock_guard lock(mutex);
      if (++unreadable == parts.size()) throw;
    }
  });
  return intact;
}

}  // namespace

JournalContent only_intact(const std::filesystem::path& file, JournalContent content) {
  const base::UniqueFd fd(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  const int problem = errno;
  std::vector<RangeSum> claimed = std::exchange(content.ranges, {});
  if (!fd && problem == ENOENT) return content;
  if (!fd) base::throw_errno(file.string(), "cannot read", problem);
  const std::vector<char> intact = check_all(fd.get(), file, claimed);
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
