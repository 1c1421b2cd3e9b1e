#include "usable_cpus.hpp"

#include "fact_file.hpp"

#include <sabath/probe/host_probe.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Cpus_allowed_list is what sched_getaffinity tells, as text, and knows threads that are offline.
std::optional<CpuSet> allowed_cpus(const fs::path& root) {
  const auto status = read_fact(root / "proc/self/status").value_or("");
  auto allowed = CpuSet::parse(std::string(find_field(status, "Cpus_allowed_list")));
  return allowed ? std::move(allowed) : CpuSet::affinity();
}

struct Core {
  std::uint64_t package = 0;
  std::vector<int> threads{};
};

}  // namespace

std::optional<CpuSet> usable_cpus(const fs::path& root, const CgroupLimits& limits) {
  auto usable = allowed_cpus(root);
  if (!usable) return std::nullopt;
  const auto online = read_fact(root / "sys/devices/system/cpu/online").value_or("");
  if (const auto set = CpuSet::parse(online)) usable->intersect(*set);
  for (const auto& list : limits.cpu_lists) {
    if (const auto set = CpuSet::parse(list)) usable->intersect(*set);
  }
  return usable;
}

std::vector<std::vector<int>> usable_cores(const fs::path& root) {
  const auto limits = read_cgroup_limits(root);
  const auto usable = usable_cpus(root, limits);
  if (!usable) return {};
  std::vector<Core> cores;
  for (const int cpu : usable->members()) {
    const fs::path topology =
        root / "sys/devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
    const auto list = read_fact(topology / "thread_siblings_list").value_or("");
    const auto siblings = CpuSet::parse(list);
    const auto core = std::find_if(cores.begin(), cores.end(), [&](const Core& known) {
      return siblings && siblings->contains(known.threads.front());
    });
    if (core != cores.end()) {
      core->threads.push_back(cpu);
    } else {
      cores.push_back({read_number(topology / "physical_package_id").value_or(0), {cpu}});
    }
  }
  std::sort(cores.begin(), cores.end(), [](const Core& a, const Core& b) {
    return std::tie(a.package, a.threads) < std::tie(b.package, b.threads);
  });
  if (limits.cpus) {
    const auto whole = static_cast<std::size_t>(std::max(1.0, std::floor(*limits.cpus)));
    if (cores.size() > whole) cores.resize(whole);
  }
  std::vector<std::vector<int>> threads;
  for (Core& core : cores)
    threads.push_back(std::move(core.threads));
  return threads;
}

}  // namespace sabath::probe
