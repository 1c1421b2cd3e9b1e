#pragma once

#include "output_stream.hpp"
#include "process_family.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/process/command.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cstdint>
#include <optional>
#include <stop_token>

namespace sabath::base {

/// Watches one running command until it has ended. Takes in its output and holds it to its limits.
/// Ends it when a limit is passed or when a stop is requested.
class Supervision {
 public:
  Supervision(const Command& command,
              const ProcessFamily& family,
              OutputStream& output,
              OutputStream& errors);

  /// Returns when the leader has ended and, if it was asked to, so has its group or the grace is
  /// over. Says why sabath ended it; nothing when it ended by itself.
  std::optional<ProcessEnd> wait(const std::stop_token& stop);

 private:
  void sleep_until_something_happens(int end_fd, int stop_fd);
  SteadyTime next_look() const;
  void take_output();
  bool has_other_output(SteadyTime now);
  std::optional<ProcessEnd> passed_limit(SteadyTime now) const;
  void ask_to_end(ProcessEnd reason, SteadyTime now);
  bool is_over(SteadyTime now);

  const Command& command_;
  const ProcessFamily& family_;
  OutputStream& output_;
  OutputStream& errors_;
  SteadyTime deadline_;
  SteadyTime last_output_;
  std::uintmax_t other_bytes_;
  SteadyTime next_other_;
  SteadyTime kill_at_ = SteadyTime::max();
  std::optional<ProcessEnd> asked_{};
  bool killed_ = false;
  bool leader_ended_ = false;
  bool stop_requested_ = false;
};

}  // namespace sabath::base
