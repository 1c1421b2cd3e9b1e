#include "part_journal.hpp"

#include "objects/read_range.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace sabath::cache {
namespace {

constexpr std::uint64_t smallest_piece = 1U << 20U;
constexpr std::uint64_t largest_piece = 64U << 20U;
constexpr std::uint64_t most_pieces = 2048;
constexpr std::uint64_t journal_line_bytes = 72;

}  // namespace

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
  file_.append(drop_line(range));
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
