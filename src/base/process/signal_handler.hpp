#pragma once

#include <signal.h>

namespace sabath::base {

/// Handler of one signal; the destructor restores the old one. A signal that was ignored at the
/// start (nohup, a shell's background job) stays ignored.
class SignalHandler {
 public:
  SignalHandler(int signal, void (*handler)(int)) : signal_(signal) {
    ::sigaction(signal_, nullptr, &old_);
    if (is_ignored()) return;
    struct sigaction action {};
    action.sa_handler = handler;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    ::sigaction(signal_, &action, nullptr);
  }
  ~SignalHandler() {
    if (!is_ignored()) ::sigaction(signal_, &old_, nullptr);
  }
  SignalHandler(const SignalHandler&) = delete;
  SignalHandler& operator=(const SignalHandler&) = delete;

 private:
  bool is_ignored() const {
    return (old_.sa_flags & SA_SIGINFO) == 0 && old_.sa_handler == SIG_IGN;
  }
  int signal_;
  struct sigaction old_ {};
};

}  // namespace sabath::base
