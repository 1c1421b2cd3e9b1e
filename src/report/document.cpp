#include "document.hpp"

#include "comparison_parts.hpp"
#include "plots/axis.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

namespace sabath::report {
namespace {

std::string states_text(const Report& report) {
  std::map<std::string, std::size_t> states;
  for (const ReportRun& run : report.runs)
    ++states[run.state];
  return base::joined(
      states, ", ", [](const auto& one) { return fmt::format("{} {}", one.second, one.first); });
}

std::string distinct_text(const Report& report, std::string ReportRun::*member) {
  constexpr std::size_t named = 4;
  std::set<std::string> distinct;
  for (const ReportRun& run : report.runs) {
    if (!(run.*member).empty()) distinct.insert(run.*member);
  }
  if (distinct.size() > named) return fmt::format("{} different", distinct.size());
  return fmt::format("{}", fmt::join(distinct, ", "));
}

void set_verdict(Document& document, spec::Verdict verdict, const std::string& reason) {
  document.verdict = std::string(spec::to_string(verdict));
  document.reason = reason;
  document.mood = verdict == spec::Verdict::pass   ? "good"
                  : verdict == spec::Verdict::fail ? "bad"
                                                   : "open";
}

/// "a, b, and 3 more"
std::string names_text(const std::vector<std::string>& names) {
  constexpr std::size_t most_named = 12;
  if (names.size() <= most_named) return fmt::format("{}", fmt::join(names, ", "));
  return fmt::format("{}, and {} more",
                     fmt::join(names.begin(), names.begin() + most_named, ", "),
                     names.size() - most_named);
}

std::string why_no_results(const spec::RunCount& count) {
  if (count.counted == count.all) return "no run has a metric of results";
  std::vector<std::string> left_out;
  for (const spec::LeftOut& out : count.left_out)
    left_out.push_back(fmt::format("{} {}", out.runs, out.reason));
  return fmt::format("no run {} ({})",
                     count.counted == 0 ? "counts" : "that counts has a metric of results",
                     fmt::join(left_out, ", "));
}

/// Without groups the only verdict is whether the runs are equal. Runs without a value were not
/// compared.
void set_spread(Document& document, const Report& report) {
  std::vector<std::string> same;
  std::vector<std::string> other;
  std::vector<std::string> open;
  for (const std::size_t metric : shown_metrics(report)) {
    const Groups groups = groups_of(report, metric, Rows::groups);
    if (groups.rows.empty()) continue;
    const std::size_t distinct = count_distinct(groups);
    const std::string name = title_of(report.metrics[metric]);
    const Presence presence = presence_of(groups);
    if (distinct > 1) {
      other.push_back(fmt::format("{} ({} values)", name, distinct));
    } else if (presence.all()) {
      same.push_back(name);
    } else {
      open.push_back(fmt::format(
          "only {} of {} runs have a value of {}", presence.finite, report.count.counted, name));
    }
  }
  if (same.empty() && other.empty() && open.empty()) {
    document.verdict = "NO RESULTS";
    document.reason = why_no_results(report.count);
    document.mood = "open";
    return;
  }
  document.verdict = !other.empty() ? "NOT IDENTICAL"
                     : open.empty() ? "IDENTICAL"
                     : same.empty() ? "NOT COMPARED"
                                    : "PARTLY COMPARED";
  document.mood = document.verdict == "IDENTICAL" ? "good" : "open";
  std::vector<std::string> reasons;
  if (!other.empty()) reasons.push_back("differs: " + names_text(other));
  if (!open.empty()) reasons.push_back(names_text(open));
  if (!same.empty()) {
    const bool all = report.count.counted == report.count.all;
    reasons.push_back((all ? "equal to the bit in "
                           : fmt::format("the {} that count are equal to the bit in ",
                                         base::counted(report.count.counted, "run"))) +
                      names_text(same));
  }
  document.reason = fmt::format("{}", fmt::join(reasons, "; "));
}

void set_headline(Document& document, const Report& report) {
  if (report.runs.size() == 1) {
    const ReportRun& run = report.runs.front();
    document.verdict = run.state;
    std::ranges::transform(document.verdict, document.verdict.begin(), [](char c) {
      return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    });
    const bool is_bad = run.state == "failed" || run.state == "stopped";
    document.mood = run.complete ? "good" : is_bad ? "bad" : "open";
    document.reason = run.message.empty() ? "one run; nothing to compare it with" : run.message;
  } else if (report.pair) {
    set_verdict(document, report.pair->result, report.pair->reason);
  } else if (report.ranking) {
    document.verdict = result_word(*report.ranking);
    document.reason = report.ranking->metric + ": " + report.ranking->reason;
    document.mood =
        report.ranking->result == "ranked" || report.ranking->result == "tied" ? "good" : "open";
  } else if (report.groups && (report.groups->groups.size() > 1 ||
                               report.groups->result == spec::Verdict::not_comparable)) {
    set_verdict(document, report.groups->result, report.groups->reason);
  } else {
    set_spread(document, report);
  }
}

/// The compared settings and their medians, in order.
std::string question_of(const Report& report) {
  const auto metric = final_metric(report.metrics);
  if (report.by.empty() || !metric) return {};
  const Groups groups = groups_of(report, *metric, Rows::groups);
  if (groups.rows.size() < 2) return {};
  std::vector<std::string> names;
  std::vector<double> medians;
  bool has_all = true;
  for (const Groups::Row& row : groups.rows) {
    const std::vector<double> values = sorted_finite(row.values);
    has_all = has_all && !values.empty();
    medians.push_back(values.empty() ? 0 : quantile(values, 0.5));
    names.push_back(row.label + " (" + base::counted(row.values.size(), "run") + ")");
  }
  std::string text = "Compared: " + names_text(names) + ".";
  if (!has_all) return text;
  const spec::Better better = report.metrics[*metric].better;
  text += " Median of " + groups.metric + " in this order: " + names_text(nearest_texts(medians));
  if (better != spec::Better::none)
    text += "; " + std::string(spec::to_string(better)) + " is better";
  return text + ".";
}

std::vector<std::pair<std::string, std::string>> facts_of(const Report& report) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"Selection", report.selection},
      {"Runs", base::counted(report.runs.size(), "run") + ": " + states_text(report)},
      {"Counted", report.count.all > 1 ? spec::count_text(report.count) : ""},
      {"Grouped by", fmt::format("{}", fmt::join(report.by, ", "))},
      {"Recipe", distinct_text(report, &ReportRun::recipe)},
      {"Hosts", distinct_text(report, &ReportRun::host)},
      {"Devices", distinct_text(report, &ReportRun::device)},
      {"Seeds", distinct_text(report, &ReportRun::seed)}};
  if (report.pair && !report.pair->performance.empty()) {
    facts.emplace_back("Performance",
                       fmt::format("{}: {}",
                                   spec::to_string(report.pair->performance_verdict),
                                   report.pair->performance_reason));
  }
  if (report.groups && !report.by.empty()) {
    facts.emplace_back("Required", report.groups->required);
    for (const std::string& note : report.groups->notes)
      facts.emplace_back("Note", note);
  }
  for (const std::string& note : report.notes)
    facts.emplace_back("Note", note);
  facts.emplace_back("Made", report.made + " by sabath " + report.sabath_version);
  std::erase_if(facts, [](const auto& fact) { return fact.second.empty(); });
  return facts;
}

