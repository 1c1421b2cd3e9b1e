#include "comparison_parts.hpp"
#include "plots/value_range.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace sabath::report {
namespace {

using base::Align;
using base::printable;
using base::TextTable;
using spec::GroupComparison;
using spec::MetricGroups;

constexpr std::size_t most_repeats = 60;  ///< columns of a heat map

char letter(std::size_t number) {
  return static_cast<char>('A' + static_cast<int>(number));
}

bool is_same(double a, double b) {
  return a == b ? std::signbit(a) == std::signbit(b) : std::isnan(a) && std::isnan(b);
}

std::string class_of(const MetricGroups& metric, double value) {
  for (std::size_t c = 0; c < metric.classes.size(); ++c) {
    if (is_same(metric.classes[c].value, value)) return std::string(1, letter(c));
  }
  return {};
}

std::string class_column(const MetricGroups& metric, const spec::GroupRow& row) {
  if (row.values.empty()) return "";
  return row.distinct == 1 ? class_of(metric, row.values.front()) : "several";
}

/// Digits of a mean of whole numbers that no double holds.
std::string mean_digits(const spec::GroupRow& row) {
  if (row.min_digits.empty() && row.max_digits.empty()) return {};
  return row.distinct == 1 ? row.min_digits : fmt::format("{:.6g}", row.mean);
}

std::string groups_table(const GroupComparison& comparison, const MetricGroups& metric) {
  std::vector<TextTable::Column> columns;
  for (const std::string& by : comparison.by)
    columns.push_back({printable(by), Align::left});
  if (columns.empty()) columns.push_back("group");
  const bool has_missing = std::ranges::any_of(metric.rows, [](const auto& row) {
    return row.missing > 0 || row.finite < row.values.size();
  });
  columns.insert(columns.end(), {">n", ">mean", ">sd", ">min", ">max", ">distinct"});
  if (!metric.classes.empty()) columns.push_back("class");
  if (has_missing) columns.push_back(">without");
  TextTable table(columns);
  for (std::size_t g = 0; g < std::min(metric.rows.size(), most_groups); ++g) {
    const spec::GroupRow& row = metric.rows[g];
    std::vector<std::string> cells;
    for (const std::string& level : comparison.groups[g].levels)
      cells.push_back(level_text(level));
    if (cells.empty()) cells.emplace_back("all");
    cells.push_back(std::to_string(row.finite));
    const auto number = [&](double value, const std::string& digits = {}) {
      return row.finite == 0 ? std::string() : digits.empty() ? number_text(value) : digits;
    };
    cells.push_back(number(row.mean, mean_digits(row)));
    cells.push_back(row.sd ? number_text(*row.sd) : std::string());
    cells.push_back(number(row.min, row.min_digits));
    cells.push_back(number(row.max, row.max_digits));
    cells.push_back(std::to_string(row.distinct));
    if (!metric.classes.empty()) cells.push_back(class_column(metric, row));
    if (has_missing) cells.push_back(std::to_string(row.missing + row.values.size() - row.finite));
    table.add(std::move(cells));
  }
  return table.text() + more_groups(metric.rows.size());
}

std::string percent(double share) {
  return fmt::format("{:.4g} %", 100 * share);
}

std::string share_text(const spec::FactorShare& share, std::size_t factors) {
  std::string text =
      fmt::format("{} explains {}", printable(share.name), percent(*share.eta_squared));
  if (share.omega_squared) text += fmt::format(" (omega squared {:.4g}", *share.omega_squared);
  if (factors > 1 && share.partial_eta_squared) {
    text += fmt::format("{}after all others {} of what they leave",
                        share.omega_squared ? "; " : " (",
                        percent(*share.partial_eta_squared));
  }
  if (share.p)
    text += fmt::format("{}p {:.3g}", text.find('(') == std::string::npos ? " (" : ", ", *share.p);
  if (text.find('(') != std::string::npos) text += ")";
  return text;
}

ValueRange extremes_of(const MetricGroups& metric) {
  ValueRange found;
  for (const spec::GroupRow& row : metric.rows) {
    if (row.finite == 0) continue;
    found.take(row.min);
    found.take(row.max);
  }
  return found;
}

/// Whether finite values of one double are different whole numbers.
bool differ_in_digits(const MetricGroups& metric) {
  std::set<std::string> digits;
  for (const spec::GroupRow& row : metric.rows) {
    if (row.finite == 0) continue;
    digits.insert(row.min_digits);
    digits.insert(row.max_digits);
  }
  return digits.size() > 1;
}

std::string variance_text(const MetricGroups& metric) {
  const spec::VarianceSplit& split = metric.split;
  if (split.n < 2 || split.groups < 2) return {};
  const ValueRange extremes = extremes_of(metric);
  if (extremes.low == extremes.high) {
    const bool has_others = std::ranges::any_of(
        metric.rows, [](const spec::GroupRow& row) { return row.finite < row.values.size(); });
    const std::string finite = metric.distinct > 1 && has_others ? "finite " : "";
    return "variance    none: " + (differ_in_digits(metric)
                                       ? "one double is nearest to all " + finite + "values\n"
                                       : "all " + finite + "values are equal\n");
  }
  std::string text = std::isnormal(split.total)
                         ? fmt::format("variance    {} of it between groups, {} within",
                                       percent(split.between / split.total),
                                       percent(split.within / split.total))
                         : "variance    its sums are beyond what a double can hold";
  if (split.icc) text += fmt::format("; ICC {:.6g}", *split.icc);
  if (split.missing_cells > 0)
    text += fmt::format("; {} combinations have no run", split.missing_cells);
  text += "\n";
  for (const spec::FactorShare& share : split.factors) {
    if (share.eta_squared) text += "            " + share_text(share, split.factors.size()) + "\n";
  }
  if (!split.not_split.empty())
    text += "            factors are not separated: " + printable(split.not_split) + "\n";
  return text;
}

std::string group_label(const GroupComparison& comparison, std::size_t group) {
  std::vector<std::string> by;
  for (const std::string& key : comparison.by)
    by.push_back(printable(key));
  std::vector<std::string> levels;
  for (const std::string& level : comparison.groups[group].levels)
    levels.push_back(level_text(level));
  return spec::group_name(by, levels);
}

std::string classes_text(const GroupComparison& comparison, const MetricGroups& metric) {
  constexpr std::size_t most_named = 4;
  std::string text;
  for (std::size_t c = 0; c < metric.classes.size(); ++c) {
    const spec::ResultClass& one = metric.classes[c];
    std::string groups;
    const bool is_named = comparison.groups.size() > 1;
    for (std::size_t i = 0; is_named && i < std::min(one.groups.size(), most_named); ++i)
      groups += (i == 0 ? ": " : ", ") + group_label(comparison, one.groups[i]);
    if (one.groups.size() > most_named)
      groups += fmt::format(" and {} more", one.groups.size() - most_named);
    text += fmt::format("{}     {}  {}  {}{}\n",
                        c == 0 ? "classes" : "       ",
                        letter(c),
                        one.value,
                        base::counted(one.runs, "run"),
                        groups);
  }
  return text;
}

/// A letter for each class; where there are too many, a digit from 0, the lowest, to 9, the
/// highest.
char cell(const MetricGroups& metric, double value, const ValueRange& extremes) {
  const std::string one = class_of(metric, value);
  if (!one.empty()) return one.front();
  if (!std::isfinite(value)) return '!';
  return static_cast<char>('0' + static_cast<int>(extremes.level(value, 10)));
}

std::string heat_map(const GroupComparison& comparison, const MetricGroups& metric) {
  const ValueRange extremes = extremes_of(metric);
  std::size_t width = 0;
  const std::size_t rows = std::min(metric.rows.size(), most_groups);
  for (std::size_t g = 0; g < rows; ++g)
    width = std::max(width, group_label(comparison, g).size());
  const bool has_digits = std::ranges::any_of(metric.rows, [](const auto& row) {
    return !row.min_digits.empty() || !row.max_digits.empty();
  });
  std::string text =
      metric.classes.empty()
          ? "heat map    a run to a column, from 0 (lowest) to 9 (highest)" +
                std::string(has_digits ? "; whole numbers of one double look alike" : "") + "\n"
          : "heat map    a run to a column, a letter to a value\n";
  for (std::size_t g = 0; g < rows; ++g) {
    const spec::GroupRow& row = metric.rows[g];
    std::string cells;
    for (std::size_t i = 0; i < std::min(row.values.size(), most_repeats); ++i)
      cells += cell(metric, row.values[i], extremes);
    if (row.values.size() > most_repeats)
      cells += fmt::format(" +{}", row.values.size() - most_repeats);
    cells += std::string(std::min<std::uint64_t>(row.missing, most_repeats), '.');
    text += fmt::format("  {:<{}}  {}\n", group_label(comparison, g), width, cells);
  }
  return text + more_groups(metric.rows.size());
}

std::string identity_text(const MetricGroups& metric) {
  const bool repeated =
      std::ranges::any_of(metric.rows, [](const auto& row) { return row.values.size() > 1; });
  return fmt::format(
      "identical   within groups: {}; across: {}; {}\n",
      !repeated ? "no group has two runs" : (metric.identical_within ? "yes, to the bit" : "no"),
      metric.identical_across ? "yes, to the bit" : "no",
      base::counted(metric.distinct, "distinct value"));
}

std::string interval_text(const std::optional<double>& low, const std::optional<double>& high) {
  return low && high ? fmt::format("[{}, {}]", number_text(*low), number_text(*high)) : "-";
}

std::string statistics_text(const MetricGroups& metric) {
  if (!metric.statistics) return {};
  const spec::GroupStatistics& all = *metric.statistics;
  TextTable table({"statistic", ">value", ">p", "interval"});
  const auto add = [&](const std::string& name,
                       const std::optional<double>& value,
                       const std::optional<double>& p,
                       const std::string& interval = "") {
    if (value || p)
      table.add({name, value ? number_text(*value) : "-", p ? number_text(*p) : "-", interval});
  };
  add("difference of means, A - B", all.difference, std::nullopt);
  add("Welch's t", all.welch_t, all.welch_p);
  add("  adjusted by Holm", std::nullopt, all.welch_p_adjusted);
  add("TOST, margin", all.tost_margin, all.tost_p, interval_text(all.tost_low, all.tost_high));
  add("Hedges' g", all.hedges_g, std::nullopt);
  add("Cliff's delta", all.cliffs_delta, std::nullopt);
  add(std::string("Mann-Whitney U") + (all.mann_whitney_exact ? ", exact" : ""),
      all.mann_whitney_u,
      all.mann_whitney_p);
  add(std::string("Kolmogorov-Smirnov D") + (all.kolmogorov_smirnov_exact ? ", exact" : ""),
      all.kolmogorov_smirnov_d,
      all.kolmogorov_smirnov_p);
  add("Hodges-Lehmann shift",
      all.hodges_lehmann,
      std::nullopt,
      interval_text(all.hodges_lehmann_low, all.hodges_lehmann_high));
  if (all.bootstrap_low) {
    add(fmt::format("BCa bootstrap of the difference, seed {}", *all.bootstrap_seed),
        all.difference,
        std::nullopt,
        interval_text(all.bootstrap_low, all.bootstrap_high));
  }
  std::string text = table.text();
  for (const std::string& note : all.notes)
    text += "note        " + printable(note) + "\n";
  return text;
}

std::string metric_text(const GroupComparison& comparison,
                        const MetricGroups& metric,
                        bool statistics) {
  std::string title =
      printable(spec::shown_title(metric.name, metric.unit, metric.performance, metric.judge));
  if (metric.performance) title += " (not judged)";
  if (!metric.judged && !metric.performance) title += " (not declared, not judged)";
  std::string text = "\n" + title + "\n" + groups_table(comparison, metric);
  text += identity_text(metric);
  text += variance_text(metric);
  text += classes_text(comparison, metric);
  if (metric.rows.size() > 1) text += heat_map(comparison, metric);
  if (statistics) text += statistics_text(metric);
  if (metric.judged) {
    text += fmt::format(
        "result      {}: {}\n", spec::to_string(metric.verdict), printable(metric.reason));
  }
  return text;
}

/// "A           study=x: 5 runs (the reference)".
std::string side_text(const GroupComparison& comparison,
                      std::size_t side,
                      const std::optional<std::string>& selection) {
  if (!selection) return {};
  const bool is_reference = comparison.reference == (side == 0 ? "a" : "b");
  const std::uint64_t runs =
      side < comparison.groups.size() ? comparison.groups[side].runs : std::uint64_t{0};
  return fmt::format("{}           {}: {}{}\n",
                     side == 0 ? 'A' : 'B',
                     printable(*selection),
                     base::counted(runs, "run"),
                     is_reference ? " (the reference)" : "");
}

std::string rcp_text(const GroupComparison& comparison) {
  if (!comparison.rcp) return {};
  const spec::RcpFinding& rcp = *comparison.rcp;
  return fmt::format(
      "\nRCP         {} of {}, as the {} reads it: batch {}, {} reference runs, mean {} epochs, "
      "at least {}\n            {}: {}\n            seeds {}: {}\n",
      printable(rcp.metric),
      "B against A",
      rcp.reading,
      rcp.batch_size,
      rcp.reference_runs,
      number_text(rcp.reference_mean),
      number_text(rcp.minimum),
      spec::to_string(rcp.verdict),
      printable(rcp.reason),
      spec::to_string(rcp.seeds),
      printable(rcp.seeds_reason));
}

/// What differs between the sides, and the metric that decides.
std::string better_text(const GroupComparison& comparison) {
  const spec::BetterFinding& better = *comparison.better;
  std::string text;
  for (const spec::Change& parameter : better.parameters) {
    text += fmt::format("differs     {}: {} in A, {} in B\n",
                        printable(parameter.name),
                        printable(parameter.a),
                        printable(parameter.b));
  }
  if (better.parameters.empty()) text += "differs     no parameter\n";
  const auto metric =
      std::ranges::find(comparison.metrics, better.metric, &spec::MetricGroups::name);
  if (metric == comparison.metrics.end()) return text;
  text += fmt::format(
      "\n{}, {} is better\n",
      printable(spec::shown_title(metric->name, metric->unit, metric->performance, metric->judge)),
      spec::to_string(better.better));
  text += groups_table(comparison, *metric);
  if (better.paired)
    text += fmt::format("paired      {} seeds that both sides have\n", better.pairs);
  return text;
}

}  // namespace

