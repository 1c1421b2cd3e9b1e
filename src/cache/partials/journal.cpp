#include "journal.hpp"

#include "objects/read_range.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <mutex>
#include <utility>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view journal_first_line = "sabath journal 1";
constexpr std::uint64_t longest_journal_bytes = 1U << 30U;
constexpr std::size_t most_sources = 100'000;

constexpr std::uint64_t smallest_piece = 1U << 20U;
constexpr std::uint64_t largest_piece = 64U << 20U;
constexpr std::uint64_t most_pieces = 2048;
constexpr std::uint64_t journal_line_bytes = 72;

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

std::optional<JournalContent> read_journal(const base::Beneath& beneath, const fs::path& path) {
  const auto content = beneath.read_if_exists(path, longest_journal_bytes);
  return content ? parse_journal(content->text) : std::nullopt;
}

JournalContent only_intact(int fd, const fs::path& file, JournalContent content) {
  const std::vector<RangeSum> claimed = std::exchange(content.ranges, {});
  const std::vector<char> intact = check_all(fd, file, claimed);
  for (std::size_t i = 0; i < claimed.size(); ++i) {
    if (intact[i] != 0) content.ranges.push_back(claimed[i]);
  }
  std::ranges::stable_sort(
      content.ranges, {}, [](const RangeSum& part) { return part.range.begin; });
  std::uint64_t end = 0;
  std::erase_if(content.ranges, [&end](const RangeSum& part) {
    const bool overlaps = part.range.begin < end;
    if (!overlaps) end = part.range.end;
    return overlaps;
  });
  return content;
}

std::uint64_t piece_bytes_of(std::optional<std::uint64_t> size_bytes) {
  if (!size_bytes) return smallest_piece;
  const std::uint64_t least = (*size_bytes + most_pieces - 1) / most_pieces;
  return std::clamp(std::bit_ceil(least), smallest_piece, largest_piece);
}

PartJournal::PartJournal(const base::Beneath& beneath,
                         const std::filesystem::path& path,
                         const JournalContent& adopted)
    : file_(beneath, path, journal_text(adopted)),
      size_bytes_(adopted.size_bytes),
      sources_(adopted.sources) {
  for (const RangeSum& part : adopted.ranges)
    sums_.add_finished(part);
}

void PartJournal::set_size(std::uint64_t size_bytes) {
  if (size_bytes_ == size_bytes) return;
  size_bytes_ = size_bytes;
  std::vector<RangeSum> finished;
  sums_.close_at(size_bytes, finished);
  file_.append(size_line(size_bytes) + range_lines(finished));
}

void PartJournal::add_source(const base::ByteSource& source) {
  file_.append(source_line(sources_.size(), source));
  sources_.push_back(source);
}

void PartJournal::add(std::uint64_t offset_bytes,
                      base::ByteView bytes,
                      unsigned source,
                      bool ends) {
  std::vector<RangeSum> finished;
  sums_.add(offset_bytes, bytes, source, piece_bytes(), finished);
  if (ends) sums_.close_at(offset_bytes + bytes.size(), finished);
  file_.append(range_lines(finished));
}

void PartJournal::forget(base::ByteRange range) {
  file_.append(fmt::format("drop {} {}\n", range.begin, range.end));
  sums_.forget(range);
}

void PartJournal::clear(bool forgets_sources) {
  if (forgets_sources) sources_.clear();
  file_.replace(journal_text({std::nullopt, sources_, {}}));
  sums_ = {};
  size_bytes_.reset();
}

void PartJournal::sum_rest(int fd,
                           const std::filesystem::path& path,
                           const std::vector<base::SourcedRange>& present) {
  std::vector<RangeSum> finished;
  sums_.close_all(finished);
  std::vector<std::byte> buffer;
  for (const auto& [range, source] : sums_.lacking(present, piece_bytes())) {
    Summer summer;
    read_range(fd, path, range, buffer, [&summer](base::ByteView bytes) { summer.update(bytes); });
    finished.push_back({range, source, summer.sum()});
    sums_.add_finished(finished.back());
  }
  file_.append(range_lines(finished));
}

void PartJournal::make_room(std::uint64_t size_bytes) const noexcept {
  const std::uint64_t pieces = size_bytes / piece_bytes();
  if (pieces > 0) file_.make_room((pieces + 64) * journal_line_bytes);
}

}  // namespace sabath::cache
