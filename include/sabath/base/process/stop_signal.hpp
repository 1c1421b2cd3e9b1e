#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>

namespace sabath::base {

/// Turns SIGINT, SIGTERM and SIGHUP into a stop request while it lives. A second SIGINT ends the
/// process at once with status 130. A signal that was ignored before stays ignored (nohup). The
/// destructor restores the old handlers. Throws Error{internal} for a second instance.
/// Thread safety: stop callbacks run in a separate thread.
class StopSignal {
 public:
  StopSignal();
  ~StopSignal();
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  std::stop_token token() const { return source_.get_token(); }
  /// Whether the process currently reacts to the token (initially yes). If not, the first signal
  /// ends the process at once with status 130.
  void set_heeded(bool heeded) noexcept;
  /// Clean-up to run before a signal ends the process; empty clears it. Runs in another thread, so
  /// it must capture by value.
  void set_last(std::function<void()> last);
  /// The received signal, or 0.
  int received() const noexcept;

 private:
  std::stop_source source_;
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
};

/// Whether a StopSignal of this process has received a signal. For waits without a token.
bool stop_was_requested() noexcept;

/// Waits. Returns false at once where a stop is requested meanwhile.
bool wait_unless_stopped(std::chrono::nanoseconds duration, const std::stop_token& stop);

}  // namespace sabath::base
