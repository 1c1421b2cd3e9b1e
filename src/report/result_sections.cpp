#include "comparison_parts.hpp"
#include "document.hpp"
#include "escape.hpp"
#include "plots/axis.hpp"

#include <sabath/base/moments.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

/// All digits of the least or largest of a row, which is near to the double `end`; empty where that
/// is the number.
std::string digits_of(const Groups::Row& row, double end, bool is_largest) {
  std::vector<double> rests;
  for (std::size_t i = 0; i < row.whole.size(); ++i) {
    if (row.values[i] == end) rests.push_back(exact_at(row, i).rest);
  }
  if (rests.empty()) return {};
  const double rest = is_largest ? std::ranges::max(rests) : std::ranges::min(rests);
  return rest == 0 ? std::string() : base::text_of({end, rest});
}

/// `texts` are the median, the mean, the least and the largest. Of whole numbers that no double
/// holds the first two are rounded, unless all values are one.
void show_digits(const Groups::Row& row,
                 double median,
                 const base::Moments& moments,
                 std::vector<std::string>& texts) {
  const std::string least = digits_of(row, moments.min, false);
  const std::string most = digits_of(row, moments.max, true);
  if (least.empty() && most.empty()) return;
  if (!least.empty()) texts[2] = least;
  if (!most.empty()) texts[3] = most;
  const bool is_one = texts[2] == texts[3];
  texts[0] = is_one ? texts[2] : fmt::format("{:.6g}", median);
  texts[1] = is_one ? texts[2] : fmt::format("{:.6g}", moments.mean);
}

base::Moments moments_of(const Groups::Row& row) {
  std::vector<base::ExactNumber> numbers;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (row.values[i] && std::isfinite(*row.values[i])) numbers.push_back(exact_at(row, i));
  }
  return base::exact_moments(numbers);
}

Table spread_table(const Report& report, bool grouped) {
  const bool has_judge = std::ranges::any_of(
      report.metrics, [](const auto& metric) { return metric.judge.has_value(); });
  Table table{fmt::format("{} of each metric over the {} runs that count",
                          has_judge ? "Last value, or what it is judged by," : "Last value",
                          report.count.counted),
              {"metric"}};
  if (grouped) table.columns.push_back("group");
  for (const char* title :
       {">n", ">median", ">mean", ">sd", ">min", ">max", ">distinct", ">without"})
    table.columns.push_back(title);
  std::size_t most = 0;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    if (report.metrics[m].performance) continue;
    const Groups groups = groups_of(report, m, Rows::groups);
    most = std::max(most, groups.rows.size());
    for (std::size_t r = 0; r < std::min(groups.rows.size(), most_rows); ++r) {
      const std::vector<double> finite = sorted_finite(groups.rows[r].values);
      const base::Moments moments = moments_of(groups.rows[r]);
      std::vector<std::string> cells{title_of(report.metrics[m])};
      if (grouped) cells.push_back(groups.rows[r].label);
      cells.push_back(std::to_string(moments.n));
      if (moments.n == 0) {
        cells.resize(cells.size() + 5);
      } else {
        const double median = quantile(finite, 0.5);
        auto texts = texts_apart({median, moments.mean, moments.min, moments.max});
        show_digits(groups.rows[r], median, moments, texts);
        const std::string sd = moments.n > 1 ? number_text(moments.sd) : "";
        cells.insert(cells.end(), {texts[0], texts[1], sd, texts[2], texts[3]});
      }
      cells.push_back(std::to_string(count_distinct({groups.metric, {groups.rows[r]}})));
      const std::size_t others = groups.rows[r].values.size() - finite.size();
      cells.push_back(others > 0 ? std::to_string(others) : "");
      table.rows.push_back(std::move(cells));
    }
  }
  note_groups_left_out(table, most);
  return table;
}

std::string share_text(const spec::MetricGroups& metric) {
  std::string text;
  for (const spec::FactorShare& share : metric.split.factors) {
    if (!share.eta_squared) continue;
    text += fmt::format(
        "{}{} {:.4g} %", text.empty() ? "" : ", ", share.name, *share.eta_squared * 100);
  }
  return text;
}

/// "-" for groups with one run each.
std::string within_text(const spec::MetricGroups& metric) {
  const bool has_repeats = std::ranges::any_of(
      metric.rows, [](const spec::GroupRow& row) { return row.values.size() > 1; });
  return !has_repeats ? "-" : metric.identical_within ? "yes" : "no";
}

Table verdicts_table(const spec::GroupComparison& groups) {
  Table table{"Verdict for each metric, required: " + groups.required,
              {"metric",
               "result",
               {"reason", Table::Cells::sentence},
               "identical within",
               "identical across",
               ">ICC",
               "variance explained"}};
  for (const spec::MetricGroups& metric : groups.metrics) {
    if (metric.performance) continue;
    table.rows.push_back(
        {spec::shown_title(metric.name, "", false, metric.judge),
         metric.judged ? std::string(spec::to_string(metric.verdict)) : "not judged",
         metric.reason,
         within_text(metric),
         metric.identical_across ? "yes" : "no",
         metric.split.icc ? number_text(*metric.split.icc) : "",
         share_text(metric)});
  }
  return table;
}

std::string churn_text(const spec::ItemComparison& item) {
  if (!item.churn) return {};
  return fmt::format("{:.4g} % of {}", 100 * *item.churn, *item.predictions);
}

