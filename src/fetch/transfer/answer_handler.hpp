#pragma once

#include "transfer_failures.hpp"
#include "transfer_state.hpp"

namespace sabath::fetch {

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
