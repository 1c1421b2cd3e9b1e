#include "job_script.hpp"
#include "scheduler_answers.hpp"
#include "scheduler_tools.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/stop_signal.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/regex.hpp>
#include <sabath/launch/scheduler.hpp>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <set>

namespace sabath::launch {
namespace {

using base::Error;
using base::ErrorKind;
using base::ProcessEnd;
using base::ProcessResult;

void wait(std::chrono::milliseconds pause, const std::stop_token& stop) {
  if (!base::wait_unless_stopped(pause, stop)) throw Error(ErrorKind::interrupted, "interrupted");
}

/// Compares ids by age: "17" < "18" < "100". The order of other forms is arbitrary but fixed.
bool is_older(const std::string& a, const std::string& b) {
  return std::pair(a.size(), a) < std::pair(b.size(), b);
}

/// The first hint whose pattern the output has, or nothing.
std::string hint_in(const std::map<std::string, std::string>& hints, const std::string& output) {
  for (const auto& [pattern, help] : hints) {
    if (says(output, pattern)) return help;
  }
  return {};
}

/// A tool that cannot be started at the first try has submitted nothing: that is a refusal.
ProcessResult try_submit(const SchedulerTools& tools,
                         const std::vector<std::string>& argv,
                         const std::filesystem::path& input,
                         bool is_first,
                         const std::stop_token& stop) {
  try {
    return tools.run(argv, input, stop);
  } catch (const Error& error) {
    if (!is_first || error.kind() != ErrorKind::launch) throw;
    throw Refusal(error.kind(), error.what(), error.hint());
  }
}

/// A job that another queue or cluster accepted is ended there: under the site's request its id is
/// unknown, or that of another job.
void end_misdirected(const SchedulerTools& tools,
                     const Acceptance& job,
                     const std::string& place,
                     const std::stop_token& stop) {
  for (const auto& [name, is] : job.requests) {
    const auto wanted = tools.site().request.find(name);
    if (wanted != tools.site().request.end() && wanted->second == is) continue;
    Values values = tools.values();
    values["request." + name] = is;
    std::string outcome = "it was ended there";
    try {
      tools.cancel({job.id}, values, stop);
    } catch (const Error& error) {
      outcome = std::string("it could not be ended there: ") + error.what();
    }
    throw Refusal(
        ErrorKind::launch,
        place + "job " + job.id + " is of " + name + " '" + is + "', which site '" +
            tools.site().name + "' does not request: " + outcome,
        "the site's \"request\" says it, not its \"options\": {\"" + name + "\": \"" + is + "\"}");
  }
}

}  // namespace

std::string job_word(std::string_view text) {
  std::string word(text);
  for (char& c : word) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_') c = '-';
  }
  const bool has_letter_first =
      !word.empty() && std::isalpha(static_cast<unsigned char>(word.front())) != 0;
  return has_letter_first ? word : "s" + word;
}

std::string JobView::text() const {
  const std::string what = state.empty() ? "the scheduler does not know it" : state;
  const bool has_reason = !reason.empty() && reason != "None" && reason != state;
  return has_reason ? what + " (" + reason + ")" : what;
}

void check_submission_options(const spec::SchedulerDescription& scheduler,
                              const spec::Site& site,
                              const spec::Resources& resources) {
  BatchJob job{.name = "name", .comment = "comment", .script = "/script", .log = "/log"};
  job.resources = resources;
  values_of(scheduler, site, job);
}

Scheduler::Scheduler(spec::SchedulerDescription description,
                     spec::Site site,
                     base::ProcessRunner& processes,
                     const base::Environment& environment,
                     std::chrono::milliseconds first_pause)
    : tools_(std::make_shared<SchedulerTools>(
          std::move(description), std::move(site), processes, environment)),
      first_pause_(first_pause) {}

const spec::SchedulerDescription& Scheduler::description() const noexcept {
  return tools_->description();
}

std::string Scheduler::task_id(const std::string& job, std::size_t task) const {
  return task_id_of(description().arrays, job, task);
}

std::optional<std::string> Scheduler::find(const std::string& comment,
                                           const std::stop_token& stop) {
  std::optional<std::string> newest;
  for (const spec::SchedulerQuestion& question : description().find) {
    const ToolAnswer answer = tools_->ask(question, {}, comment, stop);
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

/// Looks for a job that may have been accepted without an answer. An overloaded scheduler may list
/// a job late, so it is asked twice.
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
      if (error.kind() == ErrorKind::interrupted || waited >= description().patience) throw;
    }
  }
}