/// Items that differ; all of them if few.
Table items_table(const std::vector<spec::ItemComparison>& items, const std::string& caption) {
  constexpr std::size_t few = 12;
  const auto is_equal = [&](const spec::ItemComparison& item) {
    return items.size() > few && item.strongest == spec::Rung::bitwise && item.structure.empty();
  };
  const auto equal = std::ranges::count_if(items, is_equal);
  Table table;
  table.caption = caption;
  if (equal > 0) table.caption += fmt::format("; {} more are equal to the bit", equal);
  table.columns = {"item",
                   "holds",
                   ">compared",
                   ">different",
                   ">beyond tolerance",
                   ">max relative",
                   ">max ULP",
                   ">99.9 % ULP",
                   ">both NaN",
                   {"first differs at", Table::Cells::name},
                   {"first beyond tolerance at", Table::Cells::name}};
  const bool has_churn =
      std::ranges::any_of(items, [](const auto& item) { return item.churn.has_value(); });
  if (has_churn) table.columns.push_back({"churn of predictions", Table::Cells::name});
  for (const spec::ItemComparison& item : items) {
    if (is_equal(item)) continue;
    std::string holds = item.strongest ? std::string(spec::to_string(*item.strongest)) : "nothing";
    if (!item.structure.empty()) holds = item.structure;
    if (!item.judged) holds += " (not judged)";
    table.rows.push_back({item.name,
                          holds,
                          std::to_string(item.compared),
                          std::to_string(item.different),
                          std::to_string(item.beyond_tolerance),
                          std::isfinite(item.max_relative) ? number_text(item.max_relative) : "-",
                          ulps_text(item.max_ulps, item.max_relative),
                          ulps_text(item.p999_ulps, item.max_relative),
                          item.nan_pairs > 0 ? std::to_string(item.nan_pairs) : "",
                          item.first_bitwise ? item.first_bitwise->where : "",
                          item.first_tolerance ? item.first_tolerance->where : ""});
    if (has_churn) table.rows.back().push_back(churn_text(item));
  }
  return table;
}

Table speeds_table(const std::vector<spec::PerformanceRow>& rows) {
  Table table;
  table.caption =
      "Performance: medians [95 % interval, from 6 values]; a ratio above 1 means that B is worse";
  table.columns = {
      "metric", "verdict", ">ratio", ">A", ">B", ">n of A, B", {"reason", Table::Cells::sentence}};
  for (const spec::PerformanceRow& row : rows) {
    table.rows.push_back(
        {spec::shown_title(row.name, row.unit, false),
         row.verdict ? std::string(spec::to_string(*row.verdict)) : "not judged",
         row.ratio ? interval_text(*row.ratio, row.ratio_low, row.ratio_high) : "",
         row.n_a > 0 ? interval_text(row.median_a, row.median_a_low, row.median_a_high) : "",
         row.n_b > 0 ? interval_text(row.median_b, row.median_b_low, row.median_b_high) : "",
         fmt::format("{}, {}", row.n_a, row.n_b),
         row.reason});
  }
  return table;
}

void add_changes(const spec::Comparison& pair, Section& section) {
  if (!pair.environment.empty())
    section.blocks.emplace_back(Listing{"What differs in the environment", pair.environment});
  for (const spec::CodeDifference& file : pair.code)
    section.blocks.emplace_back(Listing{"Code, " + code_title(file), base::text_lines(file.diff)});
  if (!pair.code_note.empty()) section.blocks.emplace_back("Of the code: " + pair.code_note + ".");
}

}  // namespace

Section results_section(const Report& report) {
  Section section{"results", "Results", {}};
  const bool grouped = !report.by.empty();
  if (report.groups && grouped && !report.groups->metrics.empty())
    section.blocks.emplace_back(verdicts_table(*report.groups));
  Table spread = spread_table(report, grouped);
  if (!spread.rows.empty()) section.blocks.emplace_back(std::move(spread));
  return section;
}

Section pair_section(const Report& report) {
  Section section{"pair", "The two runs", {}};
  if (!report.pair) return section;
  const spec::Comparison& pair = *report.pair;
  std::string text =
      fmt::format("A is {}, B is {}; kind: {}.", pair.a, pair.b, spec::to_string(pair.repetition));
  text += pair.strongest ? fmt::format(" They agree: {}.", spec::to_string(*pair.strongest))
                         : " A and B agree neither to the bit nor within ULP or tolerance.";
  text += fmt::format(" Required: {}, by {}.", spec::to_string(pair.required), pair.required_from);
  section.blocks.emplace_back(text);
  if (pair.first_divergence) {
    section.blocks.emplace_back(
        fmt::format("They diverge in {} at {}: {} and {}.{}",
                    pair.first_divergence_in,
                    pair.first_divergence->where,
                    pair.first_divergence->text_a(),
                    pair.first_divergence->text_b(),
                    pair.likely_cause.empty() ? "" : " Likely cause: " + pair.likely_cause + "."));
  }
  add_changes(pair, section);
  if (!pair.metrics.empty())
    section.blocks.emplace_back(items_table(pair.metrics, "Metrics, point by point"));
  if (!pair.performance.empty()) section.blocks.emplace_back(speeds_table(pair.performance));
  if (!pair.outputs.empty())
    section.blocks.emplace_back(items_table(pair.outputs, "Outputs, element by element"));
  return section;
}

}  // namespace sabath::report
