#pragma once

#include "batch_marks.hpp"
#include "ended_badly.hpp"
#include "scheduler_questions.hpp"

#include <sabath/base/file_stamp.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_status.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sabath::live {

class ViewState;

/// A run that is in progress or waits, as its files showed it last.
struct SeenRun {
  catalog::RunRow row{};
  spec::RunStatus status{};
  std::int64_t changed = -1;                ///< of status.json, in nanoseconds
  std::optional<base::FileStamp> stamp{};   ///< of status.json: times alone are too coarse
  std::optional<base::SteadyTime> seen{};   ///< when that was looked at
  std::optional<base::SteadyTime> asked{};  ///< when its process was looked for
  bool is_gone = false;                     ///< its process has gone without a record
  std::optional<base::SteadyTime> read{};   ///< when its log and its course were read
  std::string last_line{};
  std::vector<double> spark{};
};

/// All runs that are not over. Looks at a few at a time, as the budget allows: those that were
/// never seen first, then those that were seen longest ago.
class RunsUnderWay {
 public:
  explicit RunsUnderWay(ViewState& state);

  /// The document of the page "Now".
  nlohmann::ordered_json page();
  /// One run, looked at now. Also of a run that is over: then by its row alone.
  SeenRun look(const catalog::RunRow& row);
  /// Looks at some runs, at these first. Then `state_of` and `message_of` know of them.
  void refresh(const std::vector<catalog::RunRow>& wanted);
  /// The state of a run as `sabath status` says it: by its own files and the marks of its node,
  /// where the catalog only knows that it is not over.
  spec::RunState state_of(const catalog::RunRow& row) const;
  /// How many runs of a study the catalog has in the first state, while they are in the second.
  std::map<std::pair<spec::RunState, spec::RunState>, std::uint64_t> moved_in(
      const std::string& study) const;
  /// Why a run waits; nothing where no scheduler says so.
  std::optional<batch::WaitingReason> reason_of(const std::string& run_id) const;

 private:
  static constexpr std::size_t most_shown = 100;
  static constexpr std::size_t most_with_course = 12;

  void take_rows();
  void look_at_some(const std::set<std::string>& wanted);
  void read_some();
  void look_at(SeenRun& run);
  bool has_begun(const catalog::RunRow& row) const;
  spec::RunState state_of(const SeenRun& run) const;
  void ask_schedulers();
  nlohmann::ordered_json run_json(const SeenRun& run) const;
  nlohmann::ordered_json studies_json() const;
  std::vector<SeenRun*> in_order();

  ViewState& state_;
  std::map<std::string, SeenRun> runs_{};
  BatchMarks marks_{};
  SchedulerQuestions questions_;
  SchedulerQuestions::Answers answers_{};
  std::uint64_t rows_version_ = 0;
  EndedBadly ended_{};
};

}  // namespace sabath::live
