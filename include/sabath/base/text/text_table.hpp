#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {

enum class Align { left, right };

/// A plain table for a terminal: columns by content, two blanks between, no ruling. Width counts
/// code points.
class TextTable {
 public:
  struct Column {
    std::string title{};
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);
  /// At most as many cells as columns, of fewer the last one runs on over the columns that are
  /// missing; text from outside is made safe with `printable`.
  void add(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Lines ended by '\n', without trailing blanks; just the header when there are no rows.
  std::string text() const;

 private:
  bool runs_on(const std::vector<std::string>& row, std::size_t cell) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Text from outside made safe to show: control characters and invalid UTF-8 become \xNN ('\t' and
/// '\n' too unless `keep_newlines`), bidirectional marks and invisible characters \u{NNNN}.
std::string printable(std::string_view text, bool keep_newlines = false);

/// "$'two\nlines'": the text as one word of bash and of a POSIX 2024 shell, without characters that
/// `printable` would escape.
std::string printable_word(std::string_view text);

/// "1.5 GiB", "312 B".
std::string format_bytes(std::uint64_t size_bytes);
/// The nearest of `candidates` within a small edit distance ("did you mean"), or empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace sabath::base
