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

/// Judges what sources answer. Every answer is held against the validators of its source.
class AnswerHandler {
 public:
  AnswerHandler(TransferState& state, TransferFailures& failures)
      : state_(state), failures_(failures) {}

  /// Called before the first byte of a body. Returns false where the body is of no use. libcurl's
  /// callback runs it: it must not take a connection out of the loop.
  bool accept(Worker& worker, const Answer& answer);
  /// Called when a connection has ended with `code`.
  void settle(Worker& worker, CURLcode code);

 private:
  bool accept_whole(Worker& worker, const Answer& answer);
  bool accept_size(Worker& worker);
  void bind(Worker& worker, const Answer& answer);
  void settle_answer(Worker& worker, bool is_clean);
  void settle_body(Worker& worker, bool is_clean);
  void settle_end(Worker& worker);
  void settle_status(Worker& worker);
  void settle_misfit(Worker& worker);
  void succeeded(Worker& worker);

  TransferState& state_;
  TransferFailures& failures_;
};

}  // namespace sabath::fetch
