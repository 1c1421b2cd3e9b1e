#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
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

/// Text without upper case and dashes: "UTF-8" and "utf8" are one.
bool names_utf8(std::string_view locale) {
  std::string plain;
  for (const char c : locale) {
    if (c != '-') plain += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return plain.find("utf8") != std::string::npos;
}

struct PlotRange {
  double low = HUGE_VAL;
  double high = -HUGE_VAL;

  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
  /// 0 to `levels` - 1; the middle where all is one value.
  std::size_t level(double value, std::size_t levels) const {
    if (!(high > low)) return levels / 2;
    const double share = (value / 2 - low / 2) / (high / 2 - low / 2);
    return std::min(static_cast<std::size_t>(share * static_cast<double>(levels)), levels - 1);
  }
};

/// The mean of each column's share of an axis; NaN where nothing is.
std::vector<double> columns_of(const std::vector<Bucket>& buckets, std::size_t columns) {
  const double first = buckets.front().x;
  const double last = buckets.back().x;
  // Fewer places than columns are not drawn apart.
  columns = std::min(columns, buckets.size());
  std::vector<double> sums(columns, 0);
  std::vector<double> counts(columns, 0);
  for (const Bucket& bucket : buckets) {
    if (bucket.finite == 0) continue;
    const double share = (bucket.x / 2 - first / 2) / (last / 2 - first / 2);
    const auto column =
        std::min(static_cast<std::size_t>(share * static_cast<double>(columns)), columns - 1);
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
  PlotRange extremes;
  for (const double value : values) {
    if (std::isfinite(value)) extremes.take(value);
  }
  std::string text;
  for (const double value : values) {
    if (!std::isfinite(value)) {
      text += ' ';
      continue;
    }
    const std::size_t level = extremes.level(value, blocks.size());
    text += letters == PlotLetters::blocks ? blocks[level] : ascii[level];
  }
  return text;
}

std::string difference_text(std::span<const DifferenceCourse> courses, PlotLetters letters) {
  constexpr std::size_t most = 10;
  constexpr std::size_t columns = 40;
  base::TextTable table({{"relative difference"},
                         {"over steps"},
                         {"least", base::Align::right},
                         {"greatest", base::Align::right}});
  for (std::size_t i = 0; i < std::min(courses.size(), most); ++i) {
    PlotRange extremes;
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
  PlotRange extremes;
  for (const Spread& one : spread) {
    extremes.take(one.lowest);
    extremes.take(one.highest);
  }
  const std::string high = number_text(extremes.high);
  const std::string low = number_text(extremes.low);
  const std::size_t margin = std::max(high.size(), low.size());
  columns = std::max<std::size_t>(columns, margin + 12) - margin - 2;
  std::vector<std::string> grid(rows, std::string(columns, ' '));
  const double first = spread.front().x;
  const double last = spread.back().x;
  const auto draw = [&](const Spread& one, double from, double to, char letter) {
    const double share = (one.x / 2 - first / 2) / (last / 2 - first / 2);
    const auto column =
        std::min(static_cast<std::size_t>(share * static_cast<double>(columns)), columns - 1);
    for (std::size_t row = extremes.level(from, rows); row <= extremes.level(to, rows); ++row)
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
  const std::string begin = number_text(first);
  const std::string end = number_text(last) + " " + axis;
  const std::size_t between =
      columns > begin.size() + end.size() ? columns - begin.size() - end.size() : 1;
  return text + std::string(margin + 2, ' ') + begin + std::string(between, ' ') + end + "\n";
}

}  // namespace sabath::report
