#pragma once

#include <functional>
#include <memory>
#include <stop_token>

namespace sabath::base {

/// Turns SIGINT, SIGTERM and SIGHUP (a terminal that goes away, and how some schedulers end jobs)
/// into a stop request for as long as it lives; one at a time in a process (else Error{internal}).
/// A second SIGINT within it ends the process at once with status 130, for users whose patience is
/// over. A signal that was ignored before stays ignored (nohup).
/// The stop callbacks run in a thread of its own; the old handlers are back at the end.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// Whether somebody looks at the token, as at first. Where nobody does, a stop request would be
  /// swallowed: then the first signal ends the process at once, with status 130.
  void set_heeded(bool heeded) noexcept;
  /// What such an end must not leave behind; nothing: no more. Called in another thread, so it
  /// takes what it needs by value.
  void set_last(std::function<void()> last);
  /// The signal that asked, or 0.
  int received() const noexcept;

 private:
  std::stop_source source_;
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
};

/// Whether a StopSignal of this process has received a signal. For waits that have no token.
bool stop_was_requested() noexcept;

}  // namespace sabath::base
