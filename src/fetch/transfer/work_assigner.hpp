#pragma once

#include "transfer_state.hpp"

#include <chrono>

namespace sabath::fetch {

/// Gives ranges of the file to its sources, over as many connections as their hosts bear.
class WorkAssigner {
 public:
  /// `accept` judges the answers.
  WorkAssigner(TransferState& state, Worker::Accept accept)
      : state_(state), accept_(std::move(accept)) {}

  void assign_work();
  /// Adapts the number of connections to each host. `waited`: time without work, in all.
  void tune_connections(std::chrono::nanoseconds waited);

 private:
  bool may_ask(const Mirror& mirror, base::SteadyTime now) const;
  std::optional<base::ByteRange> next_range(const Mirror& mirror);
  std::optional<base::ByteRange> next_share(const Mirror& mirror, std::uint64_t size_bytes);
  void start(Mirror& mirror, base::ByteRange range);
  Worker& idle_worker();

  TransferState& state_;
  Worker::Accept accept_;
};

}  // namespace sabath::fetch