/// Drops columns that are empty in all rows, except the first.
void drop_empty_columns(Table& table) {
  for (std::size_t i = table.columns.size(); i-- > 1;) {
    const bool is_empty =
        std::ranges::all_of(table.rows, [&](const auto& row) { return row[i].empty(); });
    if (!is_empty) continue;
    const auto place = static_cast<std::ptrdiff_t>(i);
    table.columns.erase(table.columns.begin() + place);
    for (auto& row : table.rows)
      row.erase(row.begin() + place);
  }
}

void cut_rows(Table& table) {
  const std::size_t most = table.is_long ? 10 * most_table_rows : most_table_rows;
  if (table.rows.size() <= most) return;
  table.caption +=
      fmt::format(", the first {} of {}; the JSON report has all", most, table.rows.size());
  table.rows.resize(most);
}

bool is_of_validation(const std::string& name) {
  return name.find("valid") != std::string::npos || name.find("val_") != std::string::npos ||
         name.find("/val") != std::string::npos;
}

}  // namespace

bool ReportItem::varies() const {
  // A library that was seen in one run may have been missed in another (docs/formats/record.md).
  if (facet == "libraries") return values.size() > 1;
  return values.size() > 1 || std::ranges::any_of(of_run, [&](const auto& one) { return !one; });
}

