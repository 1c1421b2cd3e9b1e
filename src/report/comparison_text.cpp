#include "comparison_parts.hpp"
#include "plots/labelled_lines.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/session_variables.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace sabath::report {
namespace {

using base::TextTable;
using spec::Comparison;
using spec::ItemComparison;
using spec::Rung;

constexpr std::size_t longest_value = 44;

std::string shortened(const std::string& text, const char* if_empty) {
  if (text.empty()) return if_empty;
  if (text.size() <= longest_value) return text;
  std::size_t end = longest_value - 3;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)
    --end;  // not within a character of several bytes
  return text.substr(0, end) + "...";
}

std::string differing_facets(const Comparison& comparison) {
  std::string text;
  std::string last;
  for (const spec::FacetDifference& difference : comparison.differences) {
    if (difference.facet == last) continue;
    last = difference.facet;
    text += (text.empty() ? "" : ", ") + last;
  }
  return text;
}

std::string_view explain(const Comparison& comparison) {
  switch (comparison.repetition) {
    case spec::Repetition::repeat:
      return comparison.differences.empty() ? "nothing differs"
                                            : "nothing differs but what the code may not use";
    case spec::Repetition::resample:
      return "only the seed differs";
    case spec::Repetition::reproduce:
      return "same code and environment on another host, launch or session";
    case spec::Repetition::revise:
      return "the code differs";
    case spec::Repetition::replicate:
      return std::ranges::any_of(comparison.differences,
                                 [](const auto& one) { return one.facet == "code"; })
                 ? "other code, executed otherwise"
                 : "the same experiment, executed otherwise";
    case spec::Repetition::different:
      return "they are not runs of the same thing";
  }
  return "";
}

std::string holds(const ItemComparison& item, Rung rung) {
  return item.strongest && *item.strongest >= rung ? "yes" : "no";
}

std::string tolerance_text(const spec::Tolerance& tolerance) {
  std::string text;
  if (tolerance.relative.value_or(0) > 0) text = fmt::format("rel {:g}", *tolerance.relative);
  if (tolerance.absolute.value_or(0) > 0) {
    text += fmt::format("{}abs {:g}", text.empty() ? "" : " ", *tolerance.absolute);
  }
  return text.empty() ? "exact" : text;
}

std::string relative_text(double relative) {
  if (!std::isfinite(relative)) return "-";
  return relative == 0 ? "0" : fmt::format("{:.1e}", relative);
}

void add_item(TextTable& table, const ItemComparison& item, bool with_nan) {
  if (!item.structure.empty()) {
    table.add({item.name, item.structure});
    return;
  }
  std::vector<std::string> cells{item.name,
                                 std::to_string(item.compared),
                                 std::to_string(item.different),
                                 std::to_string(item.missing)};
  if (with_nan) cells.push_back(std::to_string(item.nan_pairs));
  cells.insert(cells.end(),
               {ulps_text(item.max_ulps, item.max_relative),
                ulps_text(item.p999_ulps, item.max_relative),
                relative_text(item.max_relative),
                item.first_bitwise ? item.first_bitwise->where : "",
                holds(item, Rung::bitwise),
                holds(item, Rung::ulp),
                holds(item, Rung::tolerance) + " (" + tolerance_text(item.tolerance) + ")"});
  if (item.within_envelope)
    cells.back() += *item.within_envelope ? ", envelope yes" : ", envelope no";
  table.add(std::move(cells));
}

/// The column of NaN exists where a row has one.
TextTable items_table(bool with_nan) {
  std::vector<TextTable::Column> columns{"differs", ">values", ">differ", ">missing"};
  if (with_nan) columns.push_back(">both NaN");
  columns.insert(
      columns.end(),
      {">max ULP", ">99.9 % ULP", ">max rel", "first at", "bitwise", "ULP", "tolerance"});
  return TextTable(std::move(columns));
}

bool is_equal_to_the_bit(const ItemComparison& item) {
  return item.structure.empty() && item.strongest == Rung::bitwise;
}

std::string equal_items_text(std::size_t items, bool is_all) {
  if (items == 1) return is_all ? "the one metric or output" : "1 metric or output";
  return fmt::format("{}{} metrics and outputs", is_all ? "all " : "", items);
}

/// "21 values, 1 file".
std::string equal_values_text(std::uint64_t values, std::uint64_t files) {
  if (files == 0) return base::counted(values, "value");
  return (values == 0 ? "" : base::counted(values, "value") + ", ") + base::counted(files, "file");
}

/// An output may be a folder of a thousand files.
constexpr std::size_t most_items = 100;

/// Differences have a row each; equal items are counted, as there may be hundreds.
std::string items_text(const Comparison& comparison) {
  std::vector<const ItemComparison*> differing;
  bool with_nan = false;
  std::size_t equal = 0;
  std::uint64_t equal_values = 0;
  std::uint64_t equal_files = 0;
  std::uint64_t equal_nans = 0;
  for (const auto* items : {&comparison.metrics, &comparison.outputs}) {
    for (const ItemComparison& item : *items) {
      if (!item.judged) continue;
      if (!is_equal_to_the_bit(item)) {
        differing.push_back(&item);
        with_nan = with_nan || (item.nan_pairs > 0 && item.structure.empty());
        continue;
      }
      ++equal;
      // Of an output with an equal digest no value was counted.
      const bool is_file = items == &comparison.outputs &&
                           item.name.find(":/") == std::string::npos &&
                           !item.name.starts_with('/') && item.compared == 1;
      equal_files += is_file ? 1 : 0;
      equal_values += is_file ? 0 : item.compared;
      equal_nans += item.nan_pairs;
    }
  }
  TextTable table = items_table(with_nan);
  const std::size_t shown = std::min(differing.size(), most_items);
  for (std::size_t i = 0; i < shown; ++i)
    add_item(table, *differing[i], with_nan);
  std::string text = table.empty() ? "" : table.text();
  if (differing.size() > shown)
    text +=
        fmt::format("... and {} more that differ; '--json' lists all\n", differing.size() - shown);
  if (equal > 0) {
    text += fmt::format("equal to the bit: {} ({}{})\n",
                        equal_items_text(equal, table.empty()),
                        equal_values_text(equal_values, equal_files),
                        equal_nans == 0 ? "" : fmt::format(", {} of them NaN", equal_nans));
  }
  return text.empty() ? text : text + "\n";
}

