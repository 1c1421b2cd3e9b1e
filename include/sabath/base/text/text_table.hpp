#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::base {

enum class Align { left, right };

/// A plain table for a terminal: columns by content, two blanks between, no ruling. Width counts
/// code points.
class TextTable {
 public:
  struct Column {
    /// ">size": aligned to the right, with the title "size".
    Column(const char* column);
    Column(std::string column, Align alignment = Align::left)
        : title(std::move(column)), align(alignment) {}

    std::string title{};
    Align align = Align::left;
  };
  explicit TextTable(std::vector<Column> columns);
  /// Takes at most one cell per column; with fewer cells the last one extends over the missing
  /// columns. The caller makes text from outside safe with `printable`.
  void add(std::vector<std::string> cells);
  bool empty() const noexcept { return rows_.empty(); }
  /// Lines ended by '\n', without trailing blanks; only the header if the table is empty.
  std::string text() const;

 private:
  bool runs_on(const std::vector<std::string>& row, std::size_t cell) const;

  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Number of code points of UTF-8.
std::size_t code_points(std::string_view text);

/// Makes text from outside safe to display: control characters and invalid UTF-8 become \xNN ('\t'
/// and '\n' too unless `keep_newlines`), bidirectional marks and invisible characters \u{NNNN}.
std::string printable(std::string_view text, bool keep_newlines = false);

/// The text as one word of bash and of a POSIX 2024 shell ("$'two\nlines'"), without characters
/// that `printable` escapes.
std::string printable_word(std::string_view text);

/// JSON text with the same meaning that is safe to show: control characters, bidirectional marks
/// and invisible characters become \uXXXX. Newlines and tabs between values stay. An invalid byte
/// becomes U+FFFD.
std::string printable_json(std::string_view json);

/// "1 run", "5 runs", of the noun "run".
std::string counted(std::uint64_t count, std::string_view noun);

/// "1.5 GiB", "312 B".
std::string format_bytes(std::uint64_t size_bytes);
/// The nearest of `candidates` within a small edit distance ("did you mean"), or empty.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);
/// The hint "did you mean 'NEAREST'?", or `otherwise` if no candidate is near.
std::string did_you_mean(std::string_view word,
                         const std::vector<std::string>& candidates,
                         const std::string& otherwise = {});

}  // namespace sabath::base
