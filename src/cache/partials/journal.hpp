#pragma once

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
std::string drop_line(base::ByteRange range);
std::string journal_text(const JournalContent& content);

/// Ignores a torn last line. Leaves out ranges that were dropped later; a range that was written
/// again is there twice. Returns nothing for text of another version or damaged elsewhere.
std::optional<JournalContent> parse_journal(std::string_view text);
/// As `parse_journal`; nothing, too, for a missing file. Throws Error{storage} for an unreadable
/// file, whose content is unknown.
std::optional<JournalContent> read_journal(const std::filesystem::path& path);

/// Keeps the ranges whose checksum `file` still has, sorted and without overlaps. Reads with one
/// thread per core and leaves out unreadable parts. Throws Error{storage} where the file or all of
/// its parts are unreadable: then its content is unknown.
JournalContent only_intact(const std::filesystem::path& file, JournalContent content);

}  // namespace sabath::cache