std::string divergence_text(const spec::Divergence& divergence) {
  const std::string distance =
      std::isfinite(divergence.relative)
          ? fmt::format("{} ULP, relative {:.1e}", divergence.ulps, divergence.relative)
          : "not finite";
  return fmt::format(
      "{}: {} and {} ({})", divergence.where, divergence.text_a(), divergence.text_b(), distance);
}

std::string growth_text(const ItemComparison& item) {
  constexpr std::array<std::string_view, 3> marks{"1e-6", "1e-4", "1e-2"};
  std::string text;
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const auto& crossing = item.growth[i];
    text += fmt::format("{}beyond {} {}",
                        text.empty() ? "" : ", ",
                        marks[i],
                        crossing ? "at " + crossing->where : std::string("never"));
    if (!crossing) break;
  }
  if (item.comes_back) text += "; equal again at the end";
  return text;
}

std::string differences_text(const Comparison& comparison) {
  TextTable table({"differs in", "A", "B"});
  for (const spec::FacetDifference& difference : comparison.differences) {
    if (is_shown_in_words(comparison, difference)) continue;
    // The file may be there all the same.
    const bool is_opened = difference.facet == spec::opened_facet;
    const char* const if_empty = is_opened ? "(not opened)" : "(absent)";
    table.add({difference.facet + ": " + difference.item,
               shortened(difference.a, if_empty),
               shortened(difference.b, if_empty)});
  }
  return (table.empty() ? "" : table.text() + "\n") + changes_text(comparison);
}

std::string explain_command(const Comparison& comparison) {
  std::string text = "sabath explain " + comparison.a + " " + comparison.b;
  if (comparison.required_from == "--require")
    text += " --require " + std::string(spec::to_string(comparison.required));
  return text;
}

std::string churn_text(const Comparison& comparison) {
  std::string text;
  for (const ItemComparison& item : comparison.outputs) {
    if (!item.churn) continue;
    text += fmt::format("churn of {}: {:.4g} % of {} predictions are others in B\n",
                        item.name,
                        100 * *item.churn,
                        *item.predictions);
  }
  return text.empty() ? text : text + "\n";
}

/// Aspects of files that a comparison of arrays ignores.
std::string left_out_text(const Comparison& comparison) {
  const auto is_array = [](const ItemComparison& item) {
    return item.name.starts_with('/') || item.name.find(":/") != std::string::npos;
  };
  const bool has_arrays = std::ranges::any_of(comparison.outputs, is_array);
  return has_arrays ? "layout, compression, byte order, padding of texts (docs/formats/arrays.md)"
                    : "";
}

}  // namespace

std::string files_text(const Comparison& comparison) {
  LabelledLines head(13);
  head.add("A", base::printable(comparison.a));
  head.add("B", base::printable(comparison.b));
  head.gap();
  LabelledLines foot(13);
  if (comparison.first_divergence) {
    foot.add(
        "diverges",
        comparison.first_divergence_in + " at " + divergence_text(*comparison.first_divergence));
  }
  foot.add("not compared", left_out_text(comparison));
  foot.add("RESULT", "{}: {}", spec::to_string(comparison.result), comparison.reason);
  return head.text() + items_text(comparison) + foot.text();
}

std::string comparison_text(const Comparison& comparison, const std::string& courses) {
  LabelledLines head(13);
  head.add("A", comparison.a);
  head.add("B", comparison.b);
  const std::string facets = differing_facets(comparison);
  head.add("kind",
           "{}: {}{}",
           spec::to_string(comparison.repetition),
           explain(comparison),
           facets.empty() ? "" : " (differs: " + facets + ")");
  head.gap();
  std::string text =
      head.text() + differences_text(comparison) + items_text(comparison) + churn_text(comparison) +
      courses +
      (comparison.performance.empty() ? "" : performance_table(comparison.performance) + "\n");
  LabelledLines foot(13);
  if (comparison.first_divergence) {
    foot.add(
        "diverges",
        comparison.first_divergence_in + " at " + divergence_text(*comparison.first_divergence));
    const auto same = [&](const ItemComparison& item) {
      return item.name == comparison.first_divergence_in;
    };
    const auto item = std::ranges::find_if(comparison.metrics, same);
    if (item != comparison.metrics.end()) foot.add("", growth_text(*item));
  }
  foot.add("cause", comparison.likely_cause);
  foot.add("not compared", left_out_text(comparison));
  if (!comparison.performance.empty()) {
    foot.add("PERFORMANCE",
             "{}: {}",
             spec::to_string(comparison.performance_verdict),
             comparison.performance_reason);
  }
  if (comparison.result == spec::Verdict::fail) foot.add_whole("why", explain_command(comparison));
  foot.add("RESULT", "{}: {}", spec::to_string(comparison.result), comparison.reason);
  return text + foot.text();
}

}  // namespace sabath::report
