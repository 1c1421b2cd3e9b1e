#pragma once

#include <functional>
#include <memory>

namespace sabath::base {

/// SIGUSR1 and SIGUSR2 are for the commands that this process runs ("make a checkpoint now"): while
/// this lives they do not end it, and whoever listens is told. One at a time in a process (else
/// Error{internal}). One that was ignored before stays ignored.
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

/// Is told of each such signal for as long as it lives, in another thread and one at a time; of
/// several that come at once perhaps only of one, as signals are. `hear` does not throw.
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
