#include "library_view.hpp"
#include "watch/thread_cpu.hpp"

#include <sabath/probe/library_watch.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <system_error>
#include <thread>

namespace sabath::probe {
namespace {

using Time = std::chrono::steady_clock::time_point;
using namespace std::chrono_literals;

constexpr std::chrono::nanoseconds shortest_gap = 5ms;
constexpr std::chrono::nanoseconds longest_gap = 10s;
constexpr int part_of_time = 4;
/// Budget for looking: this, and one hundredth of the time.
constexpr std::chrono::nanoseconds allowance = 10ms;
constexpr int share = 100;

}  // namespace

struct LibraryWatch::State {
  /// The thread starts here and not in `begin`: a stage's thread would bind it to that stage's
  /// cores. Where no thread can be made the run is not watched.
  State(std::filesystem::path proc, ProcessVisitor visitor)
      : view(std::move(proc), std::move(visitor)) {
    try {
      thread = std::jthread([this](std::stop_token stop) { run(stop); });
    } catch (const std::system_error& error) {
      view.note(std::string("loaded libraries were not looked for: no thread for it: ") +
                error.what());
    }
  }

  void begin(const std::string& stage, int pid) {
    const std::lock_guard lock(mutex);
    stages[stage] = pid;
    novelty = std::chrono::steady_clock::now();
    if (!thread.joinable()) return;
    if (begun.empty()) first = novelty;
    begun.insert(stage);
    restarted = true;
    wake.notify_all();
  }

  void end(const std::string& stage) {
    const std::lock_guard lock(mutex);
    stages.erase(stage);
  }

  void run(const std::stop_token& stop) noexcept {
    try {
      std::unique_lock lock(mutex);
      while (!stop.stop_requested()) {
        wake.wait(lock, stop, [&] { return !stages.empty(); });
        restarted = false;
        if (wake.wait_until(lock, stop, next_turn(), [&] { return restarted; })) continue;
        if (stop.stop_requested() || stages.empty()) continue;
        const auto roots = stages;
        const bool is_due = std::chrono::steady_clock::now() >= next_look();
        lock.unlock();
        if (is_due) look(roots);
        hash_hidden(stop);
        lock.lock();
      }
    } catch (const std::exception& error) {
      view.note(std::string("looking for loaded libraries ended early: ") + error.what());
    }
    cpu = thread_cpu();
  }

  void look(const std::map<std::string, int>& roots) {
    const auto now = std::chrono::steady_clock::now();
    if (view.look(roots)) found_new = now;
    last_look = now;
    cpu = thread_cpu();
  }

  /// Hashes hidden files, as far as the budget allows.
  void hash_hidden(const std::stop_token& stop) {
    const auto left = [&] {
      return allowance + (std::chrono::steady_clock::now() - first) / share;
    };
    while (view.has_hidden_to_hash() && cpu < left() && !stop.stop_requested()) {
      view.hash_some();
      cpu = thread_cpu();
    }
  }

  Time next_look() const {
    const Time newest = std::max(novelty, found_new);
    const Time before = std::max(last_look, novelty);
    const auto gap = std::clamp<std::chrono::nanoseconds>(
        (before - newest) / part_of_time, shortest_gap, longest_gap);
    return std::max(before + gap, first + (cpu - allowance) * share);
  }

  Time next_turn() const {
    const Time look = next_look();
    if (!view.has_hidden_to_hash()) return look;
    return std::min(look, first + (cpu - allowance) * share + longest_gap / share);
  }

  SeenFiles finish() {
    thread.request_stop();
    if (thread.joinable()) thread.join();
    if (begun.empty()) cpu = {};  // the thread's own beginning and end
    return view.finish(begun, std::chrono::duration<double>(cpu).count());
  }

  std::mutex mutex;
  std::condition_variable_any wake;
  std::map<std::string, int> stages;  ///< those that run, and their processes
  std::set<std::string> begun;
  bool restarted = false;
  Time first{};
  Time novelty{};  ///< when the last stage began
  // The thread's own.
  Time found_new{};
  Time last_look{};
  std::chrono::nanoseconds cpu{};
  LibraryView view;
  std::jthread thread;  ///< last: it ends before what it uses
};

LibraryWatch::LibraryWatch(std::filesystem::path proc, ProcessVisitor visitor)
    : state_(std::make_unique<State>(std::move(proc), std::move(visitor))) {}

LibraryWatch::~LibraryWatch() = default;

void LibraryWatch::begin(const std::string& stage, int pid) {
  state_->begin(stage, pid);
}

void LibraryWatch::end(const std::string& stage) {
  state_->end(stage);
}

SeenFiles LibraryWatch::finish() {
  return state_->finish();
}

}  // namespace sabath::probe
