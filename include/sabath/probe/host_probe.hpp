#pragma once

#include <sabath/base/clock.hpp>
#include <sabath/probe/probe.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::probe {

/// Returns all probes, in the order in which they run: each may read facts of those before it.
const std::vector<Probe>& builtin_probes();

/// Returns all facts of this host. Facts that hold until the next boot are kept in
/// `state_directory`/hosts/<boot id>-<digest>.json and read again (unless `fresh`) while every
/// witness stays the same. Ignores and replaces a memo that is unreadable, belongs to another user
/// or can be written by one. Probes again where `state_directory` is empty or read-only.
spec::HostFacts probe_host(const ProbeSources& sources,
                           const std::filesystem::path& state_directory,
                           base::ProcessRunner& processes,
                           base::Clock& clock,
                           bool fresh = false);

/// A path that a run uses, and its role.
struct UsedPath {
  std::string role{};
  std::filesystem::path path{};
};

/// Returns the mount of each path. Values of options that are secrets are replaced.
std::vector<spec::MountFacts> look_at_mounts(const std::vector<UsedPath>& paths,
                                             const std::filesystem::path& root = "/");

/// Returns the cores that this process may use, each as its hardware threads by the kernel's
/// numbers. Cores of one package stand together. A CPU quota limits their number to its whole CPUs.
/// Empty where unknown.
std::vector<std::vector<int>> usable_cores(const std::filesystem::path& root = "/");

/// Returns SLURMD_NODENAME where set, else the host name up to the first dot.
std::string node_name();
/// Returns the kernel's id of this boot; empty where unknown.
std::string boot_id(const std::filesystem::path& root = "/");

}  // namespace sabath::probe
