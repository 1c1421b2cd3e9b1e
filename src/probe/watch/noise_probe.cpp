#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/spec/host_facts.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <sstream>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;
using spec::HostFacts;
using Noise = std::vector<std::string>;

/// A quarter of the usable threads: a smaller load hardly disturbs a run.
constexpr double load_share = 0.25;
constexpr std::uint64_t little_memory = 10;  ///< a tenth of all
constexpr std::uint64_t much_swap = 100;     ///< a hundredth of memory

/// Returns the number of other running tasks: the fourth field of /proc/loadavg without this one.
std::uint64_t others_running(const fs::path& root) {
  std::istringstream fields(read_fact(root / "proc/loadavg").value_or(""));
  std::string field;
  for (int i = 0; i < 4; ++i)
    fields >> field;
  const auto running = parse_number(field).value_or(0);
  return running > 0 ? running - 1 : 0;
}

/// Checks running tasks, too: the mean of a minute includes the run that has just ended.
void add_load(const fs::path& root, const HostFacts& facts, Noise& noise) {
  const int threads = std::max(facts.cpu.effective_threads, 1);
  const auto running = others_running(root);
  if (facts.load_1min <= load_share * threads || running == 0) return;
  noise.push_back(fmt::format("load {:.2f} on {} usable hardware thread(s), {} other task(s) run",
                              facts.load_1min,
                              threads,
                              running));
}

void add_gpus(const HostFacts& facts, Noise& noise) {
  for (const auto& gpu : facts.gpus) {
    if (!gpu.processes || gpu.processes->empty()) continue;
    const auto names = base::joined(*gpu.processes, ", ", [](const spec::GpuProcess& process) {
      return process.name.empty() ? "process " + std::to_string(process.pid) : process.name;
    });
    noise.push_back(
        fmt::format("{} has {} other process(es): {}", gpu.uuid, gpu.processes->size(), names));
  }
}

void add_governor(const HostFacts& facts, Noise& noise) {
  constexpr std::array<std::string_view, 4> varying{
      "powersave", "ondemand", "conservative", "schedutil"};
  if (std::find(varying.begin(), varying.end(), facts.governor) == varying.end()) return;
  noise.push_back(
      fmt::format("{}'{}': clocks follow the load", spec::governor_noise, facts.governor));
}

/// Documentation/admin-guide/... x86 therm_throt.c: counts since boot, one for each core.
void add_throttling(const fs::path& root, Noise& noise) {
  const auto cpus = root / "sys/devices/system/cpu";
  std::error_code code;
  if (!fs::exists(cpus / "cpu0/thermal_throttle", code)) return;  // a guest: no look at each
  std::uint64_t cores = 0;
  std::uint64_t times = 0;
  for (int cpu = 0;; ++cpu) {
    const auto folder = cpus / ("cpu" + std::to_string(cpu));
    const auto count = read_number(folder / "thermal_throttle/core_throttle_count");
    if (!count && !fs::exists(folder, code)) break;
    times += count.value_or(0);
    cores += count.value_or(0) > 0 ? 1 : 0;
  }
  if (cores == 0) return;
  noise.push_back(
      fmt::format("{} hardware thread(s){}, {} time(s)", cores, spec::heat_noise, times));
}

void add_memory(const fs::path& root, const HostFacts& facts, Noise& noise) {
  const auto total = facts.memory.total_bytes;
  if (total == 0) return;
  if (facts.memory_available_bytes < total / little_memory) {
    noise.push_back(fmt::format("{} of {} of memory are available",
                                base::format_bytes(facts.memory_available_bytes),
                                base::format_bytes(total)));
  }
  const auto meminfo = read_fact(root / "proc/meminfo").value_or("");
  const auto swap = parse_number(find_field(meminfo, "SwapTotal")).value_or(0) * 1024;
  const auto free = parse_number(find_field(meminfo, "SwapFree")).value_or(0) * 1024;
  if (swap > free && swap - free > total / much_swap) {
    noise.push_back(base::format_bytes(swap - free) + " are swapped out");
  }
}

}  // namespace

/// Reasons why measured times may be disturbed. Runs last: it reads the facts of the other probes.
void probe_noise(const ProbeSources& sources, base::ProcessRunner&, HostFacts& facts) {
  Noise noise;
  add_load(sources.root, facts, noise);
  add_gpus(facts, noise);
  add_governor(facts, noise);
  add_throttling(sources.root, noise);
  add_memory(sources.root, facts, noise);
  facts.noise = std::move(noise);
}

}  // namespace sabath::probe
