#pragma once

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/site.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::spec {

/// The part of each run that one job executes.
struct BatchStep {
  std::vector<std::string> stages{};  ///< in an order that respects needs
  Resources resources{};              ///< of the job: enough for each of its stages

  bool operator==(const BatchStep&) const = default;
};

/// What is handed to a scheduler at once: one run, or runs of a study. Each step is one job, or one
/// array with a task for every `pack` runs. A step's task waits for the same task of the step
/// before. Its file batch.json is written before the first submission.
struct BatchPlan {
  std::string batch_id{};  ///< the scheduler keeps it with the jobs, so that they can be found
  Site site{};             ///< as it was, with all defaults filled in
  std::vector<std::string> runs{};  ///< ids; folders beside each other in `runs_directory`
  std::string runs_directory{};
  int pack = 1;  ///< runs in one task, in the order of `runs`
  std::vector<BatchStep> steps{};
  /// The folder beside its own of the batch whose jobs have to be over before its jobs begin;
  /// nothing: none.
  std::optional<std::string> after{};
  std::string created{};  ///< RFC 3339
  std::string sabath_version{};

  bool operator==(const BatchPlan&) const = default;

  /// At least 1. An array has the indices 1 to this.
  std::size_t tasks() const;
  /// Is each step an array of jobs? One task is a single job.
  bool is_array() const { return tasks() > 1; }
  /// Those that `task` (from 1) executes.
  std::vector<std::string> runs_of(std::size_t task) const;
  /// The task, from 1, of a run; 0: it has none.
  std::size_t task_of(std::string_view run_id) const;
};

nlohmann::ordered_json to_json(const BatchPlan& plan);
BatchPlan parse_batch_plan(std::string_view text, const std::string& origin);

/// What the scheduler said to it. submitted.json: written after each submission.
struct BatchJobs {
  std::vector<std::string> jobs{};  ///< the id of each step's job, as many as were submitted
  std::string submitted{};          ///< RFC 3339

  bool operator==(const BatchJobs&) const = default;
};

nlohmann::ordered_json to_json(const BatchJobs& jobs);
BatchJobs parse_batch_jobs(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
