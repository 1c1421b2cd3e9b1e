#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/spec/run_record.hpp>

#include <chrono>
#include <filesystem>
#include <memory>

namespace sabath::probe {

/// Samples CPU time, memory, I/O and threads of the process tree beneath this process while it
/// lives, into JSON lines. Runs in a thread of its own; never throws once started (a full disk ends
/// the sampling and is said in the summary's samples).
class UsageSampler {
 public:
  UsageSampler(const std::filesystem::path& jsonl,
               std::chrono::milliseconds interval,
               base::Clock& clock);
  ~UsageSampler();
  UsageSampler(const UsageSampler&) = delete;
  UsageSampler& operator=(const UsageSampler&) = delete;
  /// Ends the sampling and sums up. A last sample is taken first, so that short runs have one.
  spec::UsageSummary finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::probe
