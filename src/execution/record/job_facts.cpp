#include "job_facts.hpp"

#include <sabath/base/process/variables.hpp>
#include <sabath/base/text/numbers.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <fstream>
#include <string_view>

namespace sabath::execution {
namespace {

/// Variables of schedulers that tell which part of the machine the job got.
constexpr std::array telling{
    "_CPU_BIND",       "_CPUS_ON_NODE",  "_JOB_CPUS_PER_NODE", "_CPUS_PER_TASK", "_NTASKS",
    "_TASKS_PER_NODE", "_MEM_PER_NODE",  "_MEM_PER_CPU",       "_JOB_GPUS",      "_GPUS_ON_NODE",
    "_STEP_GPUS",      "_JOB_PARTITION", "_JOB_QOS",           "_CLUSTER_NAME",  "_JOB_RESERVATION",
    "_DISTRIBUTION",   "_QUEUE",         "_MCPU_HOSTS",        "_BINDING",       "_CPU_BIND_TYPE",
    "_CPU_BIND_LIST"};
constexpr std::array of_schedulers{"SLURM_", "PBS_", "LSB_", "SGE_", "FLUX_", "OAR_", "_CONDOR_"};
constexpr std::array of_devices{
    "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"};

int number_in(const std::string& text) {
  return std::max(base::leading_number<int>(text).value_or(0), 0);
}

bool tells(const std::string& name) {
  const auto begins = [&](const char* head) { return name.starts_with(head); };
  const auto ends = [&](const char* tail) { return name.ends_with(tail); };
  const auto is = [&](const char* device) { return name == device; };
  return (std::ranges::any_of(of_schedulers, begins) && std::ranges::any_of(telling, ends)) ||
         std::ranges::any_of(of_devices, is);
}

}  // namespace

std::optional<spec::JobFacts> job_of(const std::string& scheduler,
                                     const base::Environment& environment) {
  spec::JobFacts facts;
  facts.scheduler = scheduler;
  // Set by job scripts, from the description of the scheduler.
  facts.start.id = base::variable_of(environment, "SABATH_JOB_ID");
  facts.start.restarts = number_in(base::variable_of(environment, "SABATH_JOB_RESTARTS"));
  facts.nodes = base::variable_of(environment, "SABATH_JOB_NODES");
  if (facts.start.id.empty() && scheduler == "slurm") {
    const std::string array = base::variable_of(environment, "SLURM_ARRAY_JOB_ID");
    const std::string task = base::variable_of(environment, "SLURM_ARRAY_TASK_ID");
    facts.start.id =
        array.empty() ? base::variable_of(environment, "SLURM_JOB_ID") : array + "_" + task;
    facts.start.restarts = number_in(base::variable_of(environment, "SLURM_RESTART_COUNT"));
    facts.nodes = base::variable_of(environment, "SLURM_JOB_NODELIST");
  }
  if (facts.start.id.empty()) return std::nullopt;
  for (const auto& [name, value] : environment) {
    if (tells(name)) facts.variables[name] = value;
  }
  return facts;
}

bool is_nearly_over(const std::optional<std::chrono::seconds>& limit,
                    std::chrono::seconds warning,
                    base::WallTime now,
                    const base::Environment& environment) {
  using std::chrono::seconds;
  const std::string text = base::variable_of(environment, "SABATH_JOB_END");
  const std::int64_t over = base::number_in<std::int64_t>(text).value_or(0);
  if (!limit || over <= 0) return false;
  // Slurm may warn up to a minute early (sbatch(1), --signal). For a short job this is the warning
  // at most.
  const seconds early = std::min<seconds>(seconds(60), *limit / 3 + seconds(5));
  // In whole seconds: nanoseconds do not reach every end that a scheduler can give.
  return std::chrono::floor<seconds>(now) + std::min(warning, *limit / 2) + early >=
         std::chrono::sys_seconds(seconds(over));
}

bool counts_restarts(const std::optional<spec::JobFacts>& job,
                     const base::Environment& environment) {
  if (!base::variable_of(environment, "SABATH_JOB_RESTARTS").empty()) return true;
  // Slurm has a variable of its own for that, which is set only after a restart.
  return job && job->scheduler == "slurm" &&
         base::variable_of(environment, "SABATH_JOB_ID").empty();
}

std::map<std::string, std::string> launch_items(const spec::BatchPlan& batch) {
  std::map<std::string, std::string> items;
  const auto add = [&](const char* name, const auto& number) {
    std::string text;
    for (const spec::BatchStep& one : batch.steps)
      text += (text.empty() ? "" : "/") + std::to_string(number(one.resources));
    if (text.find_first_not_of("0/") != std::string::npos) items.emplace(name, text);
  };
  add("nodes", [](const auto& resources) { return resources.nodes.value_or(1); });
  add("tasks", [](const auto& resources) { return resources.tasks.value_or(1); });
  add("cpus", [](const auto& resources) { return resources.cpus; });
  add("gpus", [](const auto& resources) { return resources.gpus.value_or(0); });
  return items;
}

std::string cpus_allowed() {
  std::ifstream status("/proc/self/status");
  constexpr std::string_view key = "Cpus_allowed_list:";
  for (std::string line; std::getline(status, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t from = line.find_first_not_of(" \t", key.size());
    return from == std::string::npos ? std::string() : line.substr(from);
  }
  return {};
}

}  // namespace sabath::execution
