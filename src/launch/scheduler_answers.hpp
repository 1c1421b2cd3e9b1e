#pragma once

#include <sabath/launch/scheduler.hpp>
#include <sabath/spec/scheduler.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// What schedulers' tools write, read with the patterns of a description. It comes from outside:
// whatever it is, nothing here throws because of it, and nothing takes it for success.

namespace sabath::launch {

/// A job that was accepted.
struct Acceptance {
  std::string id{};
  std::map<std::string, std::string> requests{};  ///< by their names: what the scheduler says
};

/// One row of an answer: the groups that took part.
struct AnswerRow {
  std::string id{};
  std::optional<std::size_t> task{};  ///< where it stands apart from the id; from 1
  bool is_rest = false;               ///< it is about that task, and all after it
  std::string state{};
  std::string how{};
  std::string reason{};
  std::optional<std::string> comment{};
  std::string elapsed{};
  std::string rss{};
  std::string energy{};
  std::string nodes{};
};

/// Adds all rows in `output`, without those whose id cannot be one. False where the pattern needs
/// too many steps: then rows are missing.
bool add_rows(std::vector<AnswerRow>& rows, std::string_view output, const std::string& pattern);
/// The first group of the first match that is an id; nothing, too, where the search was given up.
std::optional<std::string> id_in(std::string_view output, const std::string& pattern);
/// The same, with the groups of the match that have the names of `requests`.
std::optional<Acceptance> acceptance_in(std::string_view output,
                                        const std::string& pattern,
                                        const std::vector<std::string>& requests);
/// Does `pattern`, which may be empty, find something in `text`?
bool says(std::string_view text, const std::string& pattern);
/// An id is given to tools as an argument: one word, not an option.
bool is_job_id(std::string_view text);

/// The phase that a row tells, by the description's table.
spec::JobPhase phase_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// The scheduler's word in it, or what people read instead.
std::string called(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// What it says of the use of a job; empty where the texts are no numbers.
JobUse use_of(const spec::SchedulerDescription& scheduler, const AnswerRow& row);
/// Two rows about one job (Slurm's accounting has one for each step).
void add_use(JobUse& use, const JobUse& other);

/// "17", "1:30", "01:02:03", "2-01:02:03", in seconds.
std::optional<double> parse_elapsed(std::string_view text);
/// "1234K", "1.5G", "512 kb", "12 Mbytes", or a number of `unit`s.
std::optional<double> parse_amount(std::string_view text, double unit, double step);

}  // namespace sabath::launch
