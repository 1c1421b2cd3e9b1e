#include "report_facts.hpp"

#include <sabath/analysis/compare_pair.hpp>
#include <sabath/analysis/group_selection.hpp>
#include <sabath/analysis/rank_runs.hpp>
#include <sabath/analysis/report_runs.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/base/version.hpp>

#include <fmt/format.h>

namespace sabath::analysis {
namespace {

using base::Error;
using base::ErrorKind;
using catalog::RunRow;
using report::Report;

std::vector<RunFacts> read_facts(const std::vector<RunRow>& runs) {
  std::vector<RunFacts> facts(runs.size());
  base::for_each_in_parallel(runs.size(),
                             [&](std::size_t i) { facts[i] = read_run_facts(runs[i]); });
  return facts;
}

void fill_runs(Report& report, const std::vector<RunFacts>& facts) {
  constexpr std::size_t most_notes = 10;
  std::size_t notes = 0;
  for (const RunFacts& one : facts) {
    report.runs.push_back(one.run);
    for (const std::string& note : one.notes) {
      if (++notes <= most_notes) report.notes.push_back(note);
    }
  }
  if (notes > most_notes)
    report.notes.push_back(fmt::format("{} more runs cannot be read", notes - most_notes));
}

void fill_levels(Report& report, const std::vector<RunRow>& runs, const catalog::Catalog& catalog) {
  for (const std::string& key : report.by) {
    const std::vector<std::string> levels = shown_levels(levels_of(runs, key, catalog));
    for (std::size_t i = 0; i < runs.size(); ++i)
      report.runs[i].levels.push_back(levels[i]);
  }
}

void fill_count(Report& report,
                const std::vector<RunRow>& runs,
                const ReportRequest& request,
                const catalog::Catalog& catalog) {
  const std::vector<std::string> reasons =
      why_not_counted(runs, request.named.with_keys(request.by, request.across), catalog);
  for (std::size_t i = 0; i < runs.size(); ++i)
    report.runs[i].left_out = reasons[i];
  report.count = spec::count_runs(reasons);
}

bool can_be_a_pair(const Report& report, const std::vector<RunRow>& runs) {
  return runs.size() == 2 && report.count.counted == 2 && runs[0].state == spec::RunState::ok &&
         runs[1].state == spec::RunState::ok;
}

void fill_verdict(Report& report,
                  const std::vector<RunRow>& runs,
                  const ReportRequest& request,
                  const catalog::Catalog& catalog) {
  if (runs.size() < 2) return;
  try {
    if (request.by.empty() && can_be_a_pair(report, runs)) {
      compare::Options options;
      options.across = request.across;
      report.pair = compare_pair(runs[0].directory, runs[1].directory, options);
    } else {
      GroupsRequest groups;
      groups.by = request.by;
      groups.across = request.across;
      groups.named = request.named;
      report.groups = compare_groups(runs, groups, catalog);
    }
  } catch (const Error& error) {
    // Equal last values prove nothing about runs whose files were changed.
    report.pair.reset();
    report.groups.emplace();
    report.groups->by = request.by;
    report.groups->result = spec::Verdict::not_comparable;
    report.groups->reason = std::string("the comparison failed: ") + error.what();
  }
}

/// A sweep asks which setting is best.
void fill_ranking(Report& report,
                  const std::vector<RunRow>& runs,
                  const ReportRequest& request,
                  const catalog::Catalog& catalog) {
  if (report.pair || report.groups == std::nullopt) return;
  RankRequest wanted;
  wanted.rules.by = request.by;
  wanted.across = request.across;
  wanted.named = request.named;
  try {
    report.ranking = rank_sweep(runs, wanted, catalog);
  } catch (const Error& error) {
    report.notes.push_back(std::string("no ranking: ") + error.what());
  }
}

}  // namespace

Report report_runs(const std::vector<RunRow>& runs,
                   const ReportRequest& request,
                   const catalog::Catalog& catalog,
                   base::Clock& clock) {
  Report report;
  report.selection = request.selection;
  report.by = request.by;
  report.command = request.command;
  report.made = base::format_rfc3339(clock.now());
  report.sabath_version = std::string(base::version());
  std::vector<RunFacts> facts = read_facts(runs);
  fill_runs(report, facts);
  fill_count(report, runs, request, catalog);
  fill_levels(report, runs, catalog);
  fill_metrics(report, facts);
  fill_items(report, facts);
  fill_stages(report, facts);
  fill_charts(report, facts);
  fill_verdict(report, runs, request, catalog);
  fill_ranking(report, runs, request, catalog);
  return report;
}

}  // namespace sabath::analysis
