#include <sabath/analysis/check_cases.hpp>
#include <sabath/analysis/check_samples.hpp>
#include <sabath/app/check_runs.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/compare/speed.hpp>
#include <sabath/home/baseline_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace sabath::app {
namespace {

using spec::BaselineEntry;
using spec::CaseKind;
using spec::CheckCase;
using spec::CheckGroup;
using spec::Verdict;

/// Says where the nearest entry differs, or what there is instead of one.
CheckCase no_entry(const spec::Baseline& baseline,
                   const std::string& recipe,
                   const spec::BaselineKey& key) {
  CheckCase one;
  one.name = "baseline";
  const home::NearestEntry nearest = home::nearest_entry(baseline, key);
  const bool is_proposed = std::ranges::any_of(baseline.entries, [&](const auto& entry) {
    return !entry.accepted &&
           home::key_differences(home::completed(key, entry), entry.holds_for).empty();
  });
  if (is_proposed) {
    one.reason =
        "what the baseline has for these runs is proposed and nobody accepted it; "
        "'sabath baseline accept FILE' does";
  } else if (nearest.entry == nullptr) {
    one.reason =
        "the baseline has no accepted entry; 'sabath baseline accept FILE' accepts what is "
        "proposed";
  } else {
    one.verdict = Verdict::not_comparable;
    const std::string what =
        baseline.recipe != recipe
            ? fmt::format("the recipe is '{}', of the baseline '{}'", recipe, baseline.recipe)
            : fmt::format("from its nearest {}, they differ: {}",
                          home::entry_text(*nearest.entry),
                          fmt::join(nearest.differences, "; "));
    one.reason = fmt::format(
        "the baseline is not of such runs: {}; 'sabath baseline propose SELECTION -o FILE' adds an "
        "entry for them",
        what);
  }
  return one;
}

std::string against_text(const BaselineEntry& entry) {
  return fmt::format("{}, accepted by {} on {:.10}{}",
                     base::counted(entry.runs.size(), "run"),
                     entry.accepted->by,
                     entry.accepted->at,
                     entry.accepted->note.empty() ? "" : ": " + entry.accepted->note);
}

/// Notes facets that may explain a difference.
void note_facets(const BaselineEntry& entry,
                 const analysis::SampleGroup& group,
                 CheckGroup& checked) {
  const auto differs = [&](const char* facet, std::string analysis::CheckSample::*digest) {
    const auto known = entry.facets.find(facet);
    if (known == entry.facets.end() || known->second == "several") return false;
    return std::ranges::any_of(
        group.runs, [&](const analysis::CheckSample& run) { return run.*digest != known->second; });
  };
  for (const auto& [facet, digest] :
       {std::pair{"code", &analysis::CheckSample::code},
        std::pair{"environment", &analysis::CheckSample::environment}}) {
    if (differs(facet, digest)) {
      checked.notes.push_back(fmt::format("the {} is not that of the baseline's runs, such as {}",
                                          facet,
                                          entry.runs.back().run_id));
    }
  }
}

compare::BaselineTerms terms_of(const BaselineEntry& entry,
                                const analysis::SampleGroup& group,
                                const CheckRequest& request) {
  compare::BaselineTerms terms;
  std::set<std::string> nodes;
  for (const spec::BaselineRun& run : entry.runs) {
    terms.seeds.push_back(run.seed);
    nodes.insert(run.node);
  }
  for (const analysis::CheckSample& run : group.runs)
    nodes.insert(run.run.node);
  terms.asked = request.require;
  terms.recipe = group.require;
  terms.deterministic = group.deterministic;
  terms.speed_margin =
      compare::speed_margin(nodes.size() == 1, entry.holds_for.device != spec::any_of_all);
  return terms;
}

compare::JudgedMetric values_of(const spec::BaselineMetric& metric,
                                const std::vector<analysis::GroupMetric>& found,
                                const analysis::SampleGroup& group) {
  compare::JudgedMetric judged;
  for (const analysis::CheckSample& run : group.runs) {
    judged.runs.push_back(run.run.run_id);
    judged.seeds.push_back(run.run.seed);
    judged.disturbed_runs += run.disturbed ? 1 : 0;
  }
  const auto same = std::ranges::find(found, metric.name, &analysis::GroupMetric::name);
  judged.values =
      same == found.end() ? std::vector<std::optional<double>>(group.runs.size()) : same->values;
  if (same == found.end()) return judged;
  judged.whole = same->whole;
  judged.judges = same->judges;
  return judged;
}

/// Known failures do not count, until their day.
void expect(const CheckRequest& request, const spec::BaselineKey& key, CheckCase& one) {
  const std::string today = base::format_rfc3339(request.now).substr(0, 10);
  for (const spec::ExpectedFailure& known : request.baseline->expected_failures) {
    if (known.metric != one.name || known.site.value_or(key.site) != key.site ||
        known.device.value_or(key.device) != key.device) {
      continue;
    }
    if (one.verdict == Verdict::pass) {
      one.expectation = spec::Expectation::unexpected_pass;
      one.reason +=
          fmt::format("; it was expected to fail until {}: {}", known.until, known.reason);
    } else if (one.verdict == Verdict::fail && today <= known.until) {
      one.expectation = spec::Expectation::expected_failure;
      one.reason = fmt::format("expected until {}: {}; {}", known.until, known.reason, one.reason);
    } else if (one.verdict == Verdict::fail) {
      one.expectation = spec::Expectation::expired;
      one.reason += fmt::format("; it was expected until {}: {}", known.until, known.reason);
    }
    return;
  }
}

/// Adds declared metrics that the entry lacks, although nobody accepted that.
void add_unknown_metrics(const BaselineEntry& entry,
                         const analysis::SampleGroup& group,
                         const CheckRequest& request,
                         CheckGroup& checked) {
  const auto is_known = [&](const std::string& name) {
    const auto bare = [](const auto& metric) { return analysis::bare_name(metric.name); };
    return std::ranges::find(entry.metrics, name, bare) != entry.metrics.end() ||
           std::ranges::find(entry.without, name) != entry.without.end();
  };
  for (const spec::MetricSpec& spec : group.declared) {
    const bool is_asked = spec.performance ? request.performance : request.results;
    const bool has_no_times = spec.performance && entry.holds_for.device == spec::any_of_all;
    if (!is_asked || has_no_times || is_known(spec.name)) continue;
    CheckCase& one = checked.cases.emplace_back();
    one.kind = spec.performance ? CaseKind::performance : CaseKind::result;
    one.name = spec.name;
    one.reason =
        "the baseline has no such metric: not every run of it had it, or it was not declared";
  }
}

/// A metric of the baseline as the runs have it.
struct Judged {
  const spec::BaselineMetric* metric = nullptr;
  compare::BaselineVerdict verdict{};
  spec::CaseFigures figures{};
};

/// Notes the pair of the first failed result, if the baseline's run may be available.
void note_explain(const BaselineEntry& entry,
                  const analysis::SampleGroup& group,
                  const std::vector<Judged>& judged,
                  CheckGroup& checked) {
  const compare::BaselineVerdict* failed = nullptr;
  for (std::size_t i = 0; i < judged.size() && failed == nullptr; ++i) {
    const CheckCase& one = checked.cases[i];
    if (one.kind == CaseKind::result && one.counts_as() == Verdict::fail)
      failed = &judged[i].verdict;
  }
  if (failed == nullptr || entry.runs.empty()) return;
  const auto run = std::ranges::find_if(group.runs, [&](const analysis::CheckSample& one) {
    return one.run.run_id == failed->failed_run;
  });
  if (run == group.runs.end()) return;
  // Without a compared value: a run of the same seed, else the newest.
  const spec::BaselineRun* reference = &entry.runs.back();
  for (const spec::BaselineRun& one : entry.runs) {
    if (one.seed == run->run.seed) reference = &one;
  }
  if (failed->failed_value) reference = &entry.runs[*failed->failed_value];
  if (reference->run_id == run->run.run_id) return;
  checked.notes.push_back(fmt::format("why: sabath explain {} {}, where the baseline's run is",
                                      reference->run_id,
                                      run->run.run_id));
}

/// Runs that are compared with themselves, or with what they copied, agree: that proves nothing.
void note_own_runs(const BaselineEntry& entry,
                   const analysis::SampleGroup& group,
                   CheckGroup& checked) {
  const auto own = std::ranges::count_if(group.runs, [&](const analysis::CheckSample& run) {
    return std::ranges::all_of(run.executed_by, [&](const std::string& id) {
      return std::ranges::find(entry.runs, id, &spec::BaselineRun::run_id) != entry.runs.end();
    });
  });
  if (own == 0) return;
  checked.notes.push_back(
      fmt::format("{} of {}: the baseline was made of {}, so that agreement proves nothing",
                  own,
                  base::counted(group.runs.size(), "run"),
                  own == 1 ? "it" : "these"));
}

std::vector<Judged> judge_each(const BaselineEntry& entry,
                               const analysis::SampleGroup& group,
                               const CheckRequest& request,
                               CheckGroup& checked) {
  const std::vector<analysis::GroupMetric> found = analysis::metrics_of(group);
  compare::BaselineTerms terms = terms_of(entry, group, request);
  std::vector<Judged> judged;
  for (const spec::BaselineMetric& metric : entry.metrics) {
    if (metric.performance ? !request.performance : !request.results) continue;
    if (metric.performance && metric.better == spec::Better::none) {
      checked.notes.push_back(metric.name + " is not judged: it has no 'better'");
      continue;
    }
    const auto declared = std::ranges::find(
        group.declared, analysis::bare_name(metric.name), &spec::MetricSpec::name);
    terms.tolerance = declared == group.declared.end() ? spec::Tolerance{} : declared->tolerance;
    terms.margin = declared == group.declared.end() ? std::nullopt : declared->margin;
    const compare::JudgedMetric values = values_of(metric, found, group);
    const compare::BaselineVerdict verdict = metric.performance
                                                 ? compare::judge_performance(metric, values, terms)
                                                 : compare::judge_result(metric, values, terms);
    judged.push_back({&metric, verdict, compare::figures_of(metric, values, terms, verdict)});
  }
  return judged;
}

void judge_against(const BaselineEntry& entry,
                   const analysis::SampleGroup& group,
                   const CheckRequest& request,
                   const catalog::Catalog& catalog,
                   CheckGroup& checked) {
  checked.against = against_text(entry);
  note_own_runs(entry, group, checked);
  note_facets(entry, group, checked);
  std::vector<Judged> judged = judge_each(entry, group, request, checked);
  std::vector<compare::BaselineVerdict*> verdicts;
  for (Judged& one : judged)
    verdicts.push_back(&one.verdict);
  compare::adjust_for_many(verdicts);
  for (Judged& found : judged) {
    CheckCase& one = checked.cases.emplace_back();
    one.kind = found.metric->performance ? CaseKind::performance : CaseKind::result;
    one.name = found.metric->name;
    one.judge = found.metric->judge;
    one.verdict = found.verdict.verdict;
    one.test = std::move(found.verdict.test);
    one.reason = std::move(found.verdict.reason);
    one.figures = std::move(found.figures);
    if (!found.verdict.note.empty()) checked.notes.push_back(one.name + ": " + found.verdict.note);
    expect(request, group.key, one);
  }
  note_explain(entry, group, judged, checked);
  if (request.results) analysis::judge_outputs(entry, group, request.require, catalog, checked);
  if (request.performance && entry.holds_for.device == spec::any_of_all)
    checked.notes.emplace_back("times are not judged: the baseline holds for any device");
  add_unknown_metrics(entry, group, request, checked);
}

CheckGroup check_group(const analysis::SampleGroup& group,
                       const CheckRequest& request,
                       const catalog::Catalog& catalog) {
  CheckGroup checked;
  checked.recipe = group.recipe;
  checked.of = group.key;
  for (const analysis::CheckSample& run : group.runs)
    checked.runs.push_back(run.run.run_id);
  if (!request.baseline) {
    checked.against = "one another";
    if (request.results) analysis::add_agreement(group, request.require, checked);
    if (request.performance) checked.notes.emplace_back("times are not judged without a baseline");
  } else if (const BaselineEntry* entry = home::accepted_for(*request.baseline, group.key)) {
    judge_against(*entry, group, request, catalog, checked);
  } else {
    checked.against = "nothing: the baseline has no entry for them";
    checked.cases.push_back(no_entry(*request.baseline, group.recipe, group.key));
  }
  for (const analysis::CheckSample& run : group.runs)
    checked.cases.push_back({CaseKind::run, run.run.run_id, Verdict::pass, "", "", {}, run.wall_s});
  return checked;
}

/// Adds runs that were not judged, by recipe.
void add_others(const analysis::CheckSamples& runs,
                const CheckRequest& request,
                spec::CheckReport& report) {
  const auto group_of = [&](const std::string& recipe) -> CheckGroup& {
    for (CheckGroup& group : report.groups) {
      if (group.recipe == recipe && group.runs.empty()) return group;
    }
    CheckGroup& group = report.groups.emplace_back();
    group.recipe = recipe;
    group.against = "nothing: these runs are not complete";
    return group;
  };
  for (const catalog::RunRow& row : runs.others)
    group_of(row.recipe).cases.push_back(analysis::incomplete_case(row));
  for (const std::string& what : request.not_run) {
    CheckCase one;
    one.kind = CaseKind::run;
    one.name = what;
    one.reason = "it has no run";
    group_of(runs.groups.empty() ? request.what : runs.groups.front().recipe)
        .cases.push_back(std::move(one));
  }
}

}  // namespace

