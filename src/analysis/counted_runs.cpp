#include "session_levels.hpp"

#include <sabath/analysis/counted_runs.hpp>
#include <sabath/analysis/study_outcome.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/planning/expand_study.hpp>

#include <algorithm>
#include <map>
#include <sstream>

namespace sabath::analysis {
namespace {

using catalog::RunRow;

std::vector<std::string> perturbation_keys() {
  const std::string name = planning::perturbation_parameter("1ulp");
  return {name, "param." + name};
}

bool is_perturbation(std::string_view key) {
  const std::vector<std::string> keys = perturbation_keys();
  return std::ranges::find(keys, key) != keys.end();
}

/// Retried runs of studies with failed runs here. Other studies are not read.
std::set<std::string> retried_among(const std::vector<RunRow>& runs) {
  std::set<std::string> retried;
  std::set<std::string> seen;
  for (const RunRow& run : runs) {
    const bool is_asked = !has_ended_well(run.state) && base::is_safe_name(run.study);
    if (!is_asked || !seen.insert(run.study).second) continue;
    home::Folders folders;
    folders.home = std::filesystem::path(run.directory).parent_path().parent_path();
    try {
      retried.merge(retried_runs(home::StudyFiles(folders.studies() / run.study), folders));
    } catch (const base::Error&) {
      continue;  // what cannot be read says nothing of other runs
    }
  }
  return retried;
}

/// Leaves out runs with unknown values: a group of them would look equal.
void add_unknown(const std::vector<RunRow>& runs,
                 const std::string& variable,
                 std::vector<std::string>& reasons) {
  const auto levels = session_levels(runs, variable);
  if (!levels) return;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reasons[i].empty() || levels->why_unknown[i].empty()) continue;
    reasons[i] =
        "session." + base::printable(variable) + " is unknown (" + levels->why_unknown[i] + ")";
  }
}

bool is_copy(const RunRow& run) {
  return !run.executed_by.empty();
}

}  // namespace

void NamedRuns::add_selection(std::string_view selection,
                              const std::vector<RunRow>& found,
                              const catalog::Catalog& catalog) {
  if (selection.empty()) return;
  const catalog::SelectionParts parts = catalog.parts_of(selection);
  if (parts.is_one_run) {
    for (const RunRow& run : found)
      ids.insert(run.id);
  }
  for (const catalog::SelectionTerm& term : parts.terms) {
    const bool is_tag = term.key == "tag" &&
                        (term.value.starts_with("hybrid-") || term.value.starts_with("explain"));
    hybrids = hybrids || (is_tag && term.comparison == catalog::Comparison::equal);
    perturbed = perturbed || is_perturbation(term.key);
  }
}

NamedRuns NamedRuns::with_keys(const std::vector<std::string>& by,
                               const std::set<std::string>& across) const {
  NamedRuns named = *this;
  named.perturbed = perturbed || std::ranges::any_of(by, is_perturbation) ||
                    std::ranges::any_of(across, is_perturbation);
  for (const std::string& key : by) {
    if (auto variable = session_variable_of(key)) named.session.insert(*std::move(variable));
  }
  return named;
}

std::vector<std::string> why_not_counted(const std::vector<RunRow>& runs,
                                         const NamedRuns& named,
                                         const catalog::Catalog& catalog) {
  const auto perturbations = catalog.values_of(runs, perturbation_keys().back());
  const std::set<std::string> retried = retried_among(runs);
  std::vector<std::string> reasons;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const RunRow& run = runs[i];
    const bool is_named = named.ids.contains(run.id);
    reasons.push_back(why_not_counted({run.state,
                                       run.tags,
                                       perturbations ? (*perturbations)[i] : std::string(),
                                       !is_named && retried.contains(run.id)},
                                      is_named || named.hybrids,
                                      is_named || named.perturbed));
  }
  for (const std::string& variable : named.session)
    add_unknown(runs, variable, reasons);
  if (std::ranges::none_of(runs, is_copy)) return reasons;
  std::vector<Executed> executed;
  for (const RunRow& run : runs) {
    Executed& one = executed.emplace_back(Executed{run.id, {}});
    std::istringstream ids(run.executed_by.empty() ? run.id : run.executed_by);
    for (std::string id; ids >> id;)
      one.by.insert(id);
  }
  mark_copies(executed, reasons);
  return reasons;
}

std::vector<std::string> why_not_counted_of(const std::vector<RunRow>& some,
                                            std::string_view selection,
                                            base::WallTime now,
                                            const NamedRuns& named,
                                            const catalog::Catalog& catalog) {
  std::vector<std::string> reasons = why_not_counted(some, named, catalog);
  if (std::ranges::none_of(some, is_copy)) return reasons;
  const std::vector<RunRow> all = catalog.select(selection, now);
  const std::vector<std::string> of_all = why_not_counted(all, named, catalog);
  std::map<std::string_view, std::string> by_id;
  for (std::size_t i = 0; i < all.size(); ++i)
    by_id.emplace(all[i].id, of_all[i]);
  for (std::size_t i = 0; i < some.size(); ++i)
    reasons[i] = by_id[some[i].id];
  return reasons;
}

spec::RunCount count_selection(std::string_view selection,
                               base::WallTime now,
                               const NamedRuns& named,
                               const catalog::Catalog& catalog) {
  const catalog::RunCounts found = catalog.count_runs(selection, now, perturbation_keys().front());
  // Which of the copies of an execution counts, depends on all runs.
  if (!named.session.empty() || std::ranges::any_of(found.doubtful, is_copy))
    return spec::count_runs(why_not_counted(catalog.select(selection, now), named, catalog));
  spec::RunCount count = spec::count_runs(why_not_counted(found.doubtful, named, catalog));
  count.counted += found.all - count.all;
  count.all = found.all;
  return count;
}

std::vector<RunRow> counted_runs(const std::vector<RunRow>& runs,
                                 const NamedRuns& named,
                                 const catalog::Catalog& catalog) {
  const std::vector<std::string> reasons = why_not_counted(runs, named, catalog);
  std::vector<RunRow> counted;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (reasons[i].empty()) counted.push_back(runs[i]);
  }
  return counted;
}

}  // namespace sabath::analysis
