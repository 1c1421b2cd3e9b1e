#include <sabath/analysis/check_cases.hpp>
#include <sabath/analysis/compare_pair.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/baseline_verdict.hpp>
#include <sabath/home/run_files.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

namespace sabath::analysis {
namespace {

using spec::CaseKind;
using spec::CheckCase;
using spec::CheckGroup;
using spec::Verdict;

std::string where_apart(const spec::ItemComparison& item, const std::string& pair) {
  if (!item.structure.empty()) return pair + ": " + item.structure;
  if (!item.first_bitwise) return pair + ": they are not equal";
  const auto& first = item.first_tolerance ? item.first_tolerance : item.first_bitwise;
  return fmt::format(
      "{}: {} against {} at {}", pair, first->text_b(), first->text_a(), first->where);
}

/// A run, and the folder of the run of its seed that it is held against.
struct ReferencedRun {
  const CheckSample* run = nullptr;
  std::string reference_id{};
  std::string reference{};
};

struct FoundCase {
  CheckCase found{};
  std::optional<spec::Rung> rung{};  ///< the strongest that holds
};
using FoundCases = std::map<std::string, FoundCase>;

bool is_worse(const FoundCase& a, const FoundCase& b) {
  if (a.found.verdict != b.found.verdict) return spec::is_worse(a.found.verdict, b.found.verdict);
  return a.rung < b.rung;
}

/// Keeps the worst verdict, then the weakest rung.
void add_case(const FoundCase& one, FoundCases& cases) {
  const auto [known, is_new] = cases.try_emplace(one.found.name, one);
  if (!is_new && is_worse(one, known->second)) known->second = one;
}

/// The first difference; beyond the tolerance if there is one.
spec::CaseFigures figures_of(const spec::ItemComparison& item, spec::Rung required) {
  spec::CaseFigures figures;
  figures.limit = compare::rung_limit(required, item.tolerance);
  const auto& first = item.first_tolerance ? item.first_tolerance : item.first_bitwise;
  if (!first) {
    if (item.strongest) figures.difference = "0";
    return figures;
  }
  figures.baseline = first->text_a();
  figures.now = first->text_b();
  figures.difference = compare::difference_figure(first->a, first->b);
  return figures;
}

FoundCase case_of(const spec::ItemComparison& item,
                  const spec::Comparison& comparison,
                  const std::string& pair) {
  const spec::Rung required = comparison.required;
  FoundCase one{{}, item.strongest};
  one.found.name = item.name;
  one.found.test = to_string(required);
  one.found.figures = figures_of(item, required);
  if (item.strongest && *item.strongest >= required) {
    one.found.verdict = Verdict::pass;
    one.found.reason = *item.strongest == spec::Rung::bitwise
                           ? "equal to the bit"
                           : "equal within " + std::string(to_string(*item.strongest));
    return one;
  }
  const bool is_decided = !item.undecided || required == spec::Rung::bitwise;
  const bool fails = comparison.result == Verdict::fail && is_decided;
  one.found.verdict = fails ? Verdict::fail : Verdict::inconclusive;
  one.found.reason = is_decided ? where_apart(item, pair) : pair + ": " + *item.undecided;
  return one;
}

/// Adds the items of one pair, and the pair itself where they do not explain why it does not PASS.
/// Returns its verdict.
Verdict add_pair(const CheckedRun& a,
                 const CheckedRun& b,
                 const std::string& pair,
                 const std::optional<spec::Rung>& require,
                 FoundCases& cases,
                 std::set<std::string>& undeclared) {
  compare::Options options;
  options.require = require;
  const spec::Comparison comparison = compare_pair(a, b, options);
  for (std::string& name : compare::undeclared_differences(comparison))
    undeclared.insert(std::move(name));
  bool fails = false;
  for (const auto* items : {&comparison.metrics, &comparison.outputs}) {
    for (const spec::ItemComparison& item : *items) {
      if (!item.judged) continue;
      const FoundCase one = case_of(item, comparison, pair);
      add_case(one, cases);
      fails = fails || one.found.verdict == Verdict::fail;
    }
  }
  const bool is_told =
      comparison.result == Verdict::pass || (comparison.result == Verdict::fail && fails);
  if (is_told) return comparison.result;
  FoundCase one;
  one.found.name = pair;
  one.found.verdict = comparison.result;
  one.found.reason = comparison.reason;
  add_case(one, cases);
  return comparison.result;
}

/// Command that finds the cause for the first pair that disagrees.
std::string explain_note(const CheckSample& a,
                         const CheckSample& b,
                         const std::optional<spec::Rung>& require) {
  std::string text = "why: sabath explain " + a.run.run_id + " " + b.run.run_id;
  if (require) text += " --require " + std::string(to_string(*require));
  return text;
}

/// A file that was equal in one pair stands beside its arrays, which differed in another: these say
/// more, and none of them is better.
void drop_files_with_arrays(FoundCases& cases) {
  for (auto one = cases.begin(); one != cases.end();) {
    const auto arrays = cases.lower_bound(one->first + ":");
    const bool has_arrays = arrays != cases.end() && arrays->first.starts_with(one->first + ":");
    const bool is_told = has_arrays && one->second.found.verdict == Verdict::pass;
    one = is_told ? cases.erase(one) : std::next(one);
  }
}

CheckCase nothing_to_hold(const std::string& reason) {
  CheckCase one;
  one.name = "agreement";
  one.reason = reason;
  return one;
}

/// The runs whose seed a run of the baseline has that is in this home, with its files.
std::vector<ReferencedRun> referenced_runs(const spec::BaselineEntry& entry,
                                           const SampleGroup& group,
                                           const catalog::Catalog& catalog) {
  std::vector<ReferencedRun> found;
  for (const CheckSample& run : group.runs) {
    if (run.outputs.empty() || !run.run.seed) continue;
    for (const spec::BaselineRun& reference : entry.runs) {
      if (reference.seed != run.run.seed || reference.run_id == run.run.run_id) continue;
      const auto rows = catalog.select("id=" + reference.run_id, {});
      const bool is_here = rows.size() == 1 && rows.front().state == spec::RunState::ok &&
                           std::filesystem::exists(home::RunFiles(rows.front().directory).record());
      if (!is_here) continue;
      found.push_back({&run, reference.run_id, rows.front().directory});
      break;
    }
  }
  return found;
}

int order(const CheckCase& one) {
  int rank = one.kind == CaseKind::run ? 2 : static_cast<int>(one.kind) - 1;
  if (one.counts_as() == Verdict::pass) rank += 10;
  return rank;
}

bool goes_before(const CheckCase& a, const CheckCase& b) {
  const Verdict of_a = a.counts_as();
  const Verdict of_b = b.counts_as();
  if (of_a != of_b) return spec::is_worse(of_a, of_b);
  if (order(a) != order(b)) return order(a) < order(b);
  return false;
}

void worsen(std::optional<Verdict>& verdict, Verdict by) {
  if (!verdict || spec::is_worse(by, *verdict)) verdict = by;
}

/// Reason of the verdict of a group: its worst case.
std::string reason_of(const CheckGroup& group) {
  const CheckCase& worst = group.cases.front();
  if (group.verdict == Verdict::pass) {
    std::uint64_t judged = 0;
    for (const CheckCase& one : group.cases)
      judged += one.kind == CaseKind::run ? 0 : 1;
    return fmt::format("{} of {} run{} judged, all hold",
                       judged == 1 ? "one result" : std::to_string(judged) + " results",
                       group.runs.size(),
                       group.runs.size() == 1 ? "" : "s");
  }
  const auto same = std::count_if(group.cases.begin(), group.cases.end(), [&](const auto& one) {
    return one.counts_as() == group.verdict && one.kind == worst.kind;
  });
  std::string text = worst.name + ": " + worst.reason;
  if (same > 1)
    text += fmt::format(
        "; {} more {} {}", same - 1, same == 2 ? "is" : "are", to_string(group.verdict));
  return text;
}

void conclude(CheckGroup& group) {
  std::stable_sort(group.cases.begin(), group.cases.end(), goes_before);
  std::optional<Verdict> worst;
  for (const CheckCase& one : group.cases) {
    worsen(worst, one.counts_as());
    const bool is_bad_run = one.kind == CaseKind::run && one.verdict != Verdict::pass;
    if (one.kind == CaseKind::result || is_bad_run) worsen(group.result, one.counts_as());
    if (one.kind == CaseKind::performance) worsen(group.performance, one.counts_as());
  }
  if (worst == Verdict::pass && !group.result && !group.performance) {
    group.cases.insert(group.cases.begin(),
                       nothing_to_hold("there is nothing to judge: no declared metric"));
    worst = group.result = Verdict::inconclusive;
  }
  group.verdict = worst.value_or(Verdict::inconclusive);
  group.reason = group.cases.empty() ? "there is nothing to judge" : reason_of(group);
}

}  // namespace

void add_agreement(const SampleGroup& group,
                   std::optional<spec::Rung> require,
                   CheckGroup& checked) {
  std::map<std::optional<std::uint64_t>, std::vector<const CheckSample*>> by_seed;
  for (const CheckSample& run : group.runs)
    by_seed[run.run.seed].push_back(&run);
  FoundCases cases;
  std::set<std::string> undeclared;
  std::size_t alone = 0;
  bool is_explained = false;
  for (const auto& [seed, runs] : by_seed) {
    if (runs.size() == 1) {
      ++alone;
      continue;
    }
    const CheckedRun first(runs.front()->directory);
    for (std::size_t i = 1; i < runs.size(); ++i) {
      const std::string pair = runs[i]->run.run_id + " and " + runs.front()->run.run_id;
      const Verdict verdict =
          add_pair(first, CheckedRun(runs[i]->directory), pair, require, cases, undeclared);
      if (verdict != Verdict::fail || is_explained) continue;
      checked.notes.push_back(explain_note(*runs.front(), *runs[i], require));
      is_explained = true;
    }
  }
  drop_files_with_arrays(cases);
  for (auto& [name, one] : cases)
    checked.cases.push_back(std::move(one.found));
  if (!undeclared.empty())
    checked.notes.push_back(compare::undeclared_text({undeclared.begin(), undeclared.end()}));
  if (group.runs.size() == 1) {
    checked.cases.push_back(
        nothing_to_hold("there is one run and no baseline; --seed S --repeat 2 makes two of one "
                        "seed, --baseline FILE says what is accepted"));
  } else if (alone > 0) {
    checked.cases.push_back(
        nothing_to_hold(fmt::format("{} of {} runs have a seed of their own, and without a "
                                    "baseline nothing to be held against; --seed S "
                                    "gives them one",
                                    alone,
                                    group.runs.size())));
  }
}

namespace {

void add_output_agreement(const std::vector<ReferencedRun>& runs,
                          std::optional<spec::Rung> require,
                          CheckGroup& checked) {
  FoundCases cases;
  std::map<std::string, CheckedRun> references;
  for (const ReferencedRun& one : runs) {
    const auto reference = references.try_emplace(one.reference, one.reference).first;
    compare::Options options;
    options.require = require;
    const std::string pair = one.run->run.run_id + " and " + one.reference_id;
    const spec::Comparison comparison =
        compare_pair(reference->second, CheckedRun(one.run->directory), options);
    for (const spec::ItemComparison& item : comparison.outputs)
      if (item.judged) add_case(case_of(item, comparison, pair), cases);
  }
  drop_files_with_arrays(cases);
  for (auto& [name, one] : cases)
    checked.cases.push_back(std::move(one.found));
}

}  // namespace

void judge_outputs(const spec::BaselineEntry& entry,
                   const SampleGroup& group,
                   std::optional<spec::Rung> require,
                   const catalog::Catalog& catalog,
                   CheckGroup& checked) {
  std::set<std::string> names;
  for (const CheckSample& run : group.runs)
    names.insert(run.outputs.begin(), run.outputs.end());
  if (names.empty()) return;
  const bool has_rung = require || group.require || group.deterministic;
  const auto runs =
      has_rung ? referenced_runs(entry, group, catalog) : std::vector<ReferencedRun>{};
  add_output_agreement(runs, require, checked);
  const auto with_outputs = std::ranges::count_if(
      group.runs, [](const CheckSample& run) { return !run.outputs.empty(); });
  const auto left = static_cast<std::size_t>(with_outputs) - runs.size();
  if (left == 0) return;
  checked.notes.push_back(
      fmt::format("outputs of {} are not judged: {}; a baseline has metrics only{}",
                  base::counted(left, "run"),
                  base::printable(fmt::format("{}", fmt::join(names, ", "))),
                  has_rung ? ", and its run of the same seed is not in this home"
                           : "; --require RUNG compares them with its run of the same seed"));
}

CheckCase incomplete_case(const catalog::RunRow& row) {
  CheckCase one;
  one.kind = CaseKind::run;
  one.name = row.id;
  one.wall_s = row.wall_s;
  const bool is_bad = row.state == spec::RunState::failed || row.state == spec::RunState::stopped;
  one.verdict = is_bad ? Verdict::fail : Verdict::inconclusive;
  one.reason = fmt::format("the run is '{}'{}{}",
                           spec::to_string(row.state),
                           row.message.empty() ? "" : ": ",
                           row.message);
  if (is_bad) one.reason += "; 'sabath logs " + row.id + "' shows its output";
  if (row.state == spec::RunState::imported)
    one.reason += "; it came from a table, which proves nothing of what was run";
  return one;
}

void conclude(spec::CheckReport& report) {
  for (CheckGroup& group : report.groups)
    conclude(group);
  std::stable_sort(
      report.groups.begin(), report.groups.end(), [](const CheckGroup& a, const CheckGroup& b) {
        return spec::is_worse(a.verdict, b.verdict);
      });
  if (report.groups.empty()) return;
  report.verdict = report.groups.front().verdict;
  report.reason = report.groups.front().reason;
  if (report.groups.size() > 1) {
    const auto same =
        std::count_if(report.groups.begin(), report.groups.end(), [&](const CheckGroup& group) {
          return group.verdict == report.verdict;
        });
    const std::string& recipe = report.groups.front().recipe;
    const bool is_one = std::all_of(report.groups.begin(),
                                    report.groups.end(),
                                    [&](const auto& group) { return group.recipe == recipe; });
    report.reason += fmt::format(
        " ({} of {} groups of runs{})", same, report.groups.size(), is_one ? " of " + recipe : "");
  }
  for (const CheckGroup& group : report.groups) {
    if (group.result) worsen(report.result, *group.result);
    if (group.performance) worsen(report.performance, *group.performance);
  }
}

}  // namespace sabath::analysis
