#include "journal.hpp"

#include "journal_fields.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <utility>

#include <fcntl.h>
#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view first_line = "sabath journal 1";
constexpr std::uint64_t longest_journal_bytes = 1U << 30U;
constexpr std::uint64_t line_bytes = 72;
constexpr std::size_t most_sources = 100'000;

std::string line_of(const RangeSum& part) {
  std::array<char, 16> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), part.sum, 16).ptr;
  return "bytes " + std::to_string(part.range.begin) + " " + std::to_string(part.range.end) + " " +
         std::to_string(part.source) + " " + std::string(digits.data(), end) + "\n";
}

std::string size_line(std::uint64_t size_bytes) {
  return "size " + std::to_string(size_bytes) + "\n";
}

std::string source_line(std::size_t number, const base::ByteSource& source) {
  return "source " + std::to_string(number) + " " + as_field(source.url) + " " +
         as_field(source.etag) + " " + as_field(source.last_modified) + "\n";
}

bool read_range_fields(std::string_view& line, base::ByteRange& range) {
  return read_number(line, range.begin) && read_number(line, range.end) && range.begin < range.end;
}

bool take_line(std::string_view line, JournalContent& content) {
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

}  // namespace

std::uint64_t JournalContent::range_bytes() const {
  std::uint64_t bytes = 0;
  for (const RangeSum& part : ranges)
    bytes += part.range.size();
  return bytes;
}

std::string journal_text(const JournalContent& content) {
  std::string text = std::string(first_line) + "\n";
  if (content.size_bytes) text += size_line(*content.size_bytes);
  for (std::size_t i = 0; i < content.sources.size(); ++i)
    text += source_line(i, content.sources[i]);
  for (const RangeSum& part : content.ranges)
    text += line_of(part);
  return text;
}

std::optional<JournalContent> parse_journal(std::string_view text) {
  JournalContent content;
  bool is_first = true;
  for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
    const auto line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (is_first ? line != first_line : !take_line(line, content)) return std::nullopt;
    is_first = false;
  }
  if (is_first) return std::nullopt;
  return content;
}

std::optional<JournalContent> read_journal(const fs::path& path) {
  const auto text = base::read_file_if_exists(path, longest_journal_bytes);
  return text ? parse_journal(*text) : std::nullopt;
}

Journal::Journal(const base::Beneath& beneath, fs::path path, const JournalContent& content)
    : path_(std::move(path)) {
  beneath.write_atomically(path_, journal_text(content), base::Durability::ordered_only, 0600);
  fd_ = beneath.open_file(path_, O_WRONLY | O_APPEND);
  if (!fd_) base::throw_errno(path_.string(), "cannot write", errno);
}

void Journal::note_size(std::uint64_t size_bytes) {
  append(size_line(size_bytes));
}

void Journal::note_source(std::size_t number, const base::ByteSource& source) {
  append(source_line(number, source));
}

void Journal::note(const std::vector<RangeSum>& ranges) {
  std::string text;
  for (const RangeSum& part : ranges)
    text += line_of(part);
  append(text);
}

void Journal::note_drop(base::ByteRange range) {
  append("drop " + std::to_string(range.begin) + " " + std::to_string(range.end) + "\n");
}

void Journal::clear() {
  if (::ftruncate(fd_.get(), 0) != 0) base::throw_errno(path_.string(), "cannot shorten", errno);
  append(std::string(first_line) + "\n");
}

void Journal::make_room(std::uint64_t lines) const noexcept {
  ::fallocate(fd_.get(), FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(lines * line_bytes));
}

void Journal::append(const std::string& text) {
  append_lines(fd_.get(), text, path_);
}

}  // namespace sabath::cache
