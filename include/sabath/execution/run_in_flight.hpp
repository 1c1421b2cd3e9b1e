#pragma once

#include <sabath/launch/launcher.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <string>

namespace sabath::execution {

/// How one run ended.
struct RunOutcome {
  std::string run_id{};
  std::filesystem::path directory{};
  spec::RunState state = spec::RunState::planned;
  std::string message{};
};

/// What the files of a run say of its end; `lost` while they say none. Nobody must be executing it.
RunOutcome outcome_of(const std::filesystem::path& run_directory);

/// The same of a run that may be under way: then `planned` or `running`.
RunOutcome look_at_run(const std::filesystem::path& run_directory);

/// The first pause between two looks at runs that go on, and the one after `pause`: a sixteenth of
/// what it has taken, at most 100 ms, so that a short run is not waited for after its end.
inline constexpr std::chrono::nanoseconds first_look = std::chrono::milliseconds(1);
std::chrono::nanoseconds longer_look(std::chrono::nanoseconds pause);

/// A run that somebody executes, until it is over.
class RunInFlight {
 public:
  RunInFlight(launch::Launcher& launcher, launch::JobId job, std::filesystem::path directory)
      : launcher_(&launcher), job_(std::move(job)), directory_(std::move(directory)) {}

  const std::filesystem::path& directory() const noexcept { return directory_; }
  std::string run_id() const { return directory_.filename().string(); }
  bool is_over() const;
  /// Asks it to end; once is enough.
  void cancel() const { launcher_->cancel(job_); }
  /// Once it is over. A run that was `cancelled` before `exec` could say anything is closed here.
  RunOutcome outcome(bool cancelled) const;

 private:
  launch::Launcher* launcher_;
  launch::JobId job_;
  std::filesystem::path directory_;
};

}  // namespace sabath::execution
