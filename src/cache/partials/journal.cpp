#include "journal.hpp"

#include "journal_file.hpp"
#include "objects/read_range.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/unique_fd.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <mutex>
#include <utility>

#include <fcntl.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view journal_first_line = "sabath journal 1";
constexpr std::uint64_t longest_journal_bytes = 1U << 30U;
constexpr std::size_t most_sources = 100'000;

bool read_range_fields(std::string_view& line, base::ByteRange& range) {
  return read_number(line, range.begin) && read_number(line, range.end) && range.begin < range.end;
}

bool take_part_line(std::string_view line, JournalContent& content) {
  const auto kind = next_field(line);
  if (kind == "size") return read_number(line, content.size_bytes.emplace()) && line.empty();
  if (kind == "source") {
    std::size_t number = 0;
    base::ByteSource source;
    if (!read_number(line, number) || number != content.sources.size() || number > most_sources ||
        !read_text(line, source.url) || !read_text(line, source.etag) ||
        !read_text(line, source.last_modified)) {
      return false;
    }
    content.sources.push_back(std::move(source));
    return line.empty();
  }
  RangeSum part;
  if (!read_range_fields(line, part.range)) return false;
  if (kind == "bytes") {
    if (!read_number(line, part.source) || !read_number(line, part.sum, 16) ||
        part.source >= content.sources.size()) {
      return false;
    }
    content.ranges.push_back(part);
    return line.empty();
  }
  if (kind != "drop") return false;
  std::erase_if(content.ranges, [&](const RangeSum& old) {
    return old.range.begin < part.range.end && part.range.begin < old.range.end;
  });
  return line.empty();
}

/// Throws Error{storage}.
bool is_intact(int fd, const fs::path& file, const RangeSum& part) {
  Summer summer;
  std::uint64_t seen = 0;
  std::vector<std::byte> buffer;
  read_range(fd, file, part.range, buffer, [&](base::ByteView bytes) {
    summer.update(bytes);
    seen += bytes.size();
  });
  return seen == part.range.size() && summer.sum() == part.sum;
}

/// Says for each part whether it is intact.
std::vector<char> check_all(int fd, const fs::path& file, const std::vector<RangeSum>& parts) {
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

std::uint64_t JournalContent::range_bytes() const {
  std::uint64_t bytes = 0;
  for (const RangeSum& part : ranges)
    bytes += part.range.size();
  return bytes;
}

std::string size_line(std::uint64_t size_bytes) {
  return fmt::format("size {}\n", size_bytes);
}

std::string source_line(std::size_t number, const base::ByteSource& source) {
  return fmt::format("source {} {} {} {}\n",
                     number,
                     as_field(source.url),
                     as_field(source.etag),
                     as_field(source.last_modified));
}

std::string range_lines(const std::vector<RangeSum>& ranges) {
  std::string text;
  for (const RangeSum& part : ranges)
    text += fmt::format(
        "bytes {} {} {} {:x}\n", part.range.begin, part.range.end, part.source, part.sum);
  return text;
}

std::string drop_line(base::ByteRange range) {
  return fmt::format("drop {} {}\n", range.begin, range.end);
}

std::string journal_text(const JournalContent& content) {
  std::string text = std::string(journal_first_line) + "\n";
  if (content.size_bytes) text += size_line(*content.size_bytes);
  for (std::size_t i = 0; i < content.sources.size(); ++i)
    text += source_line(i, content.sources[i]);
  return text + range_lines(content.ranges);
}

std::optional<JournalContent> parse_journal(std::string_view text) {
  JournalContent content;
  const auto take = [&content](std::string_view line) { return take_part_line(line, content); };
  return read_lines(text, journal_first_line, take) ? std::optional(std::move(content))
                                                    : std::nullopt;
}

std::optional<JournalContent> read_journal(const fs::path& path) {
  const auto text = base::read_file_if_exists(path, longest_journal_bytes);
  return text ? parse_journal(*text) : std::nullopt;
}

JournalContent only_intact(const fs::path& file, JournalContent content) {
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
