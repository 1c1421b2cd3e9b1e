#pragma once

#include <sabath/batch/waiting_reasons.hpp>
#include <sabath/catalog/catalog.hpp>
#include <sabath/spec/run_status.hpp>

#include <nlohmann/json_fwd.hpp>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

class ViewState;

/// A run that is in progress or waits, as its files showed it last.
struct SeenRun {
  catalog::RunRow row{};
  spec::RunStatus status{};
  std::int64_t changed = -1;                ///< of status.json, in nanoseconds
  std::optional<base::SteadyTime> seen{};   ///< when that was looked at
  std::optional<base::SteadyTime> asked{};  ///< when its process was looked for
  bool is_gone = false;                     ///< its process has gone without a record
  std::string last_line{};
  std::vector<double> spark{};
};

/// All runs that are not over. Looks at a few at a time, as the budget allows: those that were
/// never seen first, then those that were seen longest ago.
class RunsUnderWay {
 public:
  explicit RunsUnderWay(ViewState& state) : state_(state) {}

  /// The document of the page "Now".
  nlohmann::ordered_json page();
  /// One run, looked at now. Also of a run that is over: then by its row alone.
  SeenRun look(const catalog::RunRow& row);
  /// Why a run waits; nothing where no scheduler says so.
  std::optional<batch::WaitingReason> reason_of(const std::string& run_id) const;

 private:
  static constexpr std::size_t most_shown = 100;
  static constexpr std::size_t most_with_course = 12;

  void take_rows();
  void look_at_some();
  void look_at(SeenRun& run);
  static void look_for_process(SeenRun& run);
  void ask_schedulers();
  nlohmann::ordered_json run_json(const SeenRun& run) const;
  nlohmann::ordered_json studies_json() const;
  nlohmann::ordered_json ended_json();
  std::vector<SeenRun*> in_order();

  ViewState& state_;
  std::map<std::string, SeenRun> runs_{};
  std::map<std::string, batch::WaitingReason> reasons_{};
  std::map<std::string, std::string> problems_{};  ///< of batches that cannot be asked about
  std::uint64_t rows_version_ = 0;
  std::optional<base::SteadyTime> asked_{};
};

}  // namespace sabath::live
