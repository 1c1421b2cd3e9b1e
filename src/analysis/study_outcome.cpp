#include <sabath/analysis/study_outcome.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/parallel.hpp>
#include <sabath/compare/session_differences.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <map>

namespace sabath::analysis {

namespace fs = std::filesystem;
using spec::RunState;

bool has_ended_well(spec::RunState state) {
  return state == spec::RunState::ok || state == spec::RunState::imported;
}

std::string why_not_counted(const RunStanding& run, bool hybrids, bool perturbed) {
  const spec::RunPurpose purpose = spec::purpose_of(run.tags);
  if (purpose == spec::RunPurpose::asset) return "only made an asset";
  if (!hybrids && purpose == spec::RunPurpose::explanation) return "made by explain";
  if (!perturbed && !run.perturbation.empty() && run.perturbation != "0") return "perturbed";
  // Last: a failed hybrid does not count as a failure of a requested run.
  if (has_ended_well(run.state)) return {};
  return run.retried ? "retried" : std::string(spec::to_string(run.state));
}

namespace {

/// Runs that executed what this one shows; itself where its record cannot be read.
std::set<std::string> executed_by(const fs::path& directory) {
  const fs::path file = home::RunFiles(directory).record();
  try {
    const auto text = base::read_file_if_exists(file);
    // Most records need no parsing.
    if (text && text->find("\"reused\"") != std::string::npos)
      return spec::executed_by(spec::parse_run_record(*text, file.string()));
  } catch (const base::Error&) {
    // A command that needs the record reports it.
  }
  return {directory.filename().string()};
}

}  // namespace

void mark_copies(const std::vector<Executed>& runs, std::vector<std::string>& reasons) {
  std::set<std::set<std::string>> seen;
  std::map<std::string, std::size_t> copies;  // oldest first
  for (std::size_t i = 0; i < runs.size(); ++i) {
    if (!reasons[i].empty()) continue;
    if (runs[i].by.contains(runs[i].run_id)) {
      seen.insert(runs[i].by);
    } else if (!runs[i].by.empty()) {
      copies.emplace(runs[i].run_id, i);
    }
  }
  for (const auto& [id, i] : copies) {
    if (!seen.insert(runs[i].by).second) reasons[i] = "copied from the cache";
  }
}

bool is_planned(const fs::path& run_directory) {
  std::error_code code;
  const home::RunFiles files(run_directory);
  return fs::exists(files.status(), code) || fs::exists(files.record(), code);
}

std::size_t StudyOutcome::count(RunState state) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      points, [&](const PointOutcome& point) { return point.run && point.run->state == state; }));
}

std::size_t StudyOutcome::open() const {
  return points.size() - count(RunState::ok) - count(RunState::failed) - count(RunState::stopped);
}

void PointOutcome::add(execution::RunOutcome one) {
  ++runs;
  // A run that is ok is what the point was for, whatever came after it.
  if (!run || run->state != RunState::ok) {
    if (run) retried.push_back(*std::move(run));
    run = std::move(one);
  } else if (one.state != RunState::ok) {
    retried.push_back(std::move(one));
  }
}

StudyOutcome look_at_study(const home::StudyFiles& files, const home::Folders& folders) {
  StudyOutcome outcome{files.read_plan(), files.directory(), {}, files.has_other_driver()};
  outcome.points.resize(outcome.plan.points.size());
  for (const home::StudyFiles::Run& run : files.runs()) {
    const fs::path directory = folders.run(run.run_id);
    if (run.point < outcome.points.size() && is_planned(directory))
      outcome.points[run.point].add(execution::look_at_run(directory));
  }
  return outcome;
}

std::size_t points_with_run(const home::StudyFiles& files, const home::Folders& folders) {
  std::set<std::size_t> points;
  for (const home::StudyFiles::Run& run : files.runs()) {
    if (is_planned(folders.run(run.run_id))) points.insert(run.point);
  }
  return points.size();
}

std::set<std::string> retried_runs(const home::StudyFiles& files, const home::Folders& folders) {
  std::map<std::size_t, std::vector<fs::path>> directories;
  for (const home::StudyFiles::Run& run : files.runs())
    directories[run.point].push_back(folders.run(run.run_id));
  std::set<std::string> retried;
  for (const auto& [number, of_point] : directories) {
    if (of_point.size() < 2) continue;
    PointOutcome point;
    for (const fs::path& directory : of_point) {
      if (is_planned(directory)) point.add(execution::look_at_run(directory));
    }
    for (const execution::RunOutcome& run : point.retried)
      retried.insert(run.run_id);
  }
  return retried;
}

std::vector<std::string> why_not_counted(const StudyOutcome& study) {
  const std::string perturbation = planning::perturbation_parameter("1ulp");
  std::vector<std::string> reasons;
  std::vector<fs::path> directories;  // empty: of a run that was retried
  for (std::size_t i = 0; i < study.points.size(); ++i) {
    const PointOutcome& point = study.points[i];
    if (!point.run) continue;
    const auto& set = study.plan.points[i].set;
    const auto perturbed = set.find(perturbation);
    RunStanding standing{point.run->state,
                         study.plan.tags,
                         perturbed == set.end() ? std::string() : perturbed->second};
    const std::size_t standing_runs = static_cast<std::size_t>(point.runs) - point.retried.size();
    reasons.insert(reasons.end(), standing_runs, why_not_counted(standing, false, false));
    directories.push_back(point.run->directory);
    standing.retried = true;
    for (const execution::RunOutcome& run : point.retried) {
      standing.state = run.state;
      reasons.push_back(why_not_counted(standing, false, false));
    }
    directories.resize(reasons.size());
  }
  std::vector<Executed> executed(directories.size());
  base::for_each_in_parallel(directories.size(), [&](std::size_t i) {
    if (reasons[i].empty() && !directories[i].empty())
      executed[i] = {directories[i].filename().string(), executed_by(directories[i])};
  });
  mark_copies(executed, reasons);
  return reasons;
}

}  // namespace sabath::analysis
