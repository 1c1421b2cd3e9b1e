#pragma once

#include "scheduler_answers.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/spec/site.hpp>

#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

namespace sabath::launch {

/// Fills the placeholders of a command. `ids` are the jobs or tasks to name in it.
std::vector<std::string> filled_command(const std::vector<std::string>& command,
                                        const std::vector<std::string>& ids,
                                        std::map<std::string, std::string> values);

/// Returns the output and the errors of a tool as one text.
std::string all_output(const base::ProcessResult& result);
/// Returns the last lines of a tool as one line, or how the tool ended where it printed nothing.
std::string last_words(const base::ProcessResult& result);

/// Answer of the tools to one question, for all ids.
struct ToolAnswer {
  std::vector<AnswerRow> rows{};
  std::string problem{};   ///< why the question was not answered; empty: it was
  bool is_absent = false;  ///< the scheduler has no such tool or service here
};

/// Command-line tools of a scheduler on this machine. Runs them with the variables that they need
/// and none that hold options of the user. Thread safety: const members from one thread at a time.
class SchedulerTools {
 public:
  SchedulerTools(spec::SchedulerDescription description,
                 spec::Site site,
                 base::ProcessRunner& processes,
                 const base::Environment& environment);

  const spec::SchedulerDescription& description() const noexcept { return description_; }
  const spec::Site& site() const noexcept { return site_; }
  /// Values that a command may use beside the ids: the user and the site's request.
  std::map<std::string, std::string> values() const;
  /// Returns "slurm: sbatch: ", the beginning of messages about a command.
  std::string place_of(const std::vector<std::string>& argv) const;

  /// Runs a tool; `input` is the file for its stdin. Throws Error{launch|interrupted}.
  base::ProcessResult run(const std::vector<std::string>& argv,
                          const std::filesystem::path& input,
                          const std::stop_token& stop) const;
  /// Asks a question about `ids`, or about the jobs with a comment. Throws Error{interrupted}.
  ToolAnswer ask(const spec::SchedulerQuestion& question,
                 const std::vector<std::string>& ids,
                 const std::string& comment,
                 const std::stop_token& stop) const;
  /// Ends jobs or tasks. Throws Error{launch|interrupted}.
  void cancel(const std::vector<std::string>& ids,
              const std::map<std::string, std::string>& values,
              const std::stop_token& stop) const;

 private:
  spec::SchedulerDescription description_;
  spec::Site site_;
  base::ProcessRunner& processes_;
  base::Environment environment_;
};

}  // namespace sabath::launch
