#include "comparison_parts.hpp"

#include "escape.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/facet.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

constexpr std::size_t most_words = 30;  ///< of an environment, a line each
constexpr std::size_t most_files = 20;
constexpr std::size_t most_diff_lines = 60;  ///< of all files

std::string environment_text(const spec::Comparison& comparison) {
  std::string text;
  const std::size_t all = comparison.environment.size();
  for (std::size_t i = 0; i < std::min(all, most_words); ++i)
    text += "  " + base::printable(comparison.environment[i]) + "\n";
  if (all > most_words)
    text += fmt::format("  ... and {} more (--json has them all)\n", all - most_words);
  return text.empty() ? text : "environment, from A to B:\n" + text + "\n";
}

/// Lines of the diff, indented, as many as `room` permits.
std::string diff_text(const std::string& diff, std::size_t& room) {
  std::string text;
  const std::vector<std::string> lines = base::text_lines(diff);
  const std::size_t shown = std::min(lines.size(), room);
  for (std::size_t i = 0; i < shown; ++i)
    text += "    " + base::printable(lines[i]) + "\n";
  if (shown < lines.size())
    text += fmt::format("    ... and {} more lines (--json has them)\n", lines.size() - shown);
  room -= shown;
  return text;
}

std::string code_text(const spec::Comparison& comparison) {
  std::string text;
  std::size_t room = most_diff_lines;
  for (std::size_t i = 0; i < std::min(comparison.code.size(), most_files); ++i) {
    const spec::CodeDifference& file = comparison.code[i];
    text += "  " + base::printable(code_title(file)) + "\n";
    if (room > 0) text += diff_text(file.diff, room);
  }
  if (comparison.code.size() > most_files) {
    text += fmt::format("  ... and {} more files (--json has them)\n",
                        comparison.code.size() - most_files);
  }
  if (!comparison.code_note.empty())
    text += "  note: " + base::printable(comparison.code_note) + "\n";
  return text.empty() ? text : "code, from A to B:\n" + text + "\n";
}

std::string variation_text(const std::optional<double>& cv) {
  return cv && std::isfinite(*cv) ? fmt::format("{:.1f} %", 100 * *cv) : "-";
}

std::string verdict_text(const spec::PerformanceRow& row) {
  if (row.verdict) return std::string(spec::to_string(*row.verdict));
  return row.reason.empty() ? "not judged" : "not judged: " + row.reason;
}

}  // namespace

bool is_shown_in_words(const spec::Comparison& comparison,
                       const spec::FacetDifference& difference) {
  if (difference.facet == "environment") return !comparison.environment.empty();
  // Files that lie elsewhere are not among those of the recipe's folder.
  const bool is_file =
      spec::is_external_code(difference.item) || difference.item.starts_with("file ");
  const bool is_code = (difference.facet == "code" && !is_file) ||
                       (difference.facet == "recipe" && difference.item == "definition");
  return is_code && !comparison.code.empty();
}

std::string code_title(const spec::CodeDifference& difference) {
  std::string text = difference.path + ": " + difference.change;
  const auto add = [&](std::uint64_t lines, const char* what) {
    if (lines > 0) text += ", " + base::counted(lines, "line") + " " + what;
  };
  add(difference.added, "added");
  add(difference.removed, "removed");
  return difference.note.empty() ? text : text + " (" + difference.note + ")";
}

std::string changes_text(const spec::Comparison& comparison) {
  return environment_text(comparison) + code_text(comparison);
}

std::string performance_table(const std::vector<spec::PerformanceRow>& rows) {
  base::TextTable table({"performance", ">A", ">B", ">ratio", "interval", "CV", "n", "verdict"});
  for (const spec::PerformanceRow& row : rows) {
    table.add(
        {row.name + (row.unit.empty() ? "" : " [" + row.unit + "]"),
         row.n_a > 0 ? interval_text(row.median_a, row.median_a_low, row.median_a_high) : "-",
         row.n_b > 0 ? interval_text(row.median_b, row.median_b_low, row.median_b_high) : "-",
         row.ratio ? fmt::format("{:.3g}", *row.ratio) : "-",
         row.ratio_low ? fmt::format("[{:.3g}, {:.3g}]", *row.ratio_low, *row.ratio_high) : "-",
         variation_text(row.cv_a) + ", " + variation_text(row.cv_b),
         fmt::format("{}, {}", row.n_a, row.n_b),
         verdict_text(row)});
  }
  return table.text() +
         "Median [95 % interval, from 6 values]; a ratio above 1 means that B is worse.\n";
}

}  // namespace sabath::report
