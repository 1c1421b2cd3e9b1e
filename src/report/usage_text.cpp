#include "usage_text.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace sabath::report {
namespace {

template <class T>
void add(std::vector<std::string>& parts, const char* form, const std::optional<T>& value) {
  if (value) parts.push_back(fmt::format(fmt::runtime(form), *value));
}

/// "93 % busy, 71.2 GiB at most, 312.4 W, up to 64 C, 1410 to 1980 MHz, power_cap in 12 sample(s)"
std::string gpu_text(const spec::GpuUsage& gpu) {
  std::vector<std::string> parts;
  if (gpu.mean_utilisation) {
    parts.push_back(fmt::format("{:.0f} % busy", *gpu.mean_utilisation * 100));
  }
  if (gpu.max_memory_bytes) {
    parts.push_back(base::format_bytes(*gpu.max_memory_bytes) + " at most");
  }
  add(parts, "{:.1f} W", gpu.mean_power_w);
  add(parts, "up to {:g} C", gpu.max_temperature_c);
  if (gpu.min_clock_mhz && gpu.max_clock_mhz) {
    parts.push_back(fmt::format("{} to {} MHz", *gpu.min_clock_mhz, *gpu.max_clock_mhz));
  }
  for (const auto& [reason, samples] : gpu.throttled)
    parts.push_back(fmt::format("slowed by {} in {} sample(s)", reason, samples));
  return fmt::format("{}: {}", gpu.uuid, fmt::join(parts, ", "));
}

/// Processes that came and went between two samples were not counted.
std::string traffic_text(const spec::UsageSummary& usage) {
  if (!usage.scope || !usage.read_bytes || !usage.write_bytes) return {};
  std::string text = fmt::format("read {}, wrote {}",
                                 base::format_bytes(*usage.read_bytes),
                                 base::format_bytes(*usage.write_bytes));
  if (usage.max_processes.value_or(0) > 0) {
    text += fmt::format(", up to {} process(es) and {} thread(s)",
                        *usage.max_processes,
                        usage.max_threads.value_or(0));
  }
  return text + ", by " + *usage.scope;
}

}  // namespace

void add_usage(LabelledLines& lines, const spec::RunRecord& record) {
  const spec::UsageSummary& usage = record.usage;
  lines.add("busy CPUs",
            fmt::format("{:.2f} on average, {} sample{}",
                        usage.mean_cpus,
                        usage.samples,
                        usage.samples == 1 ? "" : "s"));
  if (usage.max_rss_bytes > 0)
    lines.add("peak memory", base::format_bytes(usage.max_rss_bytes) + " at most");
  lines.add("", traffic_text(usage));
  for (const auto& gpu : usage.gpus.value_or(std::vector<spec::GpuUsage>{}))
    lines.add("GPU", gpu_text(gpu));
  lines.add("energy", record.energy);
}

}  // namespace sabath::report
