#include "changes_text.hpp"
#include "document.hpp"
#include "plots/axis.hpp"

#include <sabath/base/moments.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <set>

namespace sabath::report {
namespace {

struct FiniteValues {
  std::vector<double> values{};  ///< finite ones, sorted
  std::size_t other = 0;         ///< runs without a finite value
};

FiniteValues finite_of(const Groups::Row& row) {
  FiniteValues finite;
  for (const auto& value : row.values) {
    if (value && std::isfinite(*value)) {
      finite.values.push_back(*value);
    } else {
      ++finite.other;
    }
  }
  std::sort(finite.values.begin(), finite.values.end());
  return finite;
}

/// With different bits or digits.
std::size_t distinct_values(const Groups::Row& row) {
  std::set<std::pair<std::uint64_t, std::string>> values;
  for (std::size_t i = 0; i < row.values.size(); ++i) {
    if (row.values[i]) values.emplace(std::bit_cast<std::uint64_t>(*row.values[i]), row.whole[i]);
  }
  return values.size();
}

/// All digits of the least or largest of a row, which is near to the double `end`; empty where that
/// is the number.
std::string digits_of(const Groups::Row& row, double end, bool is_largest) {
  base::ExactNumber found{end};
  bool is_first = true;
  for (std::size_t i = 0; i < row.whole.size(); ++i) {
    if (row.values[i] != end) continue;
    const auto number =
        row.whole[i].empty() ? std::nullopt : base::exact_decimal(row.whole[i], end);
    const double rest = number ? number->rest : 0;
    if (is_first || (is_largest ? rest > found.rest : rest < found.rest)) found.rest = rest;
    is_first = false;
  }
  return found.rest == 0 ? std::string() : base::text_of(found);
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
    if (!row.values[i] || !std::isfinite(*row.values[i])) continue;
    const base::ExactNumber nearest{*row.values[i]};
    const bool has_digits = i < row.whole.size() && !row.whole[i].empty();
    numbers.push_back(
        has_digits ? base::exact_decimal(row.whole[i], nearest.value).value_or(nearest) : nearest);
  }
  return base::exact_moments(numbers);
}

Table spread_table(const Report& report, bool grouped) {
  Table table;
  table.caption =
      fmt::format("Last value of each metric over the {} runs that count", report.count.counted);
  table.columns = {{"metric"}};
  if (grouped) table.columns.push_back({"group"});
  for (const char* title : {"n", "median", "mean", "sd", "min", "max", "distinct", "without"})
    table.columns.push_back({title, true});
  std::size_t most = 0;
  for (std::size_t m = 0; m < report.metrics.size(); ++m) {
    if (report.metrics[m].performance) continue;
    const Groups groups = groups_of(report, m, Rows::groups);
    most = std::max(most, groups.rows.size());
    for (std::size_t r = 0; r < std::min(groups.rows.size(), most_rows); ++r) {
      const FiniteValues finite = finite_of(groups.rows[r]);
      const base::Moments moments = moments_of(groups.rows[r]);
      std::vector<std::string> cells{title_of(report.metrics[m])};
      if (grouped) cells.push_back(groups.rows[r].label);
      cells.push_back(std::to_string(moments.n));
      if (moments.n == 0) {
        cells.resize(cells.size() + 5);
      } else {
        const double median = quantile(finite.values, 0.5);
        auto texts = texts_apart({median, moments.mean, moments.min, moments.max});
        show_digits(groups.rows[r], median, moments, texts);
        const std::string sd = moments.n > 1 ? number_text(moments.sd) : "";
        cells.insert(cells.end(), {texts[0], texts[1], sd, texts[2], texts[3]});
      }
      cells.push_back(std::to_string(distinct_values(groups.rows[r])));
      cells.push_back(finite.other > 0 ? std::to_string(finite.other) : "");
      table.rows.push_back(std::move(cells));
    }
  }
  if (most > most_rows)
    table.caption += fmt::format(", the first {} of {} groups", most_rows, most);
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

/// Of groups with one run each there is nothing to say.
std::string within_text(const spec::MetricGroups& metric) {
  const bool has_repeats =
      std::any_of(metric.rows.begin(), metric.rows.end(), [](const spec::GroupRow& row) {
        return row.values.size() > 1;
      });
  return !has_repeats ? "-" : metric.identical_within ? "yes" : "no";
}

Table verdicts_table(const spec::GroupComparison& groups) {
  Table table;
  table.caption = "Verdict for each metric, required: " + groups.required;
  table.columns = {{"metric"},
                   {"result"},
                   {"reason", false, false, true},
                   {"identical within"},
                   {"identical across"},
                   {"ICC", true},
                   {"variance explained"}};
  for (const spec::MetricGroups& metric : groups.metrics) {
    if (metric.performance) continue;
    table.rows.push_back(
        {metric.name,
         metric.judged ? std::string(spec::to_string(metric.verdict)) : "not judged",
         metric.reason,
         within_text(metric),
         metric.identical_across ? "yes" : "no",
         metric.split.icc ? number_text(*metric.split.icc) : "",
         share_text(metric)});
  }
  return table;
}

std::string where_text(const std::optional<spec::Divergence>& divergence) {
  return divergence ? divergence->where : "";
}

/// "3.125 % of 100".
std::string churn_text(const spec::ItemComparison& item) {
  if (!item.churn) return {};
  return fmt::format("{:.4g} % of {}", 100 * *item.churn, *item.predictions);
}

/// Those that are not equal; of a few all.
Table items_table(const std::vector<spec::ItemComparison>& items, const std::string& caption) {
  constexpr std::size_t few = 12;
  const auto is_equal = [&](const spec::ItemComparison& item) {
    return items.size() > few && item.strongest == spec::Rung::bitwise && item.structure.empty();
  };
  const auto equal = std::count_if(items.begin(), items.end(), is_equal);
  Table table;
  table.caption = caption;
  if (equal > 0) table.caption += fmt::format("; {} more are equal to the bit", equal);
  table.columns = {{"item"},
                   {"holds"},
                   {"compared", true},
                   {"different", true},
                   {"beyond tolerance", true},
                   {"max relative", true},
                   {"max ULP", true},
                   {"99.9 % ULP", true},
                   {"both NaN", true},
                   {"first differs at", false, true},
                   {"first beyond tolerance at", false, true}};
  const bool has_churn = std::any_of(
      items.begin(), items.end(), [](const auto& item) { return item.churn.has_value(); });
  if (has_churn) table.columns.push_back({"churn of predictions", false, true});
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
                          where_text(item.first_bitwise),
                          where_text(item.first_tolerance)});
    if (has_churn) table.rows.back().push_back(churn_text(item));
  }
  return table;
}

