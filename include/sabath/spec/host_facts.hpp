#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::base {
class JsonReader;
}

namespace sabath::spec {

struct CpuFacts {
  std::string model{};
  std::string vendor{};
  std::string architecture{};  ///< "x86_64"
  std::string family_model_stepping{};
  std::string microcode{};
  std::vector<std::string> flags{};
  int sockets = 0;
  int cores = 0;                 ///< physical, on the machine
  int threads = 0;               ///< hardware threads, on the machine
  int effective_threads = 0;     ///< what this process may use: affinity and cgroup quota
  double cgroup_quota_cpus = 0;  ///< 0: no quota
  int numa_nodes = 0;
  std::map<std::string, std::uint64_t>
      caches_bytes{};  ///< "L1d", "L1i", "L2", "L3": one instance each

  bool operator==(const CpuFacts&) const = default;
};

struct MemoryFacts {
  std::uint64_t total_bytes = 0;
  std::uint64_t effective_bytes =
      0;  ///< the least of physical and every cgroup limit above this process

  bool operator==(const MemoryFacts&) const = default;
};

/// A process that had a GPU before the run began.
struct GpuProcess {
  int pid = 0;
  std::string name{};  ///< empty: of somebody else's container
  std::uint64_t memory_bytes = 0;

  bool operator==(const GpuProcess&) const = default;
};

struct GpuFacts {
  std::string name{};
  std::string uuid{};
  std::string driver{};
  std::string pci_bus{};
  std::uint64_t memory_bytes = 0;
  double power_limit_w = 0;
  int clock_mhz = 0;  ///< volatile: at the time of looking
  int max_clock_mhz = 0;
  bool mig = false;
  std::string ecc{};  ///< "on", "off" or "unknown"
  std::optional<std::string>
      vendor{};  ///< "nvidia" or "amd"; this and what follows: of later sabaths
  std::optional<int> memory_clock_mhz{};
  std::optional<double> temperature_c{};
  std::optional<std::vector<GpuProcess>> processes{};

  bool operator==(const GpuFacts&) const = default;
};

struct DeviceFacts {
  std::string kind{};  ///< "network", "storage", "openfabrics", "coprocessor", "gpu"
  std::string name{};
  std::string model{};
  std::optional<std::string> state{};           ///< of a link: "up", "down", "active"
  std::optional<std::uint64_t> speed_mbit_s{};  ///< of a link
  std::optional<std::string> driver{};

  bool operator==(const DeviceFacts&) const = default;
};

/// Where a path of the run lies.
struct MountFacts {
  std::string role{};  ///< "input.train", "run", "cache", "environment"
  std::string path{};
  std::string mount_point{};
  std::string type{};     ///< "ext4", "lustre", "nfs4", "tmpfs" ...
  std::string source{};   ///< device, or "server:/export"
  std::string options{};  ///< as mounted, without credentials

  bool operator==(const MountFacts&) const = default;
};

/// What a node is (identity) and how it was when looked at (volatile). Absent facts are empty or
/// zero.
struct HostFacts {
  std::string node{};
  std::string boot_id{};
  CpuFacts cpu{};
  MemoryFacts memory{};
  std::vector<GpuFacts> gpus{};
  std::string gpu_reason{};  ///< why `gpus` is empty
  std::vector<DeviceFacts> devices{};
  std::string os{};                                ///< "Debian GNU/Linux 12 (bookworm)"
  std::string kernel{};                            ///< "6.1.0-18-amd64"
  std::string libc{};                              ///< "glibc 2.36"
  std::map<std::string, std::string> compilers{};  ///< "c++" -> first line of --version
  std::string blas{};                              ///< path and version, or empty
  std::string virtualization{};                    ///< "kvm", "docker", "" when on the metal
  // volatile
  double load_1min = 0;
  std::uint64_t memory_available_bytes = 0;
  std::string governor{};
  std::string looked_at{};  ///< RFC 3339
  /// What the kernel is set to, by name: "smt", "numa_balancing", "boost", "clocksource" ...
  std::optional<std::map<std::string, std::string>> settings{};
  std::optional<std::vector<MountFacts>> mounts{};
  std::optional<std::vector<std::string>> noise{};  ///< why this node is not quiet, in words

  bool operator==(const HostFacts&) const = default;
  /// What a device is, not its state: the items that the `host` facet digests.
  std::map<std::string, std::string> identity() const;
};

nlohmann::ordered_json to_json(const HostFacts& facts);
HostFacts read_host_facts(base::JsonReader reader);
HostFacts parse_host_facts(std::string_view text, const std::string& origin);

/// Parts of entries of HostFacts::noise that hold for every run on a node.
inline constexpr std::string_view governor_noise = "the frequency governor is ";
inline constexpr std::string_view heat_noise = " were slowed down for heat since boot";

/// True for what disturbed the one run: load, other processes on a GPU, little memory.
inline bool is_passing_noise(std::string_view noise) {
  return !noise.starts_with(governor_noise) && noise.find(heat_noise) == std::string_view::npos;
}

}  // namespace sabath::spec
