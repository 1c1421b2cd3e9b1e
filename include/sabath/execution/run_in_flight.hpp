#pragma once

#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_state.hpp>

#include <chrono>
#include <filesystem>
#include <string>

namespace sabath::execution {

/// End of one run.
struct RunOutcome {
  std::string run_id{};
  std::filesystem::path directory{};
  spec::RunState state = spec::RunState::planned;
  std::string message{};
};

/// Returns the end of a run by its files; `lost` without one. Nobody must be executing the run.
RunOutcome outcome_of(const std::filesystem::path& run_directory);

/// The same for a run that may be executed now: then `planned` or `running`.
RunOutcome look_at_run(const std::filesystem::path& run_directory);

/// The first pause between two looks at running runs, and the one after `pause`. Each is a
/// sixteenth longer, at most 100 ms. So the end of a short run is noticed soon.
inline constexpr std::chrono::nanoseconds first_look = std::chrono::milliseconds(1);
std::chrono::nanoseconds longer_look(std::chrono::nanoseconds pause);

/// A run that is executed, until it ends.
class RunInFlight {
 public:
  RunInFlight(launch::Launcher& launcher, launch::JobId job, std::filesystem::path directory)
      : launcher_(&launcher), job_(std::move(job)), directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::string run_id() const { return directory_.filename().string(); }
  bool is_over() const;
  /// Asks the run to end. Call once.
  void cancel() const { launcher_->cancel(job_); }
  /// Call after the end. Closes a `cancelled` run that `exec` never wrote to.
  RunOutcome outcome(bool cancelled) const;

 private:
  launch::Launcher* launcher_;
  launch::JobId job_;
  std::filesystem::path directory_;
};

}  // namespace sabath::execution
