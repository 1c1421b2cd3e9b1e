#pragma once

#include "transfer_state.hpp"

#include <random>

namespace sabath::fetch {

/// Decides about a source that failed: a pause, fewer connections to its host, or its end.
class TransferFailures {
 public:
  explicit TransferFailures(TransferState& state) : state_(state) {}

  void fail(Worker& worker, const Failure& failure);
  /// Cancels connections that are silent for too long.
  void look_for_silence();

 private:
  void give_up(Mirror& mirror, const Failure& failure);
  bool host_bears_no_more(const Worker& worker, const Failure& failure) const;
  bool others_could_do_it(const Worker& worker, base::SteadyTime now) const;

  TransferState& state_;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace sabath::fetch