std::optional<std::size_t> final_metric(const std::vector<ReportMetric>& metrics) {
  const auto find = [&](const auto& fits) -> std::optional<std::size_t> {
    for (std::size_t i = 0; i < metrics.size(); ++i) {
      if (!metrics[i].performance && std::invoke(fits, metrics[i])) return i;
    }
    return std::nullopt;
  };
  const auto is_loss = [](const ReportMetric& one) {
    return one.name.find("loss") != std::string::npos;
  };
  const auto validates = [](const ReportMetric& one) { return is_of_validation(one.name); };
  if (auto found = find([&](const auto& one) { return validates(one) && is_loss(one); }))
    return found;
  if (auto found = find(validates)) return found;
  if (auto found = find(is_loss)) return found;
  return find(&ReportMetric::declared);
}

void note_groups_left_out(Table& table, std::size_t groups) {
  if (groups > most_rows)
    table.caption += fmt::format(", the first {} of {} groups", most_rows, groups);
}

std::string title_of(const ReportMetric& metric) {
  return spec::shown_title(metric.name, metric.unit, false, metric.judge);
}

std::string heading_of(const ReportMetric& metric) {
  return spec::shown_title(metric.name, metric.unit, metric.performance, metric.judge);
}

std::string short_name(const ReportRun& run) {
  const std::size_t dash = run.id.rfind('-');
  return dash == std::string::npos ? run.id : run.id.substr(dash + 1);
}

bool is_shown(const Report& report, std::size_t run) {
  const bool is_pair = report.by.empty() && report.runs.size() == 2;
  return is_pair || report.count.counted == 0 || report.runs[run].counts();
}

Groups groups_of(const Report& report, std::size_t metric, Rows rows) {
  Groups groups;
  groups.metric = title_of(report.metrics[metric]);
  std::map<std::vector<std::string>, Groups::Row, base::ValuesOrder> sorted;
  bool has_value = false;
  for (const ReportRun& run : report.runs) {
    if (!run.counts()) continue;
    const bool by_host = rows == Rows::hosts;
    Groups::Row& row = sorted[by_host ? std::vector<std::string>{run.host} : run.levels];
    if (row.values.empty()) {
      row.label = !by_host           ? spec::group_name(report.by, run.levels)
                  : run.host.empty() ? "(no host)"
                                     : run.host;
    }
    row.values.push_back(run.values[metric]);
    row.whole.push_back(run.whole.empty() ? std::string() : run.whole[metric]);
    has_value = has_value || run.values[metric];
  }
  for (auto& [levels, row] : sorted) {
    if (has_value) groups.rows.push_back(std::move(row));
  }
  return groups;
}

std::vector<std::size_t> shown_metrics(const Report& report) {
  std::vector<std::size_t> declared;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    if (report.metrics[i].performance) continue;
    all.push_back(i);
    if (report.metrics[i].declared) declared.push_back(i);
  }
  return declared.empty() ? all : declared;
}

std::string middle_text(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const auto texts = nearest_texts({quantile(values, 0.5), values.front(), values.back()});
  if (values.front() == values.back()) return texts[0];
  return fmt::format("{} ({} to {})", texts[0], texts[1], texts[2]);
}

Document document_of(const Report& report) {
  Document document;
  document.title = "Runs of " + report.selection;
  if (report.runs.size() == 1) document.title = report.runs.front().id;
  if (report.runs.size() == 2)
    document.title = report.runs.front().id + " and " + report.runs.back().id;
  document.question = question_of(report);
  set_headline(document, report);
  document.facts = facts_of(report);
  for (const auto& make : {ranking_section,
                           results_section,
                           pair_section,
                           courses_section,
                           groups_section,
                           heat_section,
                           differences_section,
                           performance_section,
                           usage_section,
                           stages_section,
                           runs_section,
                           provenance_section}) {
    Section section = make(report);
    for (Block& block : section.blocks) {
      if (auto* table = std::get_if<Table>(&block)) {
        cut_rows(*table);
        drop_empty_columns(*table);
      }
    }
    if (!section.blocks.empty()) document.sections.push_back(std::move(section));
  }
  return document;
}

std::span<const ReportFormat> builtin_formats() {
  static constexpr std::array<ReportFormat, 4> formats{{
      {"html", {".html", ".htm"}, write_html},
      {"markdown", {".md", ".markdown"}, write_markdown},
      {"csv", {".csv", ""}, write_csv},
      {"json", {".json", ""}, write_json},
  }};
  return formats;
}

const ReportFormat* format_of(std::string_view file_name) {
  for (const ReportFormat& format : builtin_formats()) {
    const bool fits = std::ranges::any_of(format.extensions, [&](std::string_view extension) {
      return !extension.empty() && file_name.size() > extension.size() &&
             file_name.ends_with(extension);
    });
    if (fits) return &format;
  }
  return nullptr;
}

}  // namespace sabath::report
