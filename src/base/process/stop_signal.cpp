#include "signal_handler.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/stop_signal.hpp>

#include <semaphore.h>

#include <atomic>
#include <cerrno>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include <unistd.h>

namespace sabath::base {
namespace {

constexpr int exit_status = 128 + SIGINT;

/// All that a signal handler may touch: it has no other way to reach anything. The semaphore is
/// never destroyed, so that a handler that is still on its way out finds it.
struct HandlerState {
  HandlerState() { ::sem_init(&wake, 0, 0); }
  std::atomic<bool> in_use{false};
  std::atomic<bool> heeded{true};
  std::atomic<bool> has_last{false};
  std::atomic<int> received{0};
  std::atomic<int> interrupts{0};
  sem_t wake{};
};

HandlerState& handler_state() {
  static HandlerState state;
  return state;
}

extern "C" void on_stop_signal(int signal) {
  const int saved = errno;
  HandlerState& state = handler_state();
  if (signal == SIGINT && state.interrupts.fetch_add(1) > 0) ::_exit(exit_status);
  if (!state.heeded && !state.has_last) ::_exit(exit_status);
  int none = 0;
  state.received.compare_exchange_strong(none, signal);
  ::sem_post(&state.wake);
  errno = saved;
}

}  // namespace

/// Waits for the handler in a thread of its own, because a stop request runs callbacks that no
/// signal handler may run.
struct StopSignal::Watcher {
  explicit Watcher(std::stop_source& source)
      : thread([this, &source] {
          HandlerState& state = handler_state();
          while (state.received == 0 && !ending) {
            ::sem_wait(&state.wake);
          }
          if (state.received == 0) return;
          if (!state.heeded) end_process();
          source.request_stop();
        }) {}
  /// Of two threads that end it one waits for the other.
  [[noreturn]] void end_process() {
    const std::lock_guard lock(mutex);
    if (last) last();
    ::_exit(exit_status);
  }
  ~Watcher() {
    ending = true;
    ::sem_post(&handler_state().wake);
    thread.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  std::atomic<bool> ending{false};
  std::mutex mutex;
  std::function<void()> last;
  std::thread thread;
  SignalHandler interrupt{SIGINT, on_stop_signal};
  SignalHandler terminate{SIGTERM, on_stop_signal};
  SignalHandler hang_up{SIGHUP, on_stop_signal};
};

StopSignal::StopSignal() {
  HandlerState& state = handler_state();
  if (state.in_use.exchange(true)) {
    throw Error(ErrorKind::internal, "stop signal: there is one already in this process");
  }
  state.received = 0;
  state.interrupts = 0;
  state.heeded = true;
  state.has_last = false;
  try {
    watcher_ = std::make_unique<Watcher>(source_);
  } catch (...) {
    state.in_use = false;
    throw;
  }
}

StopSignal::~StopSignal() {
  watcher_.reset();
  handler_state().in_use = false;
}

void StopSignal::set_heeded(bool heeded) noexcept {
  HandlerState& state = handler_state();
  state.heeded = heeded;
  // One that came just before would be heard by nobody any more.
  if (!heeded && state.received != 0) watcher_->end_process();
}

void StopSignal::set_last(std::function<void()> last) {
  const std::lock_guard lock(watcher_->mutex);
  watcher_->last = std::move(last);
  handler_state().has_last = watcher_->last != nullptr;
}

int StopSignal::received() const noexcept {
  return handler_state().received;
}

bool stop_was_requested() noexcept {
  const HandlerState& state = handler_state();
  return state.in_use && state.received != 0;
}

bool wait_unless_stopped(std::chrono::nanoseconds duration, const std::stop_token& stop) {
  std::mutex mutex;
  std::unique_lock lock(mutex);
  std::condition_variable_any().wait_for(lock, stop, duration, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace sabath::base
