#include "cgroup.hpp"
#include "cpu_set.hpp"
#include "fact_file.hpp"
#include "probes.hpp"

#include <algorithm>
#include <cmath>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// Cpus_allowed_list is what sched_getaffinity tells, as text, and knows threads that are offline.
std::optional<CpuSet> allowed_cpus(const fs::path& root) {
  const auto status = read_fact(root / "proc/self/status").value_or("");
  auto allowed = CpuSet::parse(std::string(find_field(status, "Cpus_allowed_list")));
  return allowed ? std::move(allowed) : CpuSet::affinity();
}

int effective_threads(const fs::path& root, const CgroupLimits& limits) {
  auto allowed = allowed_cpus(root);
  if (!allowed) return 0;
  const auto online = read_fact(root / "sys/devices/system/cpu/online").value_or("");
  if (const auto set = CpuSet::parse(online)) allowed->intersect(*set);
  for (const auto& list : limits.cpu_lists) {
    if (const auto set = CpuSet::parse(list)) allowed->intersect(*set);
  }
  int threads = allowed->count();
  // A quota of two and a half keeps three threads busy part of the time (Go and the JVM round up
  // too); the quota itself is a fact of its own.
  if (limits.cpus) threads = std::min(threads, static_cast<int>(std::ceil(*limits.cpus)));
  return std::max(threads, 1);
}

/// Documentation/filesystems/proc.rst: kilobytes, meaning 1024 bytes.
std::uint64_t meminfo_bytes(std::string_view meminfo, std::string_view key) {
  return parse_number(find_field(meminfo, key)).value_or(0) * 1024;
}

/// What of the machine this process may use.
class AllowanceProbe final : public Probe {
 public:
  std::string_view name() const override { return "allowance"; }
  std::optional<std::string> witness(const ProbeSources&) const override { return std::nullopt; }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
    const auto limits = read_cgroup_limits(sources.root);
    facts.cpu.cgroup_quota_cpus = limits.cpus.value_or(0);
    facts.cpu.effective_threads = effective_threads(sources.root, limits);
    const auto meminfo = read_fact(sources.root / "proc/meminfo").value_or("");
    facts.memory.total_bytes = meminfo_bytes(meminfo, "MemTotal");
    facts.memory.effective_bytes =
        std::min(facts.memory.total_bytes, limits.memory_bytes.value_or(facts.memory.total_bytes));
    facts.memory_available_bytes = meminfo_bytes(meminfo, "MemAvailable");
  }
};

}  // namespace

std::unique_ptr<Probe> make_allowance_probe() {
  return std::make_unique<AllowanceProbe>();
}

}  // namespace sabath::probe
