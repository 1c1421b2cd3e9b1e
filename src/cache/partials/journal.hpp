#pragma once

#include "journal_file.hpp"
#include "objects/run_sums.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// Parts of a file as journal text (docs/formats/cache.md): the journal of a partial object, and the
// checksums that are kept of a published one.
namespace sabath::cache {

struct JournalContent {
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::ByteSource> sources{};
  std::vector<RangeSum> ranges{};

  std::uint64_t range_bytes() const;
  bool operator==(const JournalContent&) const = default;
};

std::string size_line(std::uint64_t size_bytes);
std::string source_line(std::size_t number, const base::ByteSource& source);
std::string range_lines(const std::vector<RangeSum>& ranges);
std::string journal_text(const JournalContent& content);

/// Ignores a torn last line. Leaves out ranges that were dropped later; a range that was written
/// again is there twice. Returns nothing for text of another version or damaged elsewhere.
std::optional<JournalContent> parse_journal(std::string_view text);
/// As `parse_journal`; nothing, too, for a missing file. Throws Error{storage} for an unreadable
/// file, whose content is unknown.
std::optional<JournalContent> read_journal(const base::Beneath& beneath,
                                           const std::filesystem::path& path);

/// Keeps the ranges whose checksum the open `file` still has, sorted and without overlaps. Reads
/// with one thread per core and leaves out unreadable parts. Throws Error{storage} where all of its
/// parts are unreadable: then its content is unknown.
JournalContent only_intact(int fd, const std::filesystem::path& file, JournalContent content);

/// Returns the piece size of a partial object: a power of two from 1 to 64 MiB, so that there are
/// at most 2048 pieces where possible. Without a size: 1 MiB.
std::uint64_t piece_bytes_of(std::optional<std::uint64_t> size_bytes);

/// The journal of a partial object: its size, its sources and the checksum of each part. A fact is
/// on disk at once. Every member that changes something throws Error{storage}.
class PartJournal {
 public:
  /// Replaces the file by one with this content.
  PartJournal(const base::Beneath& beneath,
              const std::filesystem::path& path,
              const JournalContent& adopted);

  const std::optional<std::uint64_t>& size_bytes() const noexcept { return size_bytes_; }
  const std::vector<base::ByteSource>& sources() const noexcept { return sources_; }
  std::uint64_t piece_bytes() const { return piece_bytes_of(size_bytes_); }
  JournalContent content() const { return {size_bytes_, sources_, sums_.finished()}; }

  void set_size(std::uint64_t size_bytes);
  void add_source(const base::ByteSource& source);
  /// Sums bytes that are now in the file. No byte may be in a part already. `ends`: nothing will
  /// continue this part.
  void add(std::uint64_t offset_bytes, base::ByteView bytes, unsigned source, bool ends);
  /// Forgets every part that has a byte of the range.
  void forget(base::ByteRange range);
  /// Forgets size and parts; keeps the sources and their numbers, unless `forgets_sources`.
  void clear(bool forgets_sources);
  /// Sums all of `present` that has no checksum yet. Reads what did not arrive in order.
  void sum_rest(int fd,
                const std::filesystem::path& path,
                const std::vector<base::SourcedRange>& present);
  /// Reserves space for the lines of a file of this size.
  void make_room(std::uint64_t size_bytes) const noexcept;

 private:
  JournalFile file_;
  std::optional<std::uint64_t> size_bytes_;
  std::vector<base::ByteSource> sources_;
  RunSums sums_{};
};

}  // namespace sabath::cache
