#include "scheduler_tools.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/file_end.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <iterator>
#include <set>

namespace sabath::launch {
namespace {

using base::Error;
using base::ErrorKind;
using base::ProcessEnd;
using base::ProcessResult;
using Ids = std::vector<std::string>;

constexpr std::uint64_t most_output = 64U << 20U;
/// Linux takes 128 KiB in one argument.
constexpr std::size_t most_id_bytes = 60'000;
/// Variables that any program needs. None of them holds options of a scheduler's tools.
bool is_kept_always(const std::string& name) {
  static const base::Form form(
      "(?s)HOME|USER|LOGNAME|SHELL|PATH|LANG|LC_.*|TZ|KRB5CCNAME|SSL_CERT_FILE|SSL_CERT_DIR|"
      "http_proxy|https_proxy|ftp_proxy|all_proxy|no_proxy|HTTP_PROXY|HTTPS_PROXY|NO_PROXY|"
      "ALL_PROXY|XDG_DATA_HOME|XDG_CACHE_HOME|XDG_CONFIG_HOME|SABATH_.*");
  return form.matches(name);
}

bool matches(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

base::Environment tools_environment(const base::Environment& environment,
                                    const std::vector<std::string>& keep) {
  base::Environment result;
  for (const auto& variable : environment) {
    if (is_kept_always(variable.first) ||
        std::ranges::any_of(
            keep, [&](const std::string& pattern) { return matches(variable.first, pattern); }))
      result.insert(variable);
  }
  return result;
}

bool names(const std::vector<std::string>& command, std::string_view placeholder) {
  return std::ranges::any_of(command, [&](const std::string& argument) {
    return argument.find(placeholder) != std::string::npos;
  });
}

/// Returns the position of the program behind "env NAME=VALUE ...".
std::size_t program_in(const std::vector<std::string>& argv) {
  if (argv.front() != "env") return 0;
  const auto program = std::find_if(argv.begin() + 1, argv.end(), [](const std::string& word) {
    return word.starts_with('-') || word.find('=') == std::string::npos;
  });
  const bool is_one = program != argv.end() && !program->starts_with('-');
  return is_one ? static_cast<std::size_t>(program - argv.begin()) : 0;
}

/// Splits ids into groups that fit into one call.
std::vector<Ids> chunks_of(const Ids& ids) {
  std::vector<Ids> chunks;
  std::size_t bytes = most_id_bytes;
  for (const std::string& id : ids) {
    if (bytes + id.size() + 1 > most_id_bytes) {
      chunks.emplace_back();
      bytes = 0;
    }
    bytes += id.size() + 1;
    chunks.back().push_back(id);
  }
  return chunks;
}

std::vector<Ids> calls_for(const spec::SchedulerQuestion& question,
                           const spec::SchedulerArrays& arrays,
                           const Ids& ids) {
  if (names(question.command, "{ids}")) return chunks_of(ids);
  if (!names(question.command, "{job}")) return {{}};
  std::set<std::string> jobs;
  for (const std::string& id : ids) {
    const auto job = arrays.of_task.empty() ? std::nullopt : acceptance_in(id, arrays.of_task, {});
    jobs.insert(job ? job->id : id);
  }
  std::vector<Ids> calls;
  for (const std::string& job : jobs)
    calls.push_back({job});
  return calls;
}

}  // namespace

std::vector<std::string> filled_command(const std::vector<std::string>& command,
                                        const std::vector<std::string>& ids,
                                        std::map<std::string, std::string> values) {
  for (const std::string& id : ids)
    values["ids"] += (values["ids"].empty() ? "" : ",") + id;
  if (!ids.empty()) values["job"] = ids.front();
  std::vector<std::string> argv;
  for (const std::string& argument : command) {
    if (argument == "{ids}") {
      argv.insert(argv.end(), ids.begin(), ids.end());
    } else {
      for (std::string& word : spec::filled({{argument}}, values))
        argv.push_back(std::move(word));
    }
  }
  return argv;
}

std::string all_output(const ProcessResult& result) {
  return result.errors + "\n" + result.output;
}

std::string last_words(const ProcessResult& result) {
  const std::string& text =
      result.errors.find_first_not_of(" \n") == std::string::npos ? result.output : result.errors;
  const std::string words = base::last_lines(text, 3, "; ");
  return words.empty() ? result.describe() : words;
}

SchedulerTools::SchedulerTools(spec::SchedulerDescription description,
                               spec::Site site,
                               base::ProcessRunner& processes,
                               const base::Environment& environment)
    : description_(std::move(description)),
      site_(std::move(site)),
      processes_(processes),
      environment_(tools_environment(environment, description_.keep)) {}

std::map<std::string, std::string> SchedulerTools::values() const {
  std::map<std::string, std::string> values{{"user", base::user_name()}};
  for (const auto& [name, value] : site_.request)
    values["request." + name] = value;
  return values;
}

std::string SchedulerTools::place_of(const std::vector<std::string>& argv) const {
  return description_.name + ": " + argv[program_in(argv)] + ": ";
}

ProcessResult SchedulerTools::run(const std::vector<std::string>& argv,
                                  const std::filesystem::path& input,
                                  const std::stop_token& stop) const {
  base::Command command;
  command.environment = environment_;
  // The variables are set here: the message of `env` for a missing program cannot be recognised.
  const auto program = argv.begin() + static_cast<std::ptrdiff_t>(program_in(argv));
  for (auto word = argv.begin(); word < program; ++word) {
    const std::size_t sign = word->find('=');
    if (sign != std::string::npos)
      (*command.environment)[word->substr(0, sign)] = word->substr(sign + 1);
  }
  command.argv.assign(program, argv.end());
  command.deadline = description_.timeout;
  command.capture_limit = most_output;
  command.grace = std::chrono::seconds(1);
  if (!input.empty()) command.input = base::read_file(input);
  ProcessResult result;
  try {
    result = processes_.run(command, stop);
  } catch (const Error& error) {
    throw Error(
        error.kind(),
        description_.name + ": " + error.what(),
        "on nodes where jobs of " + description_.name + " are submitted its tools are on PATH");
  }
  if (result.end == ProcessEnd::stopped) throw Error(ErrorKind::interrupted, "interrupted");
  return result;
}

ToolAnswer SchedulerTools::ask(const spec::SchedulerQuestion& question,
                               const std::vector<std::string>& ids,
                               const std::string& comment,
                               const std::stop_token& stop) const {
  ToolAnswer answer;
  auto values = this->values();
  if (!comment.empty()) values["comment"] = comment;
  for (const Ids& chunk : calls_for(question, description_.arrays, ids)) {
    ProcessResult result;
    const auto argv = filled_command(question.command, chunk, values);
    try {
      result = run(argv, {}, stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      answer.problem = error.what();
      answer.is_absent = true;
      return answer;
    }
    const std::string output = all_output(result);
    // A tool that was stopped at its deadline may have printed nothing for that reason.
    const bool knows_none = result.end == ProcessEnd::exited && says(output, question.nothing);
    if (!result.ok() && !knows_none) {
      answer.problem = place_of(argv) + last_words(result);
      answer.is_absent = says(output, question.absent);
      return answer;
    }
    if (!add_rows(answer.rows, result.output, question.rows)) {
      answer.problem = place_of(argv) + "its answer takes too many steps to be read with '" +
                       question.rows + "'";
      return answer;
    }
  }
  return answer;
}

void SchedulerTools::cancel(const std::vector<std::string>& ids,
                            const std::map<std::string, std::string>& values,
                            const std::stop_token& stop) const {
  Ids possible;
  std::ranges::copy_if(ids, std::back_inserter(possible), is_job_id);
  for (const Ids& chunk : chunks_of(possible)) {
    const auto argv = filled_command(description_.cancel, chunk, values);
    const ProcessResult result = run(argv, {}, stop);
    const std::string output = all_output(result);
    const bool may_pass = says(output, description_.submit.transient);
    if (result.ok() || (!may_pass && says(output, description_.gone))) continue;
    throw Error(ErrorKind::launch,
                place_of(argv) + last_words(result),
                may_pass ? "try again when it answers" : "");
  }
}

}  // namespace sabath::launch
