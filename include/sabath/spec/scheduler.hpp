#pragma once

#include <sabath/spec/enum_words.hpp>

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

enum class JobPhase {
  pending,
  running,
  done,       ///< ended, and the scheduler saw no fault in it
  failed,     ///< ended by itself with another status or by a signal
  cancelled,  ///< by somebody
  timed_out,
  out_of_memory,
  node_failed,  ///< or could not boot, and the job does not come back
  preempted,    ///< had to make way for another, and does not come back
  unknown,      ///< the scheduler does not know it (any more), or says what nobody understands
};
constexpr auto words_of(JobPhase) {
  return std::to_array<std::string_view>({"pending",
                                          "running",
                                          "done",
                                          "failed",
                                          "cancelled",
                                          "timed_out",
                                          "out_of_memory",
                                          "node_failed",
                                          "preempted",
                                          "unknown"});
}

/// Templates of one line, best first: the first one whose placeholders all have a value is used.
/// Where none has, the line is left out.
using Alternatives = std::vector<std::string>;

/// How a scheduler takes a job. Placeholders are those of `job_placeholders`.
struct SchedulerSubmission {
  std::string directive{};              ///< begins each line of options in the script: "#SBATCH "
  std::vector<Alternatives> options{};  ///< of the job, in this order, a line each
  std::vector<Alternatives> run{{"exec {command}"}};  ///< lines of shell that start sabath
  /// A file that is submitted in the script's stead, which it names: "{script}". Empty: none.
  std::vector<Alternatives> file{};
  std::vector<std::string> command{};  ///< with "{script}", or "{file}"
  bool stdin_is_script = false;        ///< the script goes to the command's stdin
  /// Finds the job's id in stdout: its first group. A group by the name of a request says what the
  /// scheduler has made of that.
  std::string id{};
  std::string transient{};  ///< finds in what a refusal says that it may pass by itself
  std::map<std::string, std::string> hints{};  ///< what is found in a refusal, and what helps
  std::string words = "[^\\s\"'\\\\]+";        ///< the form of all values
  /// What helps where no line asks for a resource that a job wants, by the resource's key.
  std::map<std::string, std::string> untold{};
};

struct SchedulerArrays {
  std::string job = "(.*)";  ///< the form of an array's id; its groups are {1}, {2} ... of `task`
  std::string task{};        ///< the id of the task {task}, or, counted from 0, {task0}
  std::string of_task{};     ///< finds in a task's id, as its first group, that of the array
  std::string log{};         ///< what stands for the index in the name of the log
  std::vector<std::string> largest{};  ///< a command that tells the limit; empty: there is none
  std::string largest_is{};            ///< finds it: its first group
  int largest_beyond = 0;              ///< what it tells is so much more than tasks can be
};

/// A question about jobs, and how its answer is read.
struct SchedulerQuestion {
  /// With "{ids}" (alone: an argument for each; within others: with commas between), or "{job}"
  /// (called once for each job or array), "{comment}", "{user}", "{request.NAME}".
  std::vector<std::string> command{};
  /// Found again and again in stdout. Groups by name: id, task or task0 (or rest0: all from there
  /// on); of a poll: state, how,
  /// reason; of a search: comment; of accounting: elapsed, rss, energy, nodes.
  std::string rows{};
  std::string nothing{};  ///< finds in what a failed command says that it knows none of them
  std::string absent{};   ///< finds there that this is not to be had here
};

/// What a job finds out about itself: each is a word of shell, as it stands between double quotes.
struct SchedulerNode {
  std::string job{};       ///< the id of a single job
  std::string task_job{};  ///< the id of a task of an array
  std::string index{};     ///< of a task of an array, from 1
  std::string restarts{};  ///< how often the job had been started before
  std::string nodes{};     ///< of the job, as the scheduler writes them
};

/// A scheduler as data: catalog/schedulers/<name>.json, or schedulers/<name>.json in the
/// configuration folder. Patterns are base::Regex, commands argument vectors.
struct SchedulerDescription {
  std::string name{};  ///< of the file
  std::string description{};
  std::chrono::seconds timeout{60};   ///< for each call of a tool
  std::chrono::seconds patience{60};  ///< a submission is tried again for so long
  std::vector<std::string> keep{};    ///< variables that the tools need; "SGE_*": all of these
  SchedulerSubmission submit{};
  SchedulerArrays arrays{};
  std::vector<SchedulerQuestion> poll{};  ///< each about those that the ones before did not know
  /// The scheduler's words, alone or with `how` after a blank ("F 0"), which comes first.
  std::map<std::string, JobPhase> states{};
  std::map<std::string, std::string> called{};  ///< what people read instead of such a word

  /// Finds a job that waits until somebody acts, in what people read of it ("PENDING
  /// (JobHeldUser)").
  std::string stuck{};
  std::vector<std::string> cancel{};  ///< with "{ids}"
  std::string gone{};  ///< finds in what a failed `cancel` says that there is nothing to end
  std::vector<SchedulerQuestion> find{};
  std::vector<SchedulerQuestion> accounting{};
  std::string rss_unit = "KiB";  ///< of what accounting says without a unit
  SchedulerNode node{};
  /// What starts the ranks of a stage where the site does not say, in a site's words.
  std::string prefix{};

  bool has_arrays() const { return !arrays.task.empty(); }
  /// Can a job wait for another?
  bool has_dependencies() const;
  /// Does any line of a submission have this placeholder?
  bool knows(std::string_view placeholder) const;
  /// Do files go to its jobs and come back, because they see none of ours?
  bool moves_files() const;
  /// The names that a site's "request" may have.
  std::vector<std::string> requests() const;
};

/// All that may stand in braces in options, run, file and the commands of a submission, but
/// "request.<name>".
std::vector<std::string> job_placeholders();

/// Reads strictly. `origin` (a path) begins every message; its stem is the name. Throws
/// Error{usage} with all problems.
SchedulerDescription parse_scheduler(std::string_view text, const std::string& origin);

/// Fills in the first alternative whose placeholders all have a value; leaves out lines without
/// one.
/// "{{" and "}}" are braces.
std::vector<std::string> filled(const std::vector<Alternatives>& lines,
                                const std::map<std::string, std::string>& values);

/// Placeholders that the rendered lines pass to the scheduler. An alternative with a request of the
/// site ("{request.nodes}") stands for all alternatives after it.
std::set<std::string> told_by(const std::vector<Alternatives>& lines,
                              const std::map<std::string, std::string>& values);

}  // namespace sabath::spec