std::string level_text(const std::string& level) {
  constexpr std::size_t longest = 32;
  if (level.empty()) return "(none)";
  if (level.size() <= longest) return printable(level);
  return printable(level.substr(0, longest - 3)) + "...";
}

std::string more_groups(std::size_t all) {
  if (all <= most_groups) return {};
  return "... and " + base::counted(all - most_groups, "more group") + " (--json has them all)\n";
}

std::string groups_text(const GroupComparison& comparison, bool statistics) {
  const std::string recipe = comparison.recipe.empty() ? "(none)" : comparison.recipe;
  std::string text =
      "recipe      " + printable(recipe) + ": " + base::counted(comparison.runs, "run");
  if (comparison.imported > 0) text += fmt::format(", {} of them imported", comparison.imported);
  text += "\n";
  text += side_text(comparison, 0, comparison.a) + side_text(comparison, 1, comparison.b);
  for (const spec::LeftOut& left_out : comparison.left_out)
    text += fmt::format("left out    {} ({})\n", left_out.runs, printable(left_out.reason));
  for (const std::string& note : comparison.notes)
    text += "note        " + printable(note) + "\n";
  if (comparison.better) {
    return text + better_text(comparison) +
           fmt::format("\nRESULT      {}: {}\n",
                       spec::to_string(comparison.result),
                       printable(comparison.reason));
  }
  if (!comparison.groups.empty()) {
    text += fmt::format("groups      {}{}\n",
                        comparison.groups.size(),
                        comparison.by.empty()
                            ? ""
                            : printable(fmt::format(", by {}", fmt::join(comparison.by, ", "))));
  }
  // What may not be compared is not required to hold anything.
  if (!comparison.required.empty()) {
    text += fmt::format("classes     {} of runs that agree to the bit in all judged metrics\n",
                        comparison.classes);
    text += "required    " + printable(comparison.required) + "\n";
  }
  // Of two sides performance has a table of its own.
  for (const MetricGroups& metric : comparison.metrics) {
    if (comparison.performance.empty() || !metric.performance)
      text += metric_text(comparison, metric, statistics);
  }
  if (!comparison.performance.empty()) text += "\n" + performance_table(comparison.performance);
  text += rcp_text(comparison);
  if (comparison.performance_verdict) {
    text += fmt::format("\nPERFORMANCE {}: {}",
                        spec::to_string(*comparison.performance_verdict),
                        printable(comparison.performance_reason));
  }
  return text + fmt::format("\nRESULT      {}: {}\n",
                            spec::to_string(comparison.result),
                            printable(comparison.reason));
}

}  // namespace sabath::report
