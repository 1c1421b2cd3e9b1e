#pragma once

#include "objects/range_sum.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What is known of a file's parts, as text that grows (docs/formats/cache.md): the journal of a
// staged file, and the sums that are kept of a published one.
namespace sabath::cache {

struct JournalContent {
  std::optional<std::uint64_t> size_bytes{};
  std::vector<base::ByteSource> sources{};
  std::vector<RangeSum> ranges{};

  std::uint64_t range_bytes() const;
  bool operator==(const JournalContent&) const = default;
};

std::string journal_text(const JournalContent& content);
/// Ignores a last line that is torn; nothing when the text is of another version or damaged
/// elsewhere. Ranges that were dropped later are left out; a range that was written again is there
/// twice.
std::optional<JournalContent> parse_journal(std::string_view text);
/// The same of a file; nothing, too, when there is none. Throws Error{storage} when it cannot be
/// read: that says nothing of what is there.
std::optional<JournalContent> read_journal(const std::filesystem::path& path);

/// The journal that is being written: a line is one write, so that a process that is killed leaves
/// at most one that is torn. Throws Error{storage}.
class Journal {
 public:
  /// Replaces the file by one with this content.
  Journal(const base::Beneath& beneath, std::filesystem::path path, const JournalContent& content);

  void note_size(std::uint64_t size_bytes);
  void note_source(std::size_t number, const base::ByteSource& source);
  void note(const std::vector<RangeSum>& ranges);
  void note_drop(base::ByteRange range);
  /// Forgets everything.
  void clear();
  /// Makes room for so many lines, as far as the file system does such things.
  void make_room(std::uint64_t lines) const noexcept;

 private:
  void append(const std::string& text);

  std::filesystem::path path_;
  base::UniqueFd fd_;
};

}  // namespace sabath::cache
