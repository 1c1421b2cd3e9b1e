#include "process_tree.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/sampler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <stop_token>
#include <thread>

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

namespace sabath::probe {
namespace {

using Seconds = std::chrono::duration<double>;

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

/// CPU time of this process's children that it has waited for, with theirs.
double dead_children_cpu_s() {
  struct rusage usage {};
  if (::getrusage(RUSAGE_CHILDREN, &usage) != 0) return 0;
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double thread_cpu_s() {
  struct timespec time {};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return 0;
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

std::string to_line(double t_s, const ProcessUse& use) {
  return fmt::format(
      R"({{"t_s":{:.3f},"cpu_s":{:.3f},"rss_bytes":{},"read_bytes":{},"write_bytes":{},)"
      R"("threads":{},"processes":{}}})"
      "\n",
      t_s,
      use.cpu_s,
      use.rss_bytes,
      use.read_bytes,
      use.write_bytes,
      use.threads,
      use.processes);
}

}  // namespace

struct UsageSampler::State {
  State(const std::filesystem::path& jsonl, std::chrono::milliseconds every, base::Clock& time)
      : path(jsonl),
        file(::open(jsonl.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
        interval(std::max(every, std::chrono::milliseconds(10))),
        clock(time),
        tree("/proc", ::getpid()) {
    if (!file) base::throw_errno(path.string(), "cannot write", errno);
    before = total();
    most = before;
    begin = clock.steady();
    thread = std::jthread([this](std::stop_token stop) { run(stop); });
  }

  /// All that descendants have used, living and dead. The dead come first: one that is waited for
  /// in between is missed rather than counted twice, and comes with the next sample.
  ProcessUse total() const {
    const auto dead = tree.dead_children_io();
    const double dead_cpu_s = dead_children_cpu_s();
    auto use = tree.look();
    use.cpu_s += dead_cpu_s;
    use.read_bytes += dead.read_bytes;
    use.write_bytes += dead.write_bytes;
    return use;
  }

  void run(const std::stop_token& stop) noexcept {
    try {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any wake;
      auto next = std::chrono::steady_clock::now() + interval;
      for (bool last = false; !last;) {
        wake.wait_until(lock, stop, next, [] { return false; });
        last = stop.stop_requested();
        sample();
        const auto now = std::chrono::steady_clock::now();
        next += interval;
        if (next < now) next = now + interval;  // what was missed on a busy node is not made up for
      }
    } catch (const std::exception&) {
      // The run matters more than its samples; the summary tells how many there are.
    }
    summary.sampler_cpu_s = thread_cpu_s();
  }

  void sample() {
    const auto now = total();
    most.cpu_s = std::max(most.cpu_s, now.cpu_s);
    most.read_bytes = std::max(most.read_bytes, now.read_bytes);
    most.write_bytes = std::max(most.write_bytes, now.write_bytes);
    auto use = now;
    use.cpu_s = most.cpu_s - before.cpu_s;
    use.read_bytes = most.read_bytes - before.read_bytes;
    use.write_bytes = most.write_bytes - before.write_bytes;
    const double t_s = Seconds(clock.steady() - begin).count();
    base::write_all(file.get(), base::as_bytes(to_line(t_s, use)), path);
    summary.samples += 1;
    summary.max_rss_bytes = std::max(summary.max_rss_bytes, use.rss_bytes);
    summary.mean_cpus = t_s > 0 ? use.cpu_s / t_s : 0;
  }

  std::filesystem::path path;
  base::UniqueFd file;
  std::chrono::milliseconds interval;
  base::Clock& clock;
  ProcessTree tree;
  ProcessUse before{};
  ProcessUse most{};  ///< the cumulative numbers never decrease, though a look may miss something
  base::SteadyTime begin{};
  spec::UsageSummary summary{};
  std::jthread thread;  ///< last: it ends before what it uses
};

UsageSampler::UsageSampler(const std::filesystem::path& jsonl,
                           std::chrono::milliseconds interval,
                           base::Clock& clock)
    : state_(std::make_unique<State>(jsonl, interval, clock)) {}

UsageSampler::~UsageSampler() = default;

spec::UsageSummary UsageSampler::finish() {
  state_->thread.request_stop();
  if (state_->thread.joinable()) state_->thread.join();
  auto summary = state_->summary;
  summary.interval_s = Seconds(state_->interval).count();
  return summary;
}

}  // namespace sabath::probe
