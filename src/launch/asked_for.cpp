#include "asked_for.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/launch/scheduler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

namespace sabath::launch {
namespace {

using Told = std::set<std::string>;
using Names = std::vector<std::string>;

const Names for_cpus{"cpus", "slots", "cpus_per_node", "cpus_per_gpu"};
const Names for_tasks{
    "tasks", "tasks_per_node", "tasks_each_node", "slots", "cpus_per_node", "cpus_per_gpu"};
const Names for_gpus{"gpus", "gpus_all", "gpus_per_task"};
const Names for_memory{
    "memory_b", "memory_kib", "memory_mib", "memory_gib", "memory_all_mib", "memory_per_slot_mib"};
const Names for_time{"time_s", "time_min", "time_hm", "time_hms"};

bool any(const Told& told, const Names& names) {
  return std::any_of(
      names.begin(), names.end(), [&](const std::string& name) { return told.contains(name); });
}

/// By their number, or by what there is in all and on each.
bool tells_nodes(const Told& told) {
  return told.contains("nodes") ||
         (any(told, {"slots", "tasks"}) &&
          any(told, {"cpus_per_node", "tasks_per_node", "tasks_each_node"}));
}

/// A resource by its key, and what the job would not be asked for.
struct Untold {
  std::string name{};
  std::string amount{};
};

std::vector<Untold> untold_of(const spec::Resources& wanted, const Told& told) {
  const int nodes = wanted.nodes.value_or(1);
  const int tasks = wanted.tasks.value_or(1);
  const int gpus = wanted.gpus.value_or(0);
  std::vector<Untold> untold;
  if (nodes > 1 && !tells_nodes(told)) untold.push_back({"nodes", std::to_string(nodes)});
  if (tasks > 1 && !any(told, for_tasks)) untold.push_back({"tasks", std::to_string(tasks)});
  if (wanted.cpus > 1 && !any(told, for_cpus))
    untold.push_back({"cpus", std::to_string(wanted.cpus)});
  if (gpus > 0 && !any(told, for_gpus)) untold.push_back({"gpus", std::to_string(gpus)});
  if (wanted.memory_bytes > 0 && !any(told, for_memory))
    untold.push_back({"memory", base::format_bytes(wanted.memory_bytes)});
  if (wanted.time && !any(told, for_time))
    untold.push_back({"time", base::format_duration(*wanted.time)});
  return untold;
}

}  // namespace

Told told_options(const spec::SchedulerDescription& scheduler,
                  const std::map<std::string, std::string>& values) {
  Told told;
  const spec::SchedulerSubmission& submit = scheduler.submit;
  if (!submit.directive.empty()) told.merge(spec::told_by(submit.options, values));
  told.merge(spec::told_by(submit.file, values));
  for (const std::string& argument : submit.command)
    told.merge(spec::told_by({{argument}}, values));
  return told;
}

std::int64_t asked_slots(const spec::Site& site,
                         const spec::Resources& resources,
                         const Told& told) {
  Told has = told;
  for (const std::string& name : site.implied.value_or(Names{}))
    has.insert(name);
  const std::int64_t nodes = std::max(resources.nodes.value_or(1), 1);
  const std::int64_t tasks = std::max(resources.tasks.value_or(1), 1);
  const std::int64_t cpus = std::max(resources.cpus, 1);
  return (any(has, for_tasks) ? tasks : nodes) * (any(has, for_cpus) ? cpus : 1);
}

void check_told(const spec::SchedulerDescription& scheduler,
                const spec::Site& site,
                const spec::Resources& resources,
                const Told& told) {
  const Names implied = site.implied.value_or(Names{});
  Names wanted;
  Names hints;
  Names names;
  for (const Untold& one : untold_of(resources, told)) {
    if (std::find(implied.begin(), implied.end(), one.name) != implied.end()) continue;
    wanted.push_back(one.name + " (" + one.amount + ")");
    names.push_back('"' + one.name + '"');
    const auto hint = scheduler.submit.untold.find(one.name);
    const bool is_new = hint != scheduler.submit.untold.end() &&
                        std::find(hints.begin(), hints.end(), hint->second) == hints.end();
    if (is_new) hints.push_back(hint->second);
  }
  if (wanted.empty()) return;
  hints.push_back(
      fmt::format("\"implied\": [{}] in the site's document says that its jobs have that without "
                  "being asked for it",
                  fmt::join(names, ", ")));
  throw base::Error(base::ErrorKind::usage,
                    fmt::format("site '{}': {} would not be asked for what the job wants: {}",
                                site.name,
                                scheduler.name,
                                fmt::join(wanted, ", ")),
                    fmt::format("{}", fmt::join(hints, "; ")));
}

}  // namespace sabath::launch
