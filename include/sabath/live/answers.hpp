#pragma once

#include <sabath/analysis/study_outcome.hpp>
#include <sabath/batch/watched_run.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/run_count.hpp>
#include <sabath/spec/study.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string>
#include <vector>

namespace sabath::live {

// Answers as JSON documents: what --json prints, and what the live view shows. The root is always
// an object.

std::string json_answer(const std::vector<catalog::RunRow>& rows);
/// With the reason for which each does not count, of all that match how many do, and what they have
/// under the names that the user asks for.
std::string json_answer(const std::vector<catalog::RunRow>& rows,
                        const std::vector<std::string>& reasons,
                        const spec::RunCount& count,
                        const std::vector<catalog::RunColumn>& columns);
std::string json_answer(const std::vector<catalog::DocumentRow>& rows);
/// With `whole` in the metrics that have whole numbers which no double holds.
/// With what was `said` of the run, if anything was.
std::string json_answer(const spec::RunRecord& record,
                        const spec::WholeSummaries& whole,
                        const std::vector<home::RunStatement>& said = {});
/// A study with its runs.
std::string json_answer(const analysis::StudyOutcome& outcome);
/// Studies without their runs.
std::string json_answer(const std::vector<analysis::StudyOutcome>& studies);
/// State of a point's newest run, in one word; empty without one.
std::string state_word(const analysis::PointOutcome& point);
nlohmann::ordered_json point_json(const spec::StudyPoint& point);

/// A study whose runs are all watched.
struct WatchedStudy {
  std::string id{};
  std::size_t points = 0;
  std::size_t begun = 0;   ///< points that have a run
  bool is_driven = false;  ///< another process starts its runs
};
using WatchedStudies = std::vector<WatchedStudy>;

/// How many points of the study have none of `runs`.
std::size_t not_run(const WatchedStudy& study, const std::vector<batch::WatchedRun>& runs);

/// What `status --json` prints.
std::string status_json(const std::vector<batch::WatchedRun>& runs,
                        const WatchedStudies& studies = {});

}  // namespace sabath::live
