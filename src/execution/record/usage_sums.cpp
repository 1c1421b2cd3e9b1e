#include "usage_sums.hpp"

#include <algorithm>
#include <optional>

namespace sabath::execution {
namespace {

using spec::GpuUsage;
using spec::UsageSummary;

template <class T, class Combine>
std::optional<T> both(const std::optional<T>& a, const std::optional<T>& b, Combine combine) {
  if (!a || !b) return a ? a : b;
  return combine(*a, *b);
}

const auto sum = [](const auto& a, const auto& b) { return a + b; };
const auto larger = [](const auto& a, const auto& b) { return std::max(a, b); };
const auto smaller = [](const auto& a, const auto& b) { return std::min(a, b); };

double weighted(double a, double a_s, double b, double b_s) {
  return a_s + b_s > 0 ? (a * a_s + b * b_s) / (a_s + b_s) : 0;
}

/// The same device in both.
void add(GpuUsage& gpu, double gpu_s, const GpuUsage& other, double other_s) {
  const auto mean = [&](double a, double b) { return weighted(a, gpu_s, b, other_s); };
  gpu.mean_utilisation = both(gpu.mean_utilisation, other.mean_utilisation, mean);
  gpu.max_memory_bytes = both(gpu.max_memory_bytes, other.max_memory_bytes, larger);
  gpu.mean_power_w = both(gpu.mean_power_w, other.mean_power_w, mean);
  gpu.max_temperature_c = both(gpu.max_temperature_c, other.max_temperature_c, larger);
  gpu.min_clock_mhz = both(gpu.min_clock_mhz, other.min_clock_mhz, smaller);
  gpu.max_clock_mhz = both(gpu.max_clock_mhz, other.max_clock_mhz, larger);
  for (const auto& [reason, samples] : other.throttled)
    gpu.throttled[reason] += samples;
}

/// Fields that both cases combine alike.
UsageSummary common(const TimedUsage& first, const TimedUsage& second) {
  UsageSummary all = first.usage;
  const UsageSummary& other = second.usage;
  all.samples += other.samples;
  all.interval_s = std::max(all.interval_s, other.interval_s);
  all.sampler_cpu_s += other.sampler_cpu_s;
  if (!all.scope) all.scope = other.scope;
  all.read_bytes = both(all.read_bytes, other.read_bytes, sum);
  all.write_bytes = both(all.write_bytes, other.write_bytes, sum);
  for (const GpuUsage& gpu : other.gpus.value_or(std::vector<GpuUsage>{})) {
    if (!all.gpus) all.gpus.emplace();
    const auto same =
        std::ranges::find_if(*all.gpus, [&](const auto& one) { return one.uuid == gpu.uuid; });
    if (same == all.gpus->end()) {
      all.gpus->push_back(gpu);
    } else {
      add(*same, first.seconds, gpu, second.seconds);
    }
  }
  return all;
}

}  // namespace

UsageSummary one_after_other(const TimedUsage& first, const TimedUsage& second) {
  UsageSummary all = common(first, second);
  const UsageSummary& other = second.usage;
  all.mean_cpus = weighted(all.mean_cpus, first.seconds, second.usage.mean_cpus, second.seconds);
  all.max_rss_bytes = std::max(all.max_rss_bytes, other.max_rss_bytes);
  all.max_threads = both(all.max_threads, other.max_threads, larger);
  all.max_processes = both(all.max_processes, other.max_processes, larger);
  return all;
}

UsageSummary side_by_side(const TimedUsage& first, const TimedUsage& other) {
  UsageSummary all = common(first, other);
  if (first.seconds > 0) all.mean_cpus += other.usage.mean_cpus * other.seconds / first.seconds;
  all.max_rss_bytes += other.usage.max_rss_bytes;
  all.max_threads = both(all.max_threads, other.usage.max_threads, sum);
  all.max_processes = both(all.max_processes, other.usage.max_processes, sum);
  return all;
}

}  // namespace sabath::execution