/// "1.5 [1.4, 1.6]".
std::string with_interval(double value,
                          const std::optional<double>& low,
                          const std::optional<double>& high) {
  if (!low || !high) return number_text(value);
  return fmt::format("{} [{}, {}]", number_text(value), number_text(*low), number_text(*high));
}

Table speeds_table(const std::vector<spec::PerformanceRow>& rows) {
  Table table;
  table.caption =
      "Performance: medians [95 % interval, from 6 values]; a ratio above 1 means that B is worse";
  table.columns = {{"metric"},
                   {"verdict"},
                   {"ratio", true},
                   {"A", true},
                   {"B", true},
                   {"n of A, B", true},
                   {"reason", false, false, true}};
  for (const spec::PerformanceRow& row : rows) {
    table.rows.push_back(
        {spec::shown_title(row.name, row.unit, false),
         row.verdict ? std::string(spec::to_string(*row.verdict)) : "not judged",
         row.ratio ? with_interval(*row.ratio, row.ratio_low, row.ratio_high) : "",
         row.n_a > 0 ? with_interval(row.median_a, row.median_a_low, row.median_a_high) : "",
         row.n_b > 0 ? with_interval(row.median_b, row.median_b_low, row.median_b_high) : "",
         fmt::format("{}, {}", row.n_a, row.n_b),
         row.reason});
  }
  return table;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

/// In words what the digests of environment and code only say that it differs.
void add_changes(const spec::Comparison& pair, Section& section) {
  if (!pair.environment.empty())
    section.blocks.emplace_back(Listing{"What differs in the environment", pair.environment});
  for (const spec::CodeDifference& file : pair.code)
    section.blocks.emplace_back(Listing{"Code, " + code_title(file), lines_of(file.diff)});
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
      fmt::format("A is {}, B is {}: a {}.", pair.a, pair.b, spec::to_string(pair.repetition));
  text += pair.strongest ? fmt::format(" They agree: {}.", spec::to_string(*pair.strongest))
                         : " A and B agree neither to the bit nor within ULP or tolerance.";
  text += fmt::format(" Required: {}, by {}.", spec::to_string(pair.required), pair.required_from);
  section.blocks.emplace_back(text);
  if (pair.first_divergence) {
    section.blocks.emplace_back(
        fmt::format("They part in {} at {}: {} and {}.{}",
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
