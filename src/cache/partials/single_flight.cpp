#include "cache_state.hpp"
#include "claim.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/observer.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/cache/cache.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <utility>

#include <unistd.h>

namespace sabath::cache {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr milliseconds first_wait(50);
constexpr milliseconds longest_wait(1000);

ClaimRecord record_of(const base::ProcessIdentity& self) {
  std::array<char, 256> name{};
  ::gethostname(name.data(), name.size() - 1);
  // NOLINTNEXTLINE(concurrency-mt-unsafe): nothing here changes the environment
  const char* const job = std::getenv("SLURM_JOB_ID");
  return {.nonce = random_name(),
          .host = name.data(),
          .process = self,
          .job = job == nullptr ? "" : job};
}

/// Forwards all events, and shows the byte progress to waiting processes.
class ProgressSharingObserver final : public base::Observer {
 public:
  ProgressSharingObserver(base::Observer& next, Claim& claim) : next_(next), claim_(claim) {}

  void note(std::string_view text) override { next_.note(text); }
  void warn(std::string_view text, std::string_view hint) override { next_.warn(text, hint); }
  void progress(const base::Progress& progress) override {
    next_.progress(progress);
    if (!progress.in_bytes) return;
    const std::lock_guard lock(mutex_);
    tasks_[progress.task] = {progress.done, progress.total};
    std::uint64_t done = 0;
    std::optional<std::uint64_t> total = 0;
    for (const auto& [task, amounts] : tasks_) {
      done += amounts.first;
      total = total && amounts.second ? std::optional(*total + *amounts.second) : std::nullopt;
    }
    claim_.set_progress(done, total);
  }

 private:
  base::Observer& next_;
  Claim& claim_;
  std::mutex mutex_{};
  std::map<std::string, std::pair<std::uint64_t, std::optional<std::uint64_t>>> tasks_{};
};

std::string holder_text(const ClaimRecord& holder) {
  return "process " + std::to_string(holder.process.pid) + " on " + holder.host +
         (holder.job.empty() ? "" : " (job " + holder.job + ")");
}

/// Waits until another holder's claim is gone, or another process holds it.
class Wait {
 public:
  Wait(CacheState& state, const fs::path& claim, const Flight& flight, base::Observer& observer)
      : state_(state), claim_(claim), flight_(flight), observer_(observer) {}
  ~Wait() {
    if (progress_.task.empty()) return;
    progress_.finished = true;
    observer_.progress(progress_);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  void run(const std::stop_token& stop) {
    auto changed = state_.clock.steady();
    while (const auto text = read_claim(claim_)) {
      if (*text != seen_) {
        seen_ = *text;
        changed = state_.clock.steady();
        const auto before = holder_;
        look();
        // The holder has changed: the caller asks again whether the task is done.
        if (before && holder_ && before->nonce != holder_->nonce) return;
      }
      const bool is_silent = state_.clock.steady() - changed >= flight_.silence;
      if (is_silent || (holder_ && is_provably_gone(holder_->process, state_.self()))) {
        const std::string who = holder_ ? holder_text(*holder_) : "the process that did this";
        observer_.note(flight_.task + ": " + who + " has died; continuing with its files");
        bury_claim(state_.layout.beneath(), claim_, seen_);
        return;
      }
      if (stop.stop_requested()) {
        throw base::Error(base::ErrorKind::interrupted, flight_.task + ": the wait was stopped");
      }
      state_.clock.sleep_for(next_wait());
    }
  }

 private:
  void look() {
    holder_ = parse_claim(seen_);
    if (!holder_) return;
    if (progress_.task.empty()) {
      observer_.note(flight_.task + ": " + holder_text(*holder_) + " does this already; waiting");
      progress_.task = flight_.task;
    }
    progress_.done = holder_->done_bytes;
    progress_.total = holder_->total_bytes;
    observer_.progress(progress_);
  }

  /// Grows, and differs between waiting processes.
  std::chrono::nanoseconds next_wait() {
    const milliseconds wait = wait_;
    wait_ = std::min(wait_ * 3 / 2, longest_wait);
    return wait + milliseconds(random_() % static_cast<unsigned>(wait.count() / 2));
  }

  CacheState& state_;
  const fs::path& claim_;
  const Flight& flight_;
  base::Observer& observer_;
  std::string seen_{};
  std::optional<ClaimRecord> holder_{};
  base::Progress progress_{};
  milliseconds wait_ = first_wait;
  std::minstd_rand random_{std::random_device{}()};
};

}  // namespace

bool Cache::single_flight(std::string_view key,
                          const Flight& flight,
                          base::Observer& observer,
                          std::stop_token stop) {
  const Layout& layout = state_->layout;
  const fs::path claim = layout.claim(key);
  while (!flight.is_there()) {
    if (const auto held = Claim::take(layout, claim, record_of(state_->self()), flight.heartbeat)) {
      // The previous holder may have finished between the look and the claim.
      if (flight.is_there()) return false;
      ProgressSharingObserver sharing(observer, *held);
      flight.work(sharing);
      return true;
    }
    Wait(*state_, claim, flight, observer).run(stop);
  }
  return false;
}

}  // namespace sabath::cache