std::string Scheduler::submit(const BatchJob& job, const std::stop_token& stop) {
  const spec::SchedulerSubmission& how = description().submit;
  const Values values = values_of(description(), tools_->site(), job);
  constexpr unsigned executable = 0755;
  base::write_file_atomically(job.script,
                              job_script(description(), tools_->site(), job, values),
                              base::Durability::ordered_only,
                              executable);
  if (!how.file.empty()) {
    base::write_file_atomically(submit_file_of(job),
                                submit_file(description(), tools_->site(), values));
  }
  const auto argv = filled_command(how.command, {}, values);
  const std::string place = tools_->place_of(argv);
  std::chrono::milliseconds pause = first_pause_;
  std::chrono::milliseconds waited{0};
  const std::filesystem::path input = how.stdin_is_script ? job.script : "";
  for (bool is_first = true;; is_first = false) {
    const ProcessResult result = try_submit(*tools_, argv, input, is_first, stop);
    const std::string output = all_output(result);
    const bool is_refused = result.end == ProcessEnd::exited && result.exit_code != 0;
    if (result.ok()) {
      if (const auto accepted = acceptance_in(result.output, how.id, description().requests())) {
        end_misdirected(*tools_, *accepted, place, stop);
        return accepted->id;
      }
    } else if (is_refused && !says(output, how.transient)) {
      throw Refusal(ErrorKind::launch, place + last_words(result), hint_in(how.hints, output));
    }
    const std::string unheard = is_refused ? last_words(result) : "gave no answer about the job";
    const auto before = pause;
    if (!description().find.empty()) {
      if (auto id = search(job, pause, stop)) return *id;
    } else if (!is_refused) {
      throw Error(ErrorKind::launch,
                  place + unheard + ": " + last_words(result),
                  "the job may exist: look for '" + job.comment + "'");
    } else {
      wait(pause, stop);
      pause *= 2;
    }
    waited += pause - before;
    if (waited >= description().patience) {
      throw Error(ErrorKind::launch, place + unheard, "try again when it answers");
    }
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
  for (const spec::SchedulerQuestion& question : description().poll) {
    if (open.empty()) break;
    const std::vector<std::string> asked(open.begin(), open.end());
    const ToolAnswer answer = tools_->ask(question, asked, {}, stop);
    if (!answer.problem.empty() && is_first) throw Error(ErrorKind::launch, answer.problem);
    is_first = false;
    const std::set<std::string> wanted = open;
    visit_wanted(
        answer.rows,
        description().arrays,
        wanted,
        [&](const std::string& id, const AnswerRow& row) {
          views[id] = {phase_of(description(), row), called(description(), row), row.reason, false};
          open.erase(id);
        });
    if (answer.problem.empty() || answer.is_absent) continue;
    for (const std::string& id : open)
      views[id] = {JobPhase::unknown, {}, answer.problem, true};
  }
  return views;
}

void Scheduler::cancel(const std::vector<std::string>& ids, const std::stop_token& stop) {
  tools_->cancel(ids, tools_->values(), stop);
}

Accounting Scheduler::accounting(const std::vector<std::string>& tasks,
                                 const std::stop_token& stop) {
  Accounting found;
  std::set<std::string> open;
  std::vector<std::string> possible;
  std::ranges::copy_if(tasks, std::back_inserter(possible), is_job_id);
  const std::set<std::string> wanted(possible.begin(), possible.end());
  for (const spec::SchedulerQuestion& question : description().accounting) {
    if (possible.empty()) break;
    const ToolAnswer answer = tools_->ask(question, possible, {}, stop);
    found.is_absent = found.is_absent || answer.is_absent;
    visit_wanted(answer.rows,
                 description().arrays,
                 wanted,
                 [&](const std::string& id, const AnswerRow& row) {
                   const JobPhase phase = phase_of(description(), row);
                   const bool goes_on = phase == JobPhase::pending || phase == JobPhase::running;
                   const bool is_known =
                       row.state.empty() || description().states.count(row.state) > 0;
                   if (goes_on || !is_known) open.insert(id);
                   add_use(found.uses[id], use_of(description(), row));
                 });
  }
  for (const std::string& id : open)
    found.uses.erase(id);
  return found;
}

std::optional<std::size_t> Scheduler::largest_array(const std::stop_token& stop) {
  const spec::SchedulerArrays& arrays = description().arrays;
  if (arrays.largest.empty()) return std::nullopt;
  ProcessResult result;
  try {
    result = tools_->run(filled_command(arrays.largest, {}, tools_->values()), {}, stop);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::interrupted) throw;
    return std::nullopt;  // no such tool here
  }
  base::Regex regex(arrays.largest_is);
  if (!result.ok() || regex.search(result.output) != base::Regex::Outcome::found) {
    return std::nullopt;
  }
  const auto number = base::leading_number<std::size_t>(regex.group(1).value_or("")).value_or(0);
  const auto beyond = static_cast<std::size_t>(arrays.largest_beyond);
  return number > beyond ? std::optional(number - beyond) : std::nullopt;
}

}  // namespace sabath::launch
