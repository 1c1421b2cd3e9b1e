#include "job_script.hpp"
#include "scheduler_answers.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/launch/scheduler.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <condition_variable>
#include <mutex>
#include <set>

namespace sabath::launch {
namespace {

using base::Error;
using base::ErrorKind;
using base::ProcessEnd;
using base::ProcessResult;

constexpr std::uint64_t most_output = 64U << 20U;
/// Linux takes 128 KiB in one argument.
constexpr std::size_t most_id_bytes = 60'000;
/// What any program needs; nothing by which tools of schedulers take options.
constexpr std::array<std::string_view, 24> kept_variables{"HOME",
                                                          "USER",
                                                          "LOGNAME",
                                                          "SHELL",
                                                          "PATH",
                                                          "LANG",
                                                          "LC_*",
                                                          "TZ",
                                                          "KRB5CCNAME",
                                                          "SSL_CERT_FILE",
                                                          "SSL_CERT_DIR",
                                                          "http_proxy",
                                                          "https_proxy",
                                                          "ftp_proxy",
                                                          "all_proxy",
                                                          "no_proxy",
                                                          "HTTP_PROXY",
                                                          "HTTPS_PROXY",
                                                          "NO_PROXY",
                                                          "ALL_PROXY",
                                                          "XDG_DATA_HOME",
                                                          "XDG_CACHE_HOME",
                                                          "XDG_CONFIG_HOME",
                                                          "SABATH_*"};

bool is_meant(std::string_view name, std::string_view pattern) {
  if (!pattern.ends_with('*')) return name == pattern;
  return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

base::Environment tools_environment(const base::Environment& environment,
                                    const std::vector<std::string>& keep) {
  base::Environment result;
  for (const auto& [name, value] : environment) {
    const auto is_this = [&, &name = name](std::string_view pattern) {
      return is_meant(name, pattern);
    };
    if (std::any_of(kept_variables.begin(), kept_variables.end(), is_this) ||
        std::any_of(keep.begin(), keep.end(), is_this)) {
      result[name] = value;
    }
  }
  return result;
}

void wait(std::chrono::milliseconds pause, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, pause, [] { return false; });
  if (stop.stop_requested()) throw Error(ErrorKind::interrupted, "interrupted");
}

std::string all_said(const ProcessResult& result) {
  return result.errors + "\n" + result.output;
}

/// The last lines that a tool wrote, in one.
std::string words_of(const ProcessResult& result) {
  const std::string& text =
      result.errors.find_first_not_of(" \n") == std::string::npos ? result.output : result.errors;
  constexpr std::size_t most_lines = 3;
  std::vector<std::string> lines;
  std::size_t from = 0;
  while (from < text.size()) {
    const auto end = std::min(text.find('\n', from), text.size());
    const std::string line = text.substr(from, end - from);
    if (line.find_first_not_of(" \t\r") != std::string::npos) lines.push_back(line);
    from = end + 1;
  }
  std::string words;
  for (std::size_t i = lines.size() - std::min(lines.size(), most_lines); i < lines.size(); ++i)
    words += (words.empty() ? "" : "; ") + base::printable(lines[i]);
  return words.empty() ? result.describe() : words;
}

std::vector<std::string> filled_command(const std::vector<std::string>& command,
                                        const std::vector<std::string>& ids,
                                        Values values) {
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

bool names(const std::vector<std::string>& command, std::string_view placeholder) {
  return std::any_of(command.begin(), command.end(), [&](const std::string& argument) {
    return argument.find(placeholder) != std::string::npos;
  });
}

/// Where the program stands behind "env NAME=VALUE ...".
std::size_t program_in(const std::vector<std::string>& argv) {
  if (argv.front() != "env") return 0;
  const auto program = std::find_if(argv.begin() + 1, argv.end(), [](const std::string& word) {
    return word.starts_with('-') || word.find('=') == std::string::npos;
  });
  const bool is_one = program != argv.end() && !program->starts_with('-');
  return is_one ? static_cast<std::size_t>(program - argv.begin()) : 0;
}

/// As many ids together as fit into a call.
std::vector<std::vector<std::string>> chunks_of(const std::vector<std::string>& ids) {
  std::vector<std::vector<std::string>> chunks;
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

/// The ids for each call of a question.
std::vector<std::vector<std::string>> calls_for(const spec::SchedulerQuestion& question,
                                                const spec::SchedulerArrays& arrays,
                                                const std::vector<std::string>& ids) {
  if (names(question.command, "{ids}")) return chunks_of(ids);
  if (!names(question.command, "{job}")) return {{}};
  std::set<std::string> jobs;
  for (const std::string& id : ids)
    jobs.insert(arrays.of_task.empty() ? id : id_in(id, arrays.of_task).value_or(id));
  std::vector<std::vector<std::string>> calls;
  for (const std::string& job : jobs)
    calls.push_back({job});
  return calls;
}

/// "17" < "18" < "100"; names of other forms in some order.
bool is_older(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

/// What a call may name besides the ids that it is about.
Values values_of_calls(const spec::Site& site) {
  Values values{{"user", base::user_name()}};
  for (const auto& [name, value] : site.request)
    values["request." + name] = value;
  return values;
}

std::string task_id_of(const spec::SchedulerArrays& arrays,
                       const std::string& job,
                       std::size_t task) {
  const auto parts = base::Form(arrays.job).parts(job);
  if (!parts || task == 0) return {};
  Values values{{"task", std::to_string(task)}, {"task0", std::to_string(task - 1)}};
  for (std::size_t i = 1; i < parts->size(); ++i)
    values[std::to_string(i)] = (*parts)[i];
  const auto id = spec::filled({{arrays.task}}, values);
  return id.empty() ? std::string() : id.front();
}

/// The index, from 1, of the task of `job` that has this id; 0: it is none of its tasks.
std::size_t task_called(const spec::SchedulerArrays& arrays,
                        const std::string& job,
                        const std::string& id) {
  // To put an id together is dear, and most are of other jobs.
  if (!id.starts_with(job.substr(0, job.find_first_not_of("0123456789")))) return 0;
  const char* const last = id.data() + id.size();
  for (const char* at = id.data(); at < last;) {
    std::size_t number = 0;
    const auto [end, error] = std::from_chars(at, last, number);
    at = std::max(end, at + 1);
    if (error != std::errc{}) continue;
    for (const std::size_t task : {number, number + 1}) {
      if (task_id_of(arrays, job, task) == id) return task;
    }
  }
  return 0;
}

}  // namespace

std::string job_word(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  constexpr std::string_view others = "0123456789-_";
  const auto is_of = [](std::string_view set, char c) {
    return set.find(c) != std::string_view::npos;
  };
  std::string word(text);
  for (char& c : word) {
    if (!is_of(letters, c) && !is_of(others, c)) c = '-';
  }
  return !word.empty() && is_of(letters, word.front()) ? word : "s" + word;
}

std::string JobView::text() const {
  const std::string what = state.empty() ? "the scheduler does not know it" : state;
  const bool tells = !reason.empty() && reason != "None" && reason != state;
  return tells ? what + " (" + reason + ")" : what;
}

/// What the tool said to one question, for all ids.
struct Scheduler::Answer {
  std::vector<AnswerRow> rows{};
  std::string problem{};   ///< why it could not be answered; empty: it was
  bool is_absent = false;  ///< there is no such thing here

  /// Each row with those of the `wanted` ids that it is about.
  template <class Visit>
  void each(const spec::SchedulerArrays& arrays,
            const std::set<std::string>& wanted,
            const Visit& visit) const {
    const auto tell = [&](const std::string& id, const AnswerRow& row) {
      if (wanted.contains(id)) visit(id, row);
    };
    for (const AnswerRow& row : rows) {
      if (!row.is_rest) tell(row.id, row);
      if (!row.task || arrays.task.empty()) continue;
      if (!row.is_rest) {
        tell(task_id_of(arrays, row.id, *row.task), row);
        continue;
      }
      for (const std::string& id : wanted) {
        if (task_called(arrays, row.id, id) >= *row.task) visit(id, row);
      }
    }
  }
};

Scheduler::Scheduler(spec::SchedulerDescription description,
                     spec::Site site,
                     base::ProcessRunner& processes,
                     const base::Environment& environment,
                     std::chrono::milliseconds first_pause)
    : description_(std::move(description)),
      site_(std::move(site)),
      processes_(processes),
      environment_(tools_environment(environment, description_.keep)),
      first_pause_(first_pause) {}

ProcessResult Scheduler::call(const std::vector<std::string>& argv,
                              const std::filesystem::path& input,
                              const std::stop_token& stop) const {
  base::Command command;
  command.environment = environment_;
  // Not left to env, which says of a program that is not there what only a person understands.
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

Scheduler::Answer Scheduler::ask(const spec::SchedulerQuestion& question,
                                 const std::vector<std::string>& ids,
                                 const std::string& comment,
                                 const std::stop_token& stop) const {
  Answer answer;
  Values values = values_of_calls(site_);
  if (!comment.empty()) values["comment"] = comment;
  for (const auto& chunk : calls_for(question, description_.arrays, ids)) {
    ProcessResult result;
    const auto argv = filled_command(question.command, chunk, values);
    try {
      result = call(argv, {}, stop);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted) throw;
      answer.problem = error.what();
      answer.is_absent = true;
      return answer;
    }
    const std::string said = all_said(result);
    // What was ended, as it took too long, may have said nothing for that reason.
    const bool knows_none = result.end == ProcessEnd::exited && says(said, question.nothing);
    if (!result.ok() && !knows_none) {
      answer.problem = description_.name + ": " + argv[program_in(argv)] + ": " + words_of(result);
      answer.is_absent = says(said, question.absent);
      return answer;
    }
    if (!add_rows(answer.rows, result.output, question.rows)) {
      answer.problem = description_.name + ": " + argv[program_in(argv)] +
                       ": its answer takes too many steps to be read with '" + question.rows + "'";
      return answer;
    }
  }
  return answer;
}

std::string Scheduler::task_id(const std::string& job, std::size_t task) const {
  return task_id_of(description_.arrays, job, task);
}

std::optional<std::string> Scheduler::find(const std::string& comment,
                                           const std::stop_token& stop) {
  std::optional<std::string> newest;
  for (const spec::SchedulerQuestion& question : description_.find) {
    const Answer answer = ask(question, {}, comment, stop);
    if (!answer.problem.empty() && !answer.is_absent)
      throw Error(ErrorKind::launch, answer.problem);
    for (const AnswerRow& row : answer.rows) {
      const bool is_it = !row.comment || *row.comment == comment;
      if (is_it && (!newest || is_older(*newest, row.id))) newest = row.id;
    }
    if (newest) break;
  }
  return newest;
}

/// Looks for a job that may have been accepted although nobody said so. A scheduler that was deaf
/// takes up what it was told a little later, so it is asked twice.
std::optional<std::string> Scheduler::search(const BatchJob& job,
                                             std::chrono::milliseconds& pause,
                                             const std::stop_token& stop) {
  int answers = 0;
  std::chrono::milliseconds waited{0};
  while (true) {
    wait(pause, stop);
    waited += pause;
    pause *= 2;
    try {
      if (auto id = find(job.comment, stop)) return id;
      if (++answers == 2) return std::nullopt;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::interrupted || waited >= description_.patience) throw;
    }
  }
}

/// A tool that cannot even be started has handed nothing in.
ProcessResult Scheduler::hand_in(const std::vector<std::string>& argv,
                                 const std::filesystem::path& input,
                                 bool is_first,
                                 const std::stop_token& stop) const {
  try {
    return call(argv, input, stop);
  } catch (const Error& error) {
    if (!is_first || error.kind() != ErrorKind::launch) throw;
    throw Refusal(error.kind(), error.what(), error.hint());
  }
}

std::string Scheduler::submit(const BatchJob& job, const std::stop_token& stop) {
  const spec::SchedulerSubmission& how = description_.submit;
  const Values values = values_of(description_, site_, job);
  constexpr unsigned executable = 0755;
  base::write_file_atomically(job.script,
                              job_script(description_, site_, job, values),
                              base::Durability::ordered_only,
                              executable);
  if (!how.file.empty()) {
    base::write_file_atomically(submit_file_of(job), submit_file(description_, site_, values));
  }
  const auto argv = filled_command(how.command, {}, values);
  const std::string place = description_.name + ": " + argv[program_in(argv)] + ": ";
  std::chrono::milliseconds pause = first_pause_;
  std::chrono::milliseconds waited{0};
  const std::filesystem::path input = how.stdin_is_script ? job.script : "";
  for (bool is_first = true;; is_first = false) {
    const ProcessResult result = hand_in(argv, input, is_first, stop);
    const std::string said = all_said(result);
    const bool is_refused = result.end == ProcessEnd::exited && result.exit_code != 0;
    if (result.ok()) {
      if (const auto accepted = acceptance_in(result.output, how.id, description_.requests())) {
        take_back_misled(*accepted, place, stop);
        return accepted->id;
      }
    } else if (is_refused && !says(said, how.transient)) {
      std::string hint;
      for (const auto& [pattern, help] : how.hints) {
        if (hint.empty() && says(said, pattern)) hint = help;
      }
      throw Refusal(ErrorKind::launch, place + words_of(result), hint);
    }
    const std::string unheard =
        is_refused ? words_of(result) : "gave no answer that says what became of it";
    const auto before = pause;
    if (!description_.find.empty()) {
      if (auto id = search(job, pause, stop)) return *id;
    } else if (!is_refused) {
      throw Error(ErrorKind::launch,
                  place + unheard + ": " + words_of(result),
                  "the job may be there nonetheless: look for '" + job.comment + "'");
    } else {
      wait(pause, stop);
      pause *= 2;
    }
    waited += pause - before;
    if (waited >= description_.patience) {
      throw Error(ErrorKind::launch, place + unheard, "try again when it answers");
    }
  }
}

/// A job that went elsewhere than where it will be asked for is ended there: here its id is
/// nobody's, or that of another job.
void Scheduler::take_back_misled(const Acceptance& job,
                                 const std::string& place,
                                 const std::stop_token& stop) const {
  for (const auto& [name, is] : job.requests) {
    const auto wanted = site_.request.find(name);
    if (wanted != site_.request.end() && wanted->second == is) continue;
    Values values = values_of_calls(site_);
    values["request." + name] = is;
    std::string outcome = "it was ended there";
    try {
      end_jobs({job.id}, values, stop);
    } catch (const Error& error) {
      outcome = std::string("it could not be ended there: ") + error.what();
    }
    throw Refusal(
        ErrorKind::launch,
        place + "job " + job.id + " is of " + name + " '" + is + "', which site '" + site_.name +
            "' does not request: " + outcome,
        "the site's \"request\" says it, not its \"options\": {\"" + name + "\": \"" + is + "\"}");
  }
}

std::map<std::string, JobView> Scheduler::poll(const std::vector<std::string>& tasks,
                                               const std::stop_token& stop) {
  std::map<std::string, JobView> views;
  std::set<std::string> open;
  for (const std::string& task : tasks) {
    views[task];
    if (is_job_id(task)) open.insert(task);
  }
  bool is_first = true;
  for (const spec::SchedulerQuestion& question : description_.poll) {
    if (open.empty()) break;
    const std::vector<std::string> asked(open.begin(), open.end());
    const Answer answer = ask(question, asked, {}, stop);
    if (!answer.problem.empty() && is_first) throw Error(ErrorKind::launch, answer.problem);
    is_first = false;
    const std::set<std::string> wanted = open;
    answer.each(description_.arrays, wanted, [&](const std::string& id, const AnswerRow& row) {
      views[id] = {phase_of(description_, row), called(description_, row), row.reason, false};
      open.erase(id);
    });
    if (answer.problem.empty() || answer.is_absent) continue;
    for (const std::string& id : open)
      views[id] = {JobPhase::unknown, {}, answer.problem, true};
  }
  return views;
}

void Scheduler::cancel(const std::vector<std::string>& ids, const std::stop_token& stop) {
  end_jobs(ids, values_of_calls(site_), stop);
}

void Scheduler::end_jobs(const std::vector<std::string>& ids,
                         const std::map<std::string, std::string>& values,
                         const std::stop_token& stop) const {
  std::vector<std::string> possible;
  std::copy_if(ids.begin(), ids.end(), std::back_inserter(possible), is_job_id);
  for (const auto& chunk : chunks_of(possible)) {
    const auto argv = filled_command(description_.cancel, chunk, values);
    const ProcessResult result = call(argv, {}, stop);
    const std::string said = all_said(result);
    const bool may_pass = says(said, description_.submit.transient);
    if (result.ok() || (!may_pass && says(said, description_.gone))) continue;
    throw Error(ErrorKind::launch,
                description_.name + ": " + argv[program_in(argv)] + ": " + words_of(result),
                may_pass ? "try again when it answers" : "");
  }
}

Accounting Scheduler::accounting(const std::vector<std::string>& tasks,
                                 const std::stop_token& stop) {
  Accounting found;
  std::set<std::string> open;
  std::vector<std::string> possible;
  std::copy_if(tasks.begin(), tasks.end(), std::back_inserter(possible), is_job_id);
  const std::set<std::string> wanted(possible.begin(), possible.end());
  for (const spec::SchedulerQuestion& question : description_.accounting) {
    if (possible.empty()) break;
    const Answer answer = ask(question, possible, {}, stop);
    found.is_absent = found.is_absent || answer.is_absent;
    answer.each(description_.arrays, wanted, [&](const std::string& id, const AnswerRow& row) {
      const JobPhase phase = phase_of(description_, row);
      const bool goes_on = phase == JobPhase::pending || phase == JobPhase::running;
      const bool is_known = row.state.empty() || description_.states.count(row.state) > 0;
      if (goes_on || !is_known) open.insert(id);
      add_use(found.uses[id], use_of(description_, row));
    });
  }
  for (const std::string& id : open)
    found.uses.erase(id);
  return found;
}

std::optional<std::size_t> Scheduler::largest_array(const std::stop_token& stop) {
  const spec::SchedulerArrays& arrays = description_.arrays;
  if (arrays.largest.empty()) return std::nullopt;
  ProcessResult result;
  try {
    result = call(filled_command(arrays.largest, {}, values_of_calls(site_)), {}, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return std::nullopt;  // no such tool here
  }
  base::Regex regex(arrays.largest_is);
  if (!result.ok() || regex.search(result.output) != base::Regex::Outcome::found) {
    return std::nullopt;
  }
  const std::string_view text = regex.group(1).value_or("");
  std::size_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  const auto beyond = static_cast<std::size_t>(arrays.largest_beyond);
  return number > beyond ? std::optional(number - beyond) : std::nullopt;
}

}  // namespace sabath::launch
