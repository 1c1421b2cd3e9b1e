#pragma once

#include <functional>
#include <memory>

namespace sabath::base {

/// Receiver of SIGUSR1 and SIGUSR2 on behalf of the commands that this process runs ("make a
/// checkpoint now"). While it lives the signals do not end the process but reach each
/// SignalListener. A signal that was ignored before stays ignored. Throws Error{internal} for a
/// second instance in the process.
class PassedSignals {
 public:
  PassedSignals();
  ~PassedSignals();
  PassedSignals(const PassedSignals&) = delete;
  PassedSignals& operator=(const PassedSignals&) = delete;

 private:
  struct Watcher;
  std::unique_ptr<Watcher> watcher_;
};

/// Listener to these signals. Calls `hear` once per signal from another thread, never concurrently.
/// Signals that arrive together may be merged into one call. `hear` must not throw.
class SignalListener {
 public:
  explicit SignalListener(std::function<void(int signal)> hear);
  ~SignalListener();
  SignalListener(const SignalListener&) = delete;
  SignalListener& operator=(const SignalListener&) = delete;

 private:
  std::function<void(int)> hear_;
};

}  // namespace sabath::base
