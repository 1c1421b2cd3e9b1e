#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/batch/run_accounting.hpp>
#include <sabath/home/batch_files.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/run_record.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

namespace sabath::batch {
namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

constexpr const char* file_name = "accounting.json";

void write_accounting(const fs::path& run_directory, const RunAccounting& accounting) {
  ordered_json json = {{"schema", 1}, {"scheduler", accounting.scheduler}, {"job", accounting.job}};
  const launch::JobUse& use = accounting.use;
  if (use.elapsed_s) json["elapsed_s"] = *use.elapsed_s;
  if (use.max_rss_bytes) json["max_rss_bytes"] = *use.max_rss_bytes;
  if (use.energy_j) json["energy_j"] = *use.energy_j;
  if (!use.nodes.empty()) json["nodes"] = use.nodes;
  base::write_file_atomically(
      run_directory / file_name, base::pretty_json(json), base::Durability::ordered_only);
}

/// A group of tasks for each run: one for each step that it reached.
std::vector<std::string> tasks_of(const WatchedRun& run,
                                  const spec::BatchPlan& plan,
                                  const spec::BatchJobs& jobs,
                                  const launch::Scheduler& scheduler) {
  std::size_t steps = jobs.jobs.size();
  if (steps > 1) {
    // A run that failed earlier has no job of later steps with any usage.
    const auto record = home::RunFiles(run.directory).read_record();
    if (record && record->jobs && !record->jobs->empty())
      steps = std::min(steps, record->jobs->back().start.step);
  }
  std::vector<std::string> tasks;
  for (std::size_t step = 0; step < steps; ++step) {
    const std::string& job = jobs.jobs[step];
    tasks.push_back(plan.is_array() ? scheduler.task_id(job, plan.task_of(run.run_id)) : job);
  }
  return tasks;
}

template <class T>
void add_to(std::optional<T>& sum, const std::optional<T>& other) {
  if (other) sum = sum.value_or(T{}) + *other;
}

/// Adds steps in sequence. Returns nothing while one of them is not accounted for.
std::optional<launch::JobUse> use_of_all(const std::vector<std::string>& tasks,
                                         const std::map<std::string, launch::JobUse>& uses) {
  std::optional<launch::JobUse> all;
  for (const std::string& task : tasks) {
    const auto one = uses.find(task);
    if (one == uses.end()) return std::nullopt;
    if (!all) {
      all = one->second;
      continue;
    }
    add_to(all->elapsed_s, one->second.elapsed_s);
    add_to(all->energy_j, one->second.energy_j);
    all->max_rss_bytes = std::max(all->max_rss_bytes, one->second.max_rss_bytes);
    const std::string& nodes = one->second.nodes;
    if (nodes != all->nodes && !nodes.empty())
      all->nodes += (all->nodes.empty() ? "" : ",") + nodes;
  }
  return all;
}

void keep_for_batch(const fs::path& directory,
                    const std::vector<const WatchedRun*>& runs,
                    const MonitorOf& monitor_of,
                    const std::stop_token& stop) {
  const home::BatchFiles files(directory);
  if (!files.is_written()) return;
  const spec::BatchPlan plan = files.read_plan();
  const auto jobs = files.read_jobs();
  if (!jobs || jobs->jobs.empty() || plan.pack > 1) return;
  SchedulerMonitor& monitor = monitor_of(plan.site);
  if (monitor.scheduler().description().accounting.empty()) return;
  std::vector<std::vector<std::string>> groups;
  for (const WatchedRun* run : runs)
    groups.push_back(tasks_of(*run, plan, *jobs, monitor.scheduler()));
  const auto uses = monitor.accounting(groups, stop);
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto use = use_of_all(groups[i], uses);
    const bool tells = use && (use->elapsed_s || use->max_rss_bytes || use->energy_j);
    if (tells) write_accounting(runs[i]->directory, {plan.site.scheduler, groups[i].back(), *use});
  }
}

}  // namespace

std::optional<RunAccounting> read_accounting(const fs::path& run_directory) {
  const fs::path file = run_directory / file_name;
  const auto text = base::read_file_if_exists(file);
  if (!text) return std::nullopt;
  RunAccounting accounting;
  try {
    const auto json = nlohmann::json::parse(*text);
    accounting.scheduler = json.at("scheduler").get<std::string>();
    accounting.job = json.at("job").get<std::string>();
    accounting.use.nodes = json.value("nodes", "");
    if (json.contains("elapsed_s")) accounting.use.elapsed_s = json["elapsed_s"].get<double>();
    if (json.contains("energy_j")) accounting.use.energy_j = json["energy_j"].get<double>();
    if (json.contains("max_rss_bytes"))
      accounting.use.max_rss_bytes = json["max_rss_bytes"].get<std::uint64_t>();
  } catch (const nlohmann::json::exception& error) {
    throw base::Error(base::ErrorKind::usage, file.string() + ": " + error.what());
  }
  return accounting;
}

void keep_accounting(const std::vector<WatchedRun>& runs,
                     const MonitorOf& monitor_of,
                     base::Observer& observer,
                     const std::stop_token& stop) {
  std::map<fs::path, std::vector<const WatchedRun*>> batches;
  for (const WatchedRun& run : runs) {
    std::error_code code;
    const bool wants = !run.batch.empty() && spec::is_final(run.state) &&
                       !fs::exists(run.directory / file_name, code);
    if (wants) batches[run.batch].push_back(&run);
  }
  for (const auto& [directory, members] : batches) {
    try {
      keep_for_batch(directory, members, monitor_of, stop);
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) return;
      observer.warn(error.what(), error.hint());  // the runs are recorded all the same
    }
  }
}

}  // namespace sabath::batch
