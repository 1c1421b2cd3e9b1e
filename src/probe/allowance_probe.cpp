#include "fact_file.hpp"
#include "probes.hpp"
#include "usable_cpus.hpp"
#include "watch/cgroup.hpp"

#include <algorithm>
#include <cmath>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

int effective_threads(const fs::path& root, const CgroupLimits& limits) {
  const auto usable = usable_cpus(root, limits);
  if (!usable) return 0;
  int threads = usable->count();
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
