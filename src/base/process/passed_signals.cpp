#include "signal_handler.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/passed_signals.hpp>

#include <semaphore.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace sabath::base {
namespace {

constexpr std::array passed{SIGUSR1, SIGUSR2};

/// All that the handler may touch. The semaphore is never destroyed, so that a handler that is
/// still on its way out finds it.
struct Received {
  Received() { ::sem_init(&wake, 0, 0); }
  std::atomic<bool> in_use{false};
  std::array<std::atomic<bool>, passed.size()> signals{};
  sem_t wake{};
};

Received& received() {
  static Received state;
  return state;
}

struct Listeners {
  std::mutex mutex{};
  std::vector<const std::function<void(int)>*> all{};
};

Listeners& listeners() {
  static Listeners state;
  return state;
}

extern "C" void on_passed_signal(int signal) {
  const int saved = errno;
  Received& state = received();
  for (std::size_t i = 0; i < passed.size(); ++i) {
    if (passed[i] == signal) state.signals[i] = true;
  }
  ::sem_post(&state.wake);
  errno = saved;
}

void notify_listeners(int signal) {
  Listeners& state = listeners();
  const std::lock_guard lock(state.mutex);
  for (const auto* hear : state.all)
    (*hear)(signal);
}

}  // namespace

/// A thread of its own tells, since what listeners do no signal handler may.
struct PassedSignals::Watcher {
  Watcher()
      : thread([this] {
          Received& state = received();
          while (!ending) {
            ::sem_wait(&state.wake);
            for (std::size_t i = 0; i < passed.size(); ++i) {
              if (state.signals[i].exchange(false)) notify_listeners(passed[i]);
            }
          }
        }) {}
  ~Watcher() {
    ending = true;
    ::sem_post(&received().wake);
    thread.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  std::atomic<bool> ending{false};
  std::thread thread;
  SignalHandler first{SIGUSR1, on_passed_signal};
  SignalHandler second{SIGUSR2, on_passed_signal};
};

PassedSignals::PassedSignals() {
  Received& state = received();
  listeners();
  if (state.in_use.exchange(true))
    throw Error(ErrorKind::internal, "passed signals: somebody has them already in this process");
  for (auto& signal : state.signals)
    signal = false;
  try {
    watcher_ = std::make_unique<Watcher>();
  } catch (...) {
    state.in_use = false;
    throw;
  }
}

PassedSignals::~PassedSignals() {
  watcher_.reset();
  received().in_use = false;
}

SignalListener::SignalListener(std::function<void(int)> hear) : hear_(std::move(hear)) {
  Listeners& state = listeners();
  const std::lock_guard lock(state.mutex);
  state.all.push_back(&hear_);
}

SignalListener::~SignalListener() {
  Listeners& state = listeners();
  const std::lock_guard lock(state.mutex);
  std::erase(state.all, &hear_);
}

}  // namespace sabath::base
