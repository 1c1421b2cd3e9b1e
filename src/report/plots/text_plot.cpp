#include "value_range.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/shown_numbers.hpp>
#include <sabath/report/text_plot.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace sabath::report {
namespace {

/// Ignores case and dashes: "UTF-8" equals "utf8".
bool names_utf8(std::string_view locale) {
  std::string plain = base::lower_case(locale);
  std::erase(plain, '-');
  return plain.find("utf8") != std::string::npos;
}

/// Means of the values in each column; NaN without values.
std::vector<double> columns_of(const std::vector<Bucket>& buckets, std::size_t columns) {
  const ValueRange places{buckets.front().x, buckets.back().x};
  // Fewer places than columns are not drawn apart.
  columns = std::min(columns, buckets.size());
  std::vector<double> sums(columns, 0);
  std::vector<double> counts(columns, 0);
  for (const Bucket& bucket : buckets) {
    if (bucket.finite == 0) continue;
    const std::size_t column = places.level(bucket.x, columns);
    const auto weight = static_cast<double>(bucket.finite);
    sums[column] += weight / (counts[column] + weight) * (bucket.mean - sums[column]);
    counts[column] += weight;
  }
  for (std::size_t i = 0; i < columns; ++i) {
    if (counts[i] == 0) sums[i] = std::numeric_limits<double>::quiet_NaN();
  }
  return sums;
}

}  // namespace

PlotLetters letters_of_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody sets it
    if (value != nullptr && *value != '\0')
      return names_utf8(value) ? PlotLetters::blocks : PlotLetters::ascii;
  }
  return PlotLetters::ascii;
}

std::string sparkline(const Course& course, std::size_t columns, PlotLetters letters) {
  constexpr std::array<std::string_view, 8> blocks{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  constexpr std::array<std::string_view, 8> ascii{"_", ".", "-", "~", "=", "+", "*", "#"};
  if (course.buckets().size() < 2 || columns == 0) return {};
  const std::vector<double> values = columns_of(course.buckets(), columns);
  ValueRange extremes;
  for (const double value : values) {
    if (std::isfinite(value)) extremes.take(value);
  }
  std::string text;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      text += ' ';
      continue;
    }
    const std::size_t level =
        extremes.high > extremes.low ? extremes.level(value, blocks.size()) : blocks.size() / 2;
    text += letters == PlotLetters::blocks ? blocks[level] : ascii[level];
  }
  return text;
}

std::string difference_text(std::span<const DifferenceCourse> courses, PlotLetters letters) {
  constexpr std::size_t most = 10;
  constexpr std::size_t columns = 40;
  base::TextTable table({"relative difference", "over steps", ">least", ">greatest"});
  for (std::size_t i = 0; i < std::min(courses.size(), most); ++i) {
    ValueRange extremes;
    for (const Bucket& bucket : courses[i].course.buckets()) {
      if (bucket.finite == 0) continue;
      extremes.take(bucket.low);
      extremes.take(bucket.high);
    }
    table.add({courses[i].metric,
               sparkline(courses[i].course, columns, letters),
               fmt::format("{:.1e}", std::pow(10, extremes.low)),
               fmt::format("{:.1e}", std::pow(10, extremes.high))});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string block_plot(std::span<const Spread> spread,
                       const std::string& axis,
                       std::size_t columns,
                       std::size_t rows) {
  if (spread.size() < 2 || rows == 0) return {};
  ValueRange extremes;
  for (const Spread& one : spread) {
    extremes.take(one.lowest);
    extremes.take(one.highest);
  }
  const std::string high = number_text(extremes.high);
  const std::string low = number_text(extremes.low);
  const std::size_t margin = std::max(high.size(), low.size());
  columns = std::max<std::size_t>(columns, margin + 12) - margin - 2;
  std::vector<std::string> grid(rows, std::string(columns, ' '));
  const ValueRange places{spread.front().x, spread.back().x};
  const auto row_of = [&](double value) {
    return extremes.high > extremes.low ? extremes.level(value, rows) : rows / 2;
  };
  const auto draw = [&](const Spread& one, double from, double to, char letter) {
    const std::size_t column = places.level(one.x, columns);
    for (std::size_t row = row_of(from); row <= row_of(to); ++row)
      grid[rows - 1 - row][column] = letter;
  };
  for (const Spread& one : spread)
    draw(one, one.lowest, one.highest, ':');
  for (const Spread& one : spread)
    draw(one, one.middle, one.middle, '*');
  std::string text;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::string& label = row == 0 ? high : row + 1 == rows ? low : std::string();
    std::string line = fmt::format("{:>{}} |{}", label, margin, grid[row]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  const std::string begin = number_text(places.low);
  const std::string end = number_text(places.high) + " " + axis;
  const std::size_t between =
      columns > begin.size() + end.size() ? columns - begin.size() - end.size() : 1;
  return text + std::string(margin + 2, ' ') + begin + std::string(between, ' ') + end + "\n";
}

}  // namespace sabath::report
