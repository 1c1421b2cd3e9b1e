#pragma once

#include <sabath/spec/run_state.hpp>

#include <filesystem>
#include <string>

namespace sabath::batch {

/// A run that is watched until it ends.
struct WatchedRun {
  std::string run_id{};
  std::filesystem::path directory{};
  std::filesystem::path batch{};  ///< empty: no scheduler executes it
  std::string study{};
  spec::RunState state = spec::RunState::planned;
  std::string detail{};     ///< reason to wait, stage, or end, in one line
  std::string waits_for{};  ///< the scheduler's reason; empty: none
  bool is_stuck = false;    ///< `waits_for` does not pass by itself, as a rule

  /// Returns true for a run to wait for; false for an unknown one.
  bool goes_on() const {
    return state == spec::RunState::planned || state == spec::RunState::running;
  }
};

}  // namespace sabath::batch
