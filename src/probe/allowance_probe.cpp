#include "fact_file.hpp"
#include "probes.hpp"
#include "watch/cgroup.hpp"

#include <sabath/probe/host_probe.hpp>

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <tuple>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// A set of hardware threads by the kernel's numbers.
class CpuSet {
 public:
  /// Reads the kernel's list form "0-3,8"; nothing when malformed or empty.
  static std::optional<CpuSet> parse(const std::string& list) {
    Bitmap bitmap(hwloc_bitmap_alloc());
    if (!bitmap || hwloc_bitmap_list_sscanf(bitmap.get(), list.c_str()) != 0) return std::nullopt;
    if (hwloc_bitmap_weight(bitmap.get()) < 1) return std::nullopt;
    return CpuSet(std::move(bitmap));
  }

  /// Returns where this thread may run (sched_getaffinity); nothing where unknown.
  static std::optional<CpuSet> affinity() {
    std::array<unsigned long, 256> words{};  // 16,384 hardware threads: more than Linux can have
    const auto mask = reinterpret_cast<cpu_set_t*>(words.data());
    if (::sched_getaffinity(0, sizeof(words), mask) != 0) return std::nullopt;
    Bitmap bitmap(hwloc_bitmap_alloc());
    if (!bitmap || hwloc_bitmap_from_ulongs(bitmap.get(), words.size(), words.data()) != 0) {
      return std::nullopt;
    }
    return CpuSet(std::move(bitmap));
  }

  void intersect(const CpuSet& other) {
    hwloc_bitmap_and(bitmap_.get(), bitmap_.get(), other.bitmap_.get());
  }

  int count() const { return hwloc_bitmap_weight(bitmap_.get()); }

  bool contains(int cpu) const {
    return cpu >= 0 && hwloc_bitmap_isset(bitmap_.get(), static_cast<unsigned>(cpu)) != 0;
  }

  /// Ascending.
  std::vector<int> members() const {
    std::vector<int> cpus;
    for (int cpu = hwloc_bitmap_first(bitmap_.get()); cpu >= 0;
         cpu = hwloc_bitmap_next(bitmap_.get(), cpu))
      cpus.push_back(cpu);
    return cpus;
  }

 private:
  struct Free {
    void operator()(hwloc_bitmap_t bitmap) const { hwloc_bitmap_free(bitmap); }
  };
  using Bitmap = std::unique_ptr<hwloc_bitmap_s, Free>;
  explicit CpuSet(Bitmap bitmap) : bitmap_(std::move(bitmap)) {}

  Bitmap bitmap_;
};

/// Cpus_allowed_list is the text of sched_getaffinity, and has offline threads, too.
std::optional<CpuSet> allowed_cpus(const fs::path& root) {
  const auto status = read_fact(root / "proc/self/status").value_or("");
  auto allowed = CpuSet::parse(std::string(find_field(status, "Cpus_allowed_list")));
  return allowed ? std::move(allowed) : CpuSet::affinity();
}

struct Core {
  std::uint64_t package = 0;
  std::vector<int> threads{};
};

/// Returns the hardware threads that this process may use: its affinity, limited to online threads
/// and to every cpuset above it. Nothing where unknown.
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

int effective_threads(const fs::path& root, const CgroupLimits& limits) {
  const auto usable = usable_cpus(root, limits);
  if (!usable) return 0;
  int threads = usable->count();
  // A quota of 2.5 CPUs keeps three threads busy part of the time: rounds up, as Go and the JVM do.
  // The quota itself is a separate fact.
  if (limits.cpus) threads = std::min(threads, static_cast<int>(std::ceil(*limits.cpus)));
  return std::max(threads, 1);
}

/// Documentation/filesystems/proc.rst: kilobytes, meaning 1024 bytes.
std::uint64_t meminfo_bytes(std::string_view meminfo, std::string_view key) {
  return parse_number(find_field(meminfo, key)).value_or(0) * 1024;
}

}  // namespace

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

/// CPUs and memory that this process may use.
void probe_allowance(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  const auto limits = read_cgroup_limits(sources.root);
  facts.cpu.cgroup_quota_cpus = limits.cpus.value_or(0);
  facts.cpu.effective_threads = effective_threads(sources.root, limits);
  const auto meminfo = read_fact(sources.root / "proc/meminfo").value_or("");
  facts.memory.total_bytes = meminfo_bytes(meminfo, "MemTotal");
  facts.memory.effective_bytes =
      std::min(facts.memory.total_bytes, limits.memory_bytes.value_or(facts.memory.total_bytes));
  facts.memory_available_bytes = meminfo_bytes(meminfo, "MemAvailable");
}

}  // namespace sabath::probe
