#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/spec/host_facts.hpp>

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// Where a probe looks; tests give a fake tree.
struct ProbeSources {
  std::filesystem::path root = "/";  ///< /proc, /sys and /etc are found beneath it
  /// An hwloc XML file to take the topology from; empty: this machine's own.
  std::filesystem::path topology_xml{};
  std::string nvml_library = "libnvidia-ml.so.1";
  /// The first that can be loaded counts; looked for only where AMD's driver is loaded.
  std::vector<std::string> rocm_smi_libraries{"librocm_smi64.so.7",
                                              "librocm_smi64.so.6",
                                              "librocm_smi64.so.5",
                                              "librocm_smi64.so.1",
                                              "/opt/rocm/lib/librocm_smi64.so"};
  bool run_tools = true;  ///< compilers' --version
};

/// One area of facts; each fills its part of HostFacts and never throws for what is merely not
/// there.
class Probe {
 public:
  virtual ~Probe() = default;
  virtual std::string_view name() const = 0;
  /// What must be as it was for this probe's facts to hold until the next boot, read cheaply (the
  /// stamps of the files that they come from, say); nothing when they may change at any time, so
  /// that they are looked at always.
  virtual std::optional<std::string> witness(const ProbeSources& sources) const = 0;
  virtual void look(const ProbeSources& sources,
                    base::ProcessRunner& processes,
                    spec::HostFacts& facts) = 0;
};

/// The only list of probes, in the order in which they look: each may read what those before it
/// found.
std::vector<std::unique_ptr<Probe>> builtin_probes();

/// All facts of this host. What cannot change until the next boot is kept in
/// `state_directory`/hosts/<boot id>.json and read from there the second time (unless `fresh`), as
/// long as every probe's witness is the same. A memo that is unreadable, belongs to another user or
/// can be written by one is ignored and replaced; an empty `state_directory`, or one that cannot be
/// written, only costs a second look.
spec::HostFacts probe_host(const ProbeSources& sources,
                           const std::filesystem::path& state_directory,
                           base::ProcessRunner& processes,
                           base::Clock& clock,
                           bool fresh = false);

/// A path that a run uses, and what for.
struct UsedPath {
  std::string role{};
  std::filesystem::path path{};
};

/// Where they lie: the mount of each, values of options that are secrets replaced.
std::vector<spec::MountFacts> look_at_mounts(const std::vector<UsedPath>& paths,
                                             const std::filesystem::path& root = "/");

/// The cores that this process may use, each as its hardware threads by the kernel's numbers, those
/// of one package beside one another; no more of them than a CPU quota has whole CPUs. Empty where
/// the kernel does not tell.
std::vector<std::vector<int>> usable_cores(const std::filesystem::path& root = "/");

/// SLURMD_NODENAME where set, else the host name up to the first dot.
std::string node_name();
/// Empty where the kernel does not tell.
std::string boot_id(const std::filesystem::path& root = "/");

}  // namespace sabath::probe
