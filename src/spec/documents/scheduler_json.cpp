#include "amounts_json.hpp"
#include "checked_read.hpp"
#include "document_json.hpp"
#include "member_rules.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/scheduler.hpp>

#include <algorithm>

namespace sabath::spec {

namespace {

using base::JsonReader;

void check_pattern(const std::string& pattern,
                   const std::vector<std::string>& groups,
                   const JsonReader& reader) {
  if (const auto problem = base::Regex::problem_of(pattern)) {
    reader.problem("'" + pattern + "' is not a regular expression: " + *problem);
    return;
  }
  const base::Regex regex(pattern);
  for (const std::string& group : groups) {
    if (regex.groups_named(group).empty()) {
      reader.problem("has no group called '" + group + "'", "write it as (?<" + group + ">...)");
    }
  }
}

/// A pattern with groups of these names; `otherwise` where the member is missing.
std::string read_pattern(JsonReader reader,
                         const std::string& otherwise = {},
                         const std::vector<std::string>& groups = {}) {
  if (!reader.exists()) return otherwise;
  std::string pattern = reader.string();
  if (reader.is_string()) check_pattern(pattern, groups, reader);
  return pattern;
}

/// A pattern whose first group is what is looked for.
std::string read_finder(const JsonReader& reader) {
  std::string pattern = read_pattern(reader);
  const bool is_right = reader.exists() && !base::Regex::problem_of(pattern);
  if (is_right && base::Regex(pattern).group_count() < 1) {
    reader.problem("has no group that says what is looked for", "for example \"job ([0-9]+)\"");
  }
  return pattern;
}

std::vector<std::string> read_command(JsonReader reader, const KnownPlaceholders& known) {
  std::vector<std::string> command;
  for (JsonReader& item : reader.items()) {
    command.push_back(read_line(item));
    check_template(command.back(), known, item);
  }
  if (!reader.is_array()) return command;
  if (command.empty() || command.front().empty() || !placeholders_of(command.front()).empty()) {
    reader.problem("names no program");
  }
  return command;
}

/// Lines, or lists of alternatives for a line.
std::vector<Alternatives> read_lines(JsonReader reader, const KnownPlaceholders& known) {
  std::vector<Alternatives> lines;
  for (JsonReader& item : reader.items()) {
    std::vector<JsonReader> texts = item.is_array() ? item.items() : std::vector{item};
    Alternatives& line = lines.emplace_back();
    for (JsonReader& text : texts) {
      line.push_back(read_line(text));
      check_template(line.back(), known, text);
    }
  }
  return lines;
}

SchedulerSubmission read_submission(JsonReader reader) {
  const KnownPlaceholders known{job_placeholders(), {"request."}};
  SchedulerSubmission submit;
  submit.directive = read_line(reader.optional("directive"));
  submit.options = read_lines(reader.optional("options"), known);
  JsonReader run = reader.optional("run");
  if (run.exists()) submit.run = read_lines(run, known);
  submit.file = read_lines(reader.optional("file"), known);
  submit.command = read_command(reader.required("command"), known);
  submit.stdin_is_script = reader.optional("stdin").boolean();
  submit.id = read_finder(reader.required("id"));
  submit.transient = read_pattern(reader.optional("transient"));
  for (auto& [pattern, hint] : reader.optional("hints").members()) {
    check_pattern(pattern, {}, hint);
    submit.hints[pattern] = read_line(hint);
  }
  submit.words = read_pattern(reader.optional("words"), submit.words);
  for (auto& [resource, hint] : reader.optional("untold").members()) {
    check_by(resource_name, resource, hint);
    submit.untold[resource] = read_line(hint);
  }
  reader.finish();
  if (!submit.directive.empty() && !submit.file.empty()) {
    reader.problem("has both 'directive' and 'file'", "options stand in the one or in the other");
  }
  return submit;
}

SchedulerArrays read_arrays(JsonReader reader) {
  SchedulerArrays arrays;
  arrays.job = read_pattern(reader.optional("job"), arrays.job);
  JsonReader task = reader.required("task");
  arrays.task = read_line(task);
  KnownPlaceholders known{{"task", "task0"}, {}};
  if (!base::Regex::problem_of(arrays.job)) {
    for (int group = 1; group <= base::Regex(arrays.job).group_count(); ++group)
      known.names.push_back(std::to_string(group));
  }
  check_template(arrays.task, known, task);
  arrays.of_task = read_finder(reader.optional("of_task"));
  arrays.log = read_line(reader.required("log"));
  JsonReader largest = reader.optional("largest");
  if (largest.exists()) {
    arrays.largest = read_command(largest.required("command"), {{}, {"request."}});
    arrays.largest_is = read_finder(largest.required("find"));
    arrays.largest_beyond = read_count(largest.optional("beyond"), 0, 0);
    largest.finish();
  }
  reader.finish();
  return arrays;
}

std::vector<SchedulerQuestion> read_questions(JsonReader reader,
                                              const std::vector<std::string>& groups) {
  std::vector<SchedulerQuestion> questions;
  for (JsonReader& item : reader.items()) {
    SchedulerQuestion& question = questions.emplace_back();
    question.command =
        read_command(item.required("command"), {{"ids", "job", "comment", "user"}, {"request."}});
    question.rows = read_pattern(item.required("rows"), {}, groups);
    question.nothing = read_pattern(item.optional("nothing"));
    question.absent = read_pattern(item.optional("absent"));
    item.finish();
  }
  return questions;
}

std::map<std::string, JobPhase> read_states(JsonReader reader) {
  std::map<std::string, JobPhase> states;
  for (auto& [word, phase] : reader.members())
    states[word] = *parse_enum<JobPhase>(phase.one_of(enum_words<JobPhase>()));
  return states;
}

SchedulerNode read_node(JsonReader reader) {
  SchedulerNode node;
  node.job = read_line(reader.optional("job"));
  node.task_job = read_line(reader.optional("task_job"));
  node.index = read_line(reader.optional("index"));
  node.restarts = read_line(reader.optional("restarts"));
  node.nodes = read_line(reader.optional("nodes"));
  reader.finish();
  return node;
}

void read_cancel(SchedulerDescription& scheduler, JsonReader reader) {
  scheduler.cancel = read_command(reader.required("command"), {{"ids", "user"}, {"request."}});
  scheduler.gone = read_pattern(reader.optional("gone"));
  reader.finish();
}

/// What depends on each other in different members.
void check_whole(const SchedulerDescription& scheduler, const JsonReader& root) {
  if (scheduler.has_arrays() && scheduler.node.index.empty()) {
    root.problem("has arrays, but 'node' does not say where a job finds its 'index'");
  }
  if (scheduler.has_arrays() && scheduler.arrays.log.empty() && scheduler.knows("outputs")) {
    root.problem("files that come back need the index in their name: give 'arrays' a 'log'");
  }
  if (scheduler.poll.empty()) root.problem("'poll' asks nothing");
  const auto begins = [&](JobPhase phase) {
    return std::any_of(scheduler.states.begin(), scheduler.states.end(), [&](const auto& state) {
      return state.second == phase;
    });
  };
  // Not "done": jobs of some schedulers vanish when they have ended.
  for (const JobPhase phase : {JobPhase::pending, JobPhase::running}) {
    if (begins(phase)) continue;
    root.problem("no word of 'states' means '" + std::string(to_string(phase)) + "'");
  }
}

}  // namespace

SchedulerDescription parse_scheduler(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  JsonReader root = document.root();
  root.required("schema", schema_hint);
  SchedulerDescription scheduler;
  scheduler.name = read_file_name(origin, root, "scheduler");
  scheduler.description = read_line(root.required("description"));
  scheduler.timeout = read_length_of_time(root.optional("timeout")).value_or(scheduler.timeout);
  scheduler.patience = read_length_of_time(root.optional("patience")).value_or(scheduler.patience);
  scheduler.keep = read_distinct(root.optional("keep"));
  scheduler.submit = read_submission(root.required("submit"));
  scheduler.arrays = read_arrays(root.optional("arrays"));
  scheduler.poll = read_questions(root.required("poll"), {"id", "state"});
  scheduler.states = read_states(root.required("states"));
  for (auto& [word, reading] : root.optional("called").members())
    scheduler.called[word] = read_line(reading);
  scheduler.stuck = read_pattern(root.optional("stuck"));
  read_cancel(scheduler, root.required("cancel"));
  scheduler.find = read_questions(root.optional("find"), {"id"});
  scheduler.accounting = read_questions(root.optional("accounting"), {"id"});
  scheduler.rss_unit = root.optional("rss_unit").one_of({"KiB", "B", "MiB", "GiB"});
  scheduler.node = read_node(root.optional("node"));
  JsonReader prefix = root.optional("prefix");
  scheduler.prefix = read_line(prefix);
  check_template(
      scheduler.prefix,
      {{"nodes", "tasks", "tasks_per_node", "cpus", "gpus_per_task", "gpu_affinity"}, {}},
      prefix);
  check_whole(scheduler, root);
  root.finish();
  document.finish();
  return scheduler;
}

}  // namespace sabath::spec
