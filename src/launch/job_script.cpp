#include "job_script.hpp"

#include "scheduler_tools.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

namespace sabath::launch {
namespace {

using base::Error;
using base::ErrorKind;

using Passed = std::set<std::string>;
using Names = std::vector<std::string>;

const Names for_cpus{"cpus", "slots", "cpus_per_node", "cpus_per_gpu"};
const Names for_tasks{
    "tasks", "tasks_per_node", "tasks_each_node", "slots", "cpus_per_node", "cpus_per_gpu"};
const Names for_gpus{"gpus", "gpus_all", "gpus_per_task"};
const Names for_memory{
    "memory_b", "memory_kib", "memory_mib", "memory_gib", "memory_all_mib", "memory_per_slot_mib"};
const Names for_time{"time_s", "time_min", "time_hm", "time_hms"};

bool any(const Passed& passed, const Names& names) {
  return std::ranges::any_of(names, [&](const std::string& name) { return passed.contains(name); });
}

/// By their number, or by totals and numbers per node.
bool requests_nodes(const Passed& passed) {
  return passed.contains("nodes") ||
         (any(passed, {"slots", "tasks"}) &&
          any(passed, {"cpus_per_node", "tasks_per_node", "tasks_each_node"}));
}

/// A resource that the submission does not request.
struct Missing {
  std::string name{};
  std::string amount{};
};

std::vector<Missing> missing_of(const spec::Resources& wanted, const Passed& passed) {
  const int nodes = wanted.nodes.value_or(1);
  const int tasks = wanted.tasks.value_or(1);
  const int gpus = wanted.gpus.value_or(0);
  std::vector<Missing> missing;
  if (nodes > 1 && !requests_nodes(passed)) missing.push_back({"nodes", std::to_string(nodes)});
  if (tasks > 1 && !any(passed, for_tasks)) missing.push_back({"tasks", std::to_string(tasks)});
  if (wanted.cpus > 1 && !any(passed, for_cpus))
    missing.push_back({"cpus", std::to_string(wanted.cpus)});
  if (gpus > 0 && !any(passed, for_gpus)) missing.push_back({"gpus", std::to_string(gpus)});
  if (wanted.memory_bytes > 0 && !any(passed, for_memory))
    missing.push_back({"memory", base::format_bytes(wanted.memory_bytes)});
  if (wanted.time && !any(passed, for_time))
    missing.push_back({"time", base::format_duration(*wanted.time)});
  return missing;
}

/// Returns the placeholders that the rendered options of a submission pass to the scheduler.
Passed passed_placeholders(const spec::SchedulerDescription& scheduler,
                           const std::map<std::string, std::string>& values) {
  Passed passed;
  const spec::SchedulerSubmission& submit = scheduler.submit;
  if (!submit.directive.empty()) passed.merge(spec::told_by(submit.options, values));
  passed.merge(spec::told_by(submit.file, values));
  for (const std::string& argument : submit.command)
    passed.merge(spec::told_by({{argument}}, values));
  return passed;
}

/// Returns the number of cores that the scheduler is asked for by `passed`, or that the site
/// implies.
std::int64_t requested_slots(const spec::Site& site,
                             const spec::Resources& resources,
                             const Passed& passed) {
  Passed has = passed;
  for (const std::string& name : site.implied.value_or(Names{}))
    has.insert(name);
  const std::int64_t nodes = std::max(resources.nodes.value_or(1), 1);
  const std::int64_t tasks = std::max(resources.tasks.value_or(1), 1);
  const std::int64_t cpus = std::max(resources.cpus, 1);
  return (any(has, for_tasks) ? tasks : nodes) * (any(has, for_cpus) ? cpus : 1);
}

/// Throws Error{usage} for a wanted resource that neither `passed` nor the site covers.
void require_requested(const spec::SchedulerDescription& scheduler,
                       const spec::Site& site,
                       const spec::Resources& resources,
                       const Passed& passed) {
  const Names implied = site.implied.value_or(Names{});
  Names wanted;
  Names hints;
  Names names;
  for (const Missing& one : missing_of(resources, passed)) {
    if (std::ranges::find(implied, one.name) != implied.end()) continue;
    wanted.push_back(one.name + " (" + one.amount + ")");
    names.push_back('"' + one.name + '"');
    const auto hint = scheduler.submit.untold.find(one.name);
    const bool is_new = hint != scheduler.submit.untold.end() &&
                        std::ranges::find(hints, hint->second) == hints.end();
    if (is_new) hints.push_back(hint->second);
  }
  if (wanted.empty()) return;
  hints.push_back(
      fmt::format("if its jobs have that by default, add \"implied\": [{}] to the site's document",
                  fmt::join(names, ", ")));
  throw Error(
      ErrorKind::usage,
      fmt::format("site '{}': the job needs resources that submissions to {} do not request: {}",
                  site.name,
                  scheduler.name,
                  fmt::join(wanted, ", ")),
      fmt::format("{}", fmt::join(hints, "; ")));
}

constexpr std::string_view task_mark = "{task}";

std::string with_task(std::string text, std::string_view index) {
  for (auto at = text.find(task_mark); at != std::string::npos;
       at = text.find(task_mark, at + index.size())) {
    text.replace(at, task_mark.size(), index);
  }
  return text;
}

/// A scheduler without a placeholder for the index appends "-" and the index to the path.
std::string log_of_array(const std::string& log, const std::string& index) {
  constexpr std::string_view end = "-{task}";
  if (index.empty() && log.ends_with(end)) return log.substr(0, log.size() - end.size());
  return with_task(log, index);
}

std::string quoted(const std::string& text) {
  return base::quote_command({text});
}

/// Quotes an argument for the shell; the task becomes `index`, which is shell code.
std::string quoted_argument(const std::string& argument, const std::string& index) {
  std::string result;
  std::string_view rest = argument;
  for (auto at = rest.find(task_mark); at != std::string_view::npos; at = rest.find(task_mark)) {
    if (at > 0) result += quoted(std::string(rest.substr(0, at)));
    result += '"' + index + '"';
    rest.remove_prefix(at + task_mark.size());
  }
  if (!rest.empty() || argument.empty()) result += quoted(std::string(rest));
  return result;
}

/// Maps the path of a transferred input to the folder where the job starts.
std::string transferred_path(const std::string& argument,
                             const std::vector<std::filesystem::path>& inputs) {
  for (const std::filesystem::path& input : inputs) {
    const std::string from = input.string();
    if (!argument.starts_with(from)) continue;
    const std::string rest = argument.substr(from.size());
    if (rest.empty() || rest.front() == '/') return "./" + input.filename().string() + rest;
  }
  return argument;
}

/// Returns shell code for the index of the task.
std::string index_of_task(const spec::SchedulerDescription& scheduler, const BatchJob& job) {
  return job.tasks > 0 ? scheduler.node.index : "1";
}

std::string command_line(const spec::SchedulerDescription& scheduler, const BatchJob& job) {
  const std::string index = index_of_task(scheduler, job);
  const bool moves_files = scheduler.moves_files();
  std::string line;
  for (const std::string& argument : job.argv) {
    const std::string there = moves_files ? transferred_path(argument, job.inputs) : argument;
    line += (line.empty() ? "" : " ") + quoted_argument(there, index);
  }
  return line;
}

std::int64_t divided_up(std::int64_t number, std::int64_t by) {
  return (number + by - 1) / by;
}

constexpr std::int64_t kib = 1024;

void add_memory(Values& values, const spec::Resources& resources) {
  if (resources.memory_bytes == 0) return;
  const auto bytes = static_cast<std::int64_t>(resources.memory_bytes);
  values["memory_b"] = std::to_string(bytes);
  values["memory_kib"] = std::to_string(divided_up(bytes, kib));
  values["memory_mib"] = std::to_string(divided_up(bytes, kib * kib));
  values["memory_gib"] = std::to_string(divided_up(bytes, kib * kib * kib));
  const std::int64_t nodes = std::max(resources.nodes.value_or(1), 1);
  values["memory_all_mib"] = std::to_string(nodes * divided_up(bytes, kib * kib));
}

/// Sets the memory per slot once the requested slots are known; until then a preliminary value.
void share_memory(Values& values, const spec::Resources& resources, std::int64_t slots) {
  if (resources.memory_bytes == 0) return;
  const auto bytes = static_cast<std::int64_t>(resources.memory_bytes);
  values["memory_per_slot_mib"] =
      std::to_string(divided_up(bytes * resources.nodes.value_or(1), kib * kib * slots));
}

void add_machine(Values& values, const spec::Resources& resources) {
  const std::int64_t nodes = std::max(resources.nodes.value_or(1), 1);
  const std::int64_t tasks = std::max(resources.tasks.value_or(1), 1);
  const std::int64_t tasks_per_node = divided_up(tasks, nodes);
  const std::int64_t cpus = std::max(resources.cpus, 1);
  values["nodes"] = std::to_string(nodes);
  values["tasks"] = std::to_string(tasks);
  values["tasks_per_node"] = std::to_string(tasks_per_node);
  if (nodes > 1) values["scatter"] = "scatter";
  if (nodes > 1 && tasks % nodes == 0) values["tasks_each_node"] = std::to_string(tasks_per_node);
  if (resources.cpus > 0) values["cpus"] = std::to_string(cpus);
  values["cpus_per_node"] = std::to_string(cpus * tasks_per_node);
  values["slots"] = std::to_string(cpus * tasks);
  if (const std::int64_t gpus = resources.gpus.value_or(0); gpus > 0) {
    values["gpus"] = std::to_string(gpus);
    values["gpus_all"] = std::to_string(gpus * nodes);
    values["gpus_per_task"] = std::to_string(divided_up(gpus, tasks_per_node));
    values["cpus_per_gpu"] = std::to_string(divided_up(cpus * tasks_per_node, gpus));
  }
  add_memory(values, resources);
  share_memory(values, resources, cpus * tasks);
}

/// Returns true where the site places its jobs itself: PBS takes the first of two such lines, which
/// would be ours.
bool places_itself(const spec::Site& site) {
  return site.request.contains("select") ||
         std::ranges::any_of(site.options, [](const std::string& option) {
           return option.find("-l place=") != std::string::npos;
         });
}

void add_times(Values& values, const spec::Site& site, const spec::Resources& resources) {
  std::int64_t warning = site.warning.count();
  constexpr std::int64_t minute = 60;
  constexpr std::int64_t hour = 3600;
  if (resources.time) {
    const std::int64_t time = std::max<std::int64_t>(resources.time->count(), 1);
    warning = std::min(warning, time / 2);  // or a short job would be warned at its start
    const std::int64_t minutes = divided_up(time, minute);
    values["time_s"] = std::to_string(time);
    values["time_min"] = std::to_string(minutes);
    values["time_hm"] = fmt::format("{}:{:02}", minutes / minute, minutes % minute);
    values["time_hms"] =
        fmt::format("{}:{:02}:{:02}", time / hour, time % hour / minute, time % minute);
    values["time_before_warning_s"] = std::to_string(time - warning);
  }
  if (warning <= 0) return;
  values["warning_s"] = std::to_string(warning);
  values["warning_min"] = std::to_string(divided_up(warning, minute));
}

void add_array(Values& values,
               const spec::SchedulerDescription& scheduler,
               const spec::Site& site,
               const BatchJob& job) {
  if (!job.after.empty()) values["after"] = job.after;
  if (!job.after_any.empty()) {
    values["after_any"] = job.after_any;
    if (job.after_any_is_array) values["after_any_array"] = job.after_any;
  }
  if (job.tasks == 0) return;
  if (!scheduler.has_arrays()) {
    throw Error(ErrorKind::launch, scheduler.name + ": has no arrays of jobs");
  }
  values["last"] = std::to_string(job.tasks);
  if (site.at_once > 0) values["at_once"] = std::to_string(site.at_once);
  if (!job.after.empty()) values["after_tasks"] = job.after;
}

void add_inputs(Values& values, const BatchJob& job) {
  for (const auto& file : job.inputs)
    values["inputs"] += (values["inputs"].empty() ? "" : ",") + file.string();
}

/// Names in the folder where the job starts.
void add_outputs(Values& values, const BatchJob& job, std::string_view index) {
  std::string names;
  for (const auto& file : job.outputs)
    names += (names.empty() ? "" : ",") + with_task(file.string(), index);
  if (!names.empty()) values["outputs"] = names;
}

void add_requests(Values& values,
                  const spec::SchedulerDescription& scheduler,
                  const spec::Site& site) {
  const std::vector<std::string> known = scheduler.requests();
  for (const auto& [name, value] : site.request) {
    if (std::ranges::find(known, name) == known.end()) {
      throw Error(ErrorKind::usage,
                  "site '" + site.name + "': " + scheduler.name + " has no request '" + name + "'",
                  base::did_you_mean(
                      name, known, "use the site's \"options\" for other options of its manual"));
    }
    values["request." + name] = value;
  }
}

void check_words(const spec::SchedulerDescription& scheduler, const Values& values) {
  const base::Form form(scheduler.submit.words);
  for (const auto& [name, value] : values) {
    if (form.matches(value)) continue;
    std::string hint =
        "blanks, quotes and characters with a meaning to the scheduler are not possible";
    if (name.starts_with("request.")) {
      hint += "; the site's \"options\" are taken as they stand: write the whole line for " +
              scheduler.name + " there instead";
    }
    throw Error(ErrorKind::usage,
                scheduler.name + ": cannot pass '" + base::printable(value) + "' (" + name + ")",
                hint);
  }
}

/// Renders lines; one with "{option}" once for each option of the site. Without such a line the
/// options come last.
std::vector<std::string> lines_of(const std::vector<spec::Alternatives>& templates,
                                  const spec::Site& site,
                                  const Values& values) {
  std::vector<std::string> lines;
  bool placed = false;
  for (const spec::Alternatives& line : templates) {
    const bool is_options = !line.empty() && line.front().find("{option}") != std::string::npos;
    placed = placed || is_options;
    Values with = values;
    for (std::size_t i = 0; i < (is_options ? site.options.size() : 1); ++i) {
      if (is_options) with["option"] = site.options[i];
      for (std::string& text : spec::filled({line}, with))
        lines.push_back(std::move(text));
    }
  }
  if (!placed) lines.insert(lines.end(), site.options.begin(), site.options.end());
  return lines;
}

std::string job_variables(const spec::SchedulerNode& node, const BatchJob& job) {
  const std::array<std::pair<std::string_view, const std::string&>, 3> variables{{
      {"SABATH_JOB_ID", job.tasks > 0 ? node.task_job : node.job},
      {"SABATH_JOB_RESTARTS", node.restarts},
      {"SABATH_JOB_NODES", node.nodes},
  }};
  std::string text;
  for (const auto& [name, value] : variables) {
    if (!value.empty()) text += fmt::format("export {}=\"{}\"\n", name, value);
  }
  return text;
}

/// Returns the site's lines. The job continues where one fails, and reads of it in
/// SABATH_JOB_SETUP. A file that a line reads is its own affair: there, a command may fail as a
/// question.
std::string setup_lines(const std::vector<std::string>& setup) {
  if (setup.empty()) return {};
  std::string text =
      "unset SABATH_JOB_SETUP\n"
      "trap 'sabath_status=$?; [ -z \"${sabath_line:-}\" ] || "
      "[ ${#BASH_SOURCE[@]} -gt $sabath_depth ] || "
      "export SABATH_JOB_SETUP=\"${SABATH_JOB_SETUP:+$SABATH_JOB_SETUP, }line "
      "$((LINENO - sabath_line)) ended with status $sabath_status\"' ERR\n"
      "sabath_depth=${#BASH_SOURCE[@]}\n"
      "sabath_line=$LINENO\n";
  for (const std::string& line : setup)
    text += line + "\n";
  return text + "unset sabath_line\n";
}

/// Some schedulers hold a job whose output is missing, without a reason.
std::string output_folders(const spec::SchedulerDescription& scheduler, const BatchJob& job) {
  std::string text;
  if (!scheduler.moves_files()) return text;
  for (const std::filesystem::path& folder : job.outputs)
    text += "mkdir -p " + quoted_argument(folder.string(), index_of_task(scheduler, job)) + "\n";
  return text;
}

}  // namespace

std::filesystem::path submit_file_of(const BatchJob& job) {
  std::filesystem::path path = job.script;
  return path.replace_extension(".submit");
}

Values values_of(const spec::SchedulerDescription& scheduler,
                 const spec::Site& site,
                 const BatchJob& job) {
  Values values{{"name", job.name},
                {"comment", job.comment},
                {"script", job.script.string()},
                {"directory", job.script.parent_path().string()},
                {"log", with_task(job.log.string(), "1")}};
  if (!scheduler.submit.file.empty()) values["file"] = submit_file_of(job).string();
  if (!job.after.empty() && !scheduler.has_dependencies()) {
    throw Error(ErrorKind::launch, scheduler.name + ": a job cannot wait for another");
  }
  if (!job.after_any.empty() && !scheduler.knows("after_any")) {
    throw Error(ErrorKind::launch, scheduler.name + ": a job cannot wait for the end of another");
  }
  add_machine(values, job.resources);
  add_times(values, site, job.resources);
  add_array(values, scheduler, site, job);
  add_requests(values, scheduler, site);
  if (places_itself(site)) values.erase("scatter");
  add_inputs(values, job);
  add_outputs(values, job, "1");
  const auto passed = passed_placeholders(scheduler, values);
  require_requested(scheduler, site, job.resources, passed);
  share_memory(values, job.resources, requested_slots(site, job.resources, passed));
  check_words(scheduler, values);
  if (job.tasks > 0) {
    values["log"] = log_of_array(job.log.string(), scheduler.arrays.log);
    add_outputs(values, job, scheduler.arrays.log);
  }
  values["command"] = command_line(scheduler, job);
  return values;
}

std::string job_script(const spec::SchedulerDescription& scheduler,
                       const spec::Site& site,
                       const BatchJob& job,
                       const Values& values) {
  // A login shell knows "module"; without setup its start-up files are not needed.
  std::string text = site.setup.empty() ? "#!/bin/bash\n" : "#!/bin/bash -l\n";
  const auto submitted = filled_command(scheduler.submit.command, {}, values);
  text += "# " + job.name +
          ", written by sabath and submitted with: " + base::shown_command(submitted) +
          (scheduler.submit.stdin_is_script ? " < " + quoted(job.script.string()) : "") + "\n";
  if (!scheduler.submit.directive.empty()) {
    for (const std::string& line : lines_of(scheduler.submit.options, site, values))
      text += scheduler.submit.directive + line + "\n";
  }
  text += "\n";
  if (job.resources.time) {
    // Before the setup: it is part of the job's time.
    text += fmt::format("export SABATH_JOB_END=\"$(($(date +%s) + {}))\"\n",
                        job.resources.time->count());
  }
  text += output_folders(scheduler, job);
  for (const auto& [name, value] : site.variables)
    text += "export " + name + "=" + quoted(value) + "\n";
  text += setup_lines(site.setup) + job_variables(scheduler.node, job);
  for (const std::string& line : spec::filled(scheduler.submit.run, values))
    text += line + "\n";
  return text;
}

std::string submit_file(const spec::SchedulerDescription& scheduler,
                        const spec::Site& site,
                        const Values& values) {
  std::string text;
  for (const std::string& line : lines_of(scheduler.submit.file, site, values))
    text += line + "\n";
  return text;
}

}  // namespace sabath::launch
