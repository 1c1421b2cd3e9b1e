#include <sabath/app/batch_files.hpp>
#include <sabath/app/run_accounting.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/json_reader.hpp>

#include <nlohmann/json.hpp>

#include <map>

namespace sabath::app {
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

void keep_for_batch(const fs::path& directory,
                    const std::vector<const WatchedRun*>& runs,
                    const SchedulerOf& scheduler_of,
                    const std::stop_token& stop) {
  const BatchFiles files(directory);
  const spec::BatchPlan plan = files.read_plan();
  const auto jobs = files.read_jobs();
  if (!jobs || plan.pack > 1) return;
  launch::Scheduler& scheduler = scheduler_of(plan.site);
  if (scheduler.description().accounting.empty()) return;
  std::map<std::string, const WatchedRun*> by_task;
  std::vector<std::string> tasks;
  for (const WatchedRun* run : runs) {
    const std::string& job = jobs->jobs.back();
    const std::string task =
        plan.is_array() ? scheduler.task_id(job, plan.task_of(run->run_id)) : job;
    by_task[task] = run;
    tasks.push_back(task);
  }
  for (const auto& [task, use] : scheduler.accounting(tasks, stop)) {
    const auto run = by_task.find(task);
    const bool tells = use.elapsed_s || use.max_rss_bytes || use.energy_j;
    if (run == by_task.end() || !tells) continue;
    write_accounting(run->second->directory, {plan.site.scheduler, task, use});
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
                     const SchedulerOf& scheduler_of,
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
      keep_for_batch(directory, members, scheduler_of, stop);
    } catch (const base::Error& error) {
      if (error.kind() == base::ErrorKind::interrupted) return;
      observer.warn(error.what(), error.hint());  // the runs are recorded all the same
    }
  }
}

}  // namespace sabath::app
