#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace sabath::base {
namespace {

void append_cell(std::string& line, const std::string& cell, std::size_t width, Align align) {
  const std::string blanks(width - code_points(cell), ' ');
  line += align == Align::right ? blanks + cell : cell + blanks;
}

/// Letters added, removed, replaced, or exchanged with their neighbour.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1);
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(last, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replaced, row[j - 1] + 1, last[j] + 1});
      const bool is_exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (is_exchanged) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row.back();
}

bool has_same_letters(std::string_view a, std::string_view b) {
  return a.size() == b.size() && std::is_permutation(a.begin(), a.end(), b.begin());
}

/// Up to a third of the word may be wrong; one letter of a short word, or a short ending.
std::size_t allowed_distance(std::string_view word, std::string_view candidate) {
  if (std::min(word.size(), candidate.size()) < 2) return 0;
  const bool is_longer = word.starts_with(candidate) || candidate.starts_with(word);
  return std::max<std::size_t>(is_longer ? 2 : 1, word.size() / 3);
}

}  // namespace

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

TextTable::Column::Column(const char* column)
    : title(*column == '>' ? column + 1 : column),
      align(*column == '>' ? Align::right : Align::left) {}

TextTable::TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

void TextTable::add(std::vector<std::string> cells) {
  for (std::string& cell : cells)
    cell = printable(cell);
  rows_.push_back(std::move(cells));
}

bool TextTable::runs_on(const std::vector<std::string>& row, std::size_t cell) const {
  return row.size() < columns_.size() && cell + 1 == row.size();
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const Column& column : columns_)
    widths.push_back(code_points(column.title));
  for (const auto& row : rows_) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (!runs_on(row, i)) widths[i] = std::max(widths[i], code_points(row[i]));
    }
  }
  std::string text;
  const auto append_row = [&](const std::vector<std::string>& row) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0) line += "  ";
      if (runs_on(row, i)) {
        line += row[i];
      } else {
        append_cell(line, row[i], widths[i], columns_[i].align);
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  std::vector<std::string> titles;
  for (const Column& column : columns_)
    titles.push_back(column.title);
  append_row(titles);
  for (const auto& row : rows_)
    append_row(row);
  return text;
}

std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string format_bytes(std::uint64_t size_bytes) {
  constexpr std::array<std::string_view, 6> units{"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (size_bytes < 1024) return fmt::format("{} B", size_bytes);
  double value = static_cast<double>(size_bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1023.95 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, units[unit]);
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::pair<std::size_t, bool> best_rank;  // a slip of the fingers goes before a missing letter
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    const std::pair rank(distance, !has_same_letters(word, candidate));
    if (distance > allowed_distance(word, candidate) || (!best.empty() && rank >= best_rank))
      continue;
    best = candidate;
    best_rank = rank;
  }
  return best;
}

std::string did_you_mean(std::string_view word,
                         const std::vector<std::string>& candidates,
                         const std::string& otherwise) {
  const std::string guess = nearest(word, candidates);
  return guess.empty() ? otherwise : "did you mean '" + guess + "'?";
}

}  // namespace sabath::base
