#include "cgroup.hpp"
#include "process_tree.hpp"
#include "sample_line.hpp"
#include "thread_cpu.hpp"
#include "watch/energy_meter.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/energy.hpp>
#include <sabath/probe/host_probe.hpp>
#include <sabath/probe/sampler.hpp>

#include <algorithm>
#include <cerrno>
#include <condition_variable>
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

}  // namespace

struct UsageSampler::State {
  State(const std::filesystem::path& jsonl, SamplerOptions wanted, base::Clock& time)
      : path(jsonl),
        file(::open(jsonl.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
        options(std::move(wanted)),
        clock(time),
        tree("/proc", options.root > 0 ? options.root : ::getpid()),
        libraries(open_gpu_libraries(options.sources)),
        watched(choose_gpus(libraries, options.gpus)),
        gpus(watched),
        energy(find_energy_sources(options.sources.root, libraries, watched)) {
    if (!file) base::throw_errno(path.string(), "cannot write", errno);
    options.interval = std::max(options.interval, std::chrono::milliseconds(10));
    before = total();
    begin = clock.steady();
    energy.look(0);
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

  ProcessUse tree_use() const {
    auto use = total();
    use.cpu_s = std::max(use.cpu_s - before.cpu_s, 0.0);
    use.read_bytes = difference(use.read_bytes, before.read_bytes);
    use.write_bytes = difference(use.write_bytes, before.write_bytes);
    return use;
  }

  /// The group began with nothing. Of storage traffic that it does not count, the part of dead
  /// children is known here alone.
  std::optional<GroupUse> group_use() const {
    if (options.group.empty()) return std::nullopt;
    auto found = look_at_group(options.group, "/proc", "/sys");
    if (!found || found->use.cpu_s == 0) return std::nullopt;
    if (!found->counts_io) {
      const auto dead = tree.dead_children_io();
      found->use.read_bytes += difference(dead.read_bytes, before.read_bytes);
      found->use.write_bytes += difference(dead.write_bytes, before.write_bytes);
    }
    return found;
  }

  void run(const std::stop_token& stop) noexcept {
    try {
      std::mutex mutex;
      std::unique_lock lock(mutex);
      std::condition_variable_any wake;
      auto next = std::chrono::steady_clock::now() + options.interval;
      for (bool last = false; !last;) {
        wake.wait_until(lock, stop, next, [] { return false; });
        last = stop.stop_requested();
        const auto cpu = thread_cpu();
        sample();
        next = next_after(next, Seconds(thread_cpu() - cpu).count());
      }
    } catch (const std::exception&) {
      // The run matters more than its samples; the summary tells how many there are.
      broke_off = true;
    }
    summary.sampler_cpu_s = Seconds(thread_cpu()).count();
  }

  /// What was missed on a busy node is not made up for.
  base::SteadyTime next_after(base::SteadyTime due, double cost_s) const {
    const auto now = std::chrono::steady_clock::now();
    const auto rest = std::chrono::duration_cast<std::chrono::nanoseconds>(
        Seconds(options.share > 0 ? cost_s / options.share : 0));
    return std::max({due + options.interval,
                     now + rest,
                     due + options.interval < now ? now + options.interval : now});
  }

  double elapsed_s() const { return Seconds(clock.steady() - begin).count(); }

  void sample() {
    const auto of_group = group_use();
    auto use = of_group ? of_group->use : tree_use();
    most.cpu_s = use.cpu_s = std::max(most.cpu_s, use.cpu_s);
    most.read_bytes = use.read_bytes = std::max(most.read_bytes, use.read_bytes);
    most.write_bytes = use.write_bytes = std::max(most.write_bytes, use.write_bytes);
    UsageSample sample{elapsed_s(), use};
    if (of_group) sample.memory_bytes = of_group->memory_bytes;
    sample.gpus = gpus.look();
    energy.look(sample.t_s);
    sample.energy = energy.readings({});
    add(sample, of_group.has_value());
    base::write_all(file.get(), base::as_bytes(sample_line(sample)), path);
    summary.samples += 1;
  }

  void add(const UsageSample& sample, bool grouped) {
    const ProcessUse& use = sample.use;
    summary.scope = grouped ? "cgroup" : "process tree";
    summary.max_rss_bytes = std::max(summary.max_rss_bytes, use.rss_bytes);
    summary.mean_cpus = sample.t_s > 0 ? use.cpu_s / sample.t_s : 0;
    summary.read_bytes = use.read_bytes;
    summary.write_bytes = use.write_bytes;
    // No sample was taken: report "unknown", not 0.
    const auto keep_most = [](std::optional<std::uint64_t>& kept, int now) {
      if (now > 0) kept = std::max(kept.value_or(0), static_cast<std::uint64_t>(now));
    };
    keep_most(summary.max_threads, use.threads);
    keep_most(summary.max_processes, use.processes);
  }

  void end() {
    if (!thread.joinable()) return;
    thread.request_stop();
    thread.join();
    if (broke_off) energy.look(elapsed_s());
    summary.interval_s = Seconds(options.interval).count();
    summary.gpus = gpus.summary();
  }

  std::filesystem::path path;
  base::UniqueFd file;
  SamplerOptions options;
  base::Clock& clock;
  ProcessTree tree;
  GpuLibraries libraries;
  std::vector<WatchedGpu> watched;
  GpuWatch gpus;
  EnergyMeter energy;
  ProcessUse before{};
  ProcessUse most{};  ///< the cumulative numbers never decrease, though a look may miss something
  base::SteadyTime begin{};
  spec::UsageSummary summary{};
  bool broke_off = false;
  std::jthread thread;  ///< last: it ends before what it uses
};

UsageSampler::UsageSampler(const std::filesystem::path& jsonl,
                           SamplerOptions options,
                           base::Clock& clock)
    : state_(std::make_unique<State>(jsonl, std::move(options), clock)) {}

UsageSampler::~UsageSampler() = default;

spec::UsageSummary UsageSampler::finish() {
  state_->end();
  return state_->summary;
}

UsageSampler::Energy UsageSampler::energy() const {
  auto readings = state_->energy.readings(node_name());
  auto text = energy_text(readings, state_->energy.missing());
  return {std::move(readings), std::move(text)};
}

std::shared_ptr<const void> gpu_session(const ProbeSources& sources) {
  return std::make_shared<const GpuLibraries>(open_gpu_libraries(sources));
}

}  // namespace sabath::probe
