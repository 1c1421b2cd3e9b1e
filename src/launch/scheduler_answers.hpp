#pragma once

#include <sabath/launch/batch_job.hpp>
#include <sabath/spec/scheduler.hpp>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

// Reads the output of schedulers' tools with the patterns of a description. The output is not
// trusted: nothing here throws because of it or takes unknown output for success.

namespace sabath::launch {

struct Acceptance {
  std::string id{};
  std::map<std::string, std::string> requests{};  ///< by name, as the scheduler reports them
};

/// One row of an answer: the matched groups.
struct AnswerRow {
  std::string id{};
  std::optional<std::size_t> task{};  ///< from 1, where the id does not contain it
  bool is_rest = false;               ///< describes that task and all after it
  std::string state{};
  std::string how{};
  std::string reason{};
  std::optional<std::string> comment{};
  std::string elapsed{};
  std::string rss{};
  std::string energy{};
  std::string nodes{};
};

/// Adds all rows with a valid id in `output`. Returns false where the pattern takes too many steps:
/// then rows are missing.
bool add_rows(std::vector<AnswerRow>& rows, std::string_view output, const std::string& pattern);
/// Returns the first id that group 1 of the pattern matches, with the groups that are named in
/// `requests`.
std::optional<Acceptance> acceptance_in(std::string_view output,
                                        const std::string& pattern,
                                        const std::vector<std::string>& requests);
/// Returns true where `pattern` is not empty and matches in `text`.
bool says(std::string_view text, const std::string& pattern);
/// Returns true for a text that is safe as an argument of tools: one word, not an option.
bool is_job_id(std::string_view text);

/// Returns the phase of a row, by the description's table.
spec::JobPhase phase_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// Returns the state of a row as people read it.
std::string called(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// Returns the accounting in a row; values that are not numbers are absent.
JobUse use_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// Merges two rows about one job: Slurm's accounting has one for each step.
void add_use(JobUse& use, const JobUse& other);

/// Returns the id of a task of an array, from 1; empty where the array's id has another form.
std::string task_id_of(const spec::SchedulerArrays& arrays,
                       const std::string& job,
                       std::size_t task);

/// Calls `visit` for each row and each of the `wanted` ids that the row describes.
void visit_wanted(const std::vector<AnswerRow>& rows,
                  const spec::SchedulerArrays& arrays,
                  const std::set<std::string>& wanted,
                  const std::function<void(const std::string& id, const AnswerRow&)>& visit);

}  // namespace sabath::launch