std::optional<spec::CheckReport> refuse_before_runs(const std::string& recipe,
                                                    const std::vector<spec::BaselineKey>& asked,
                                                    const CheckRequest& request) {
  if (!request.baseline) return std::nullopt;
  spec::CheckReport report;
  report.what = request.what;
  report.baseline = request.file;
  report.notes.emplace_back("nothing was run");
  for (const spec::BaselineKey& key : asked) {
    for (const BaselineEntry& entry : request.baseline->entries) {
      if (entry.accepted && home::holds_for(entry.holds_for, home::completed(key, entry)))
        return std::nullopt;
    }
    CheckGroup& group = report.groups.emplace_back();
    group.recipe = recipe;
    group.of = key;
    group.against = "nothing: the baseline has no entry for them";
    group.cases = {no_entry(*request.baseline, recipe, key)};
  }
  analysis::conclude(report);
  return report;
}

spec::CheckReport check_runs(const std::vector<catalog::RunRow>& rows,
                             const CheckRequest& request,
                             const catalog::Catalog& catalog) {
  spec::CheckReport report;
  report.what = request.what;
  report.baseline = request.file;
  const analysis::CheckSamples runs = analysis::check_samples(rows, request.named, catalog);
  report.runs = runs.count;
  report.notes = runs.notes;
  for (const analysis::SampleGroup& group : runs.groups)
    report.groups.push_back(check_group(group, request, catalog));
  add_others(runs, request, report);
  analysis::conclude(report);
  return report;
}

}  // namespace sabath::app
