#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/host_facts.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::probe {

/// Files and libraries that probes read; tests give a fake tree.
struct ProbeSources {
  std::filesystem::path root = "/";  ///< folder of proc, sys and etc
  /// An hwloc XML file with the topology; empty: the topology of this machine.
  std::filesystem::path topology_xml{};
  std::string nvml_library = "libnvidia-ml.so.1";
  /// Tried in this order, and only where AMD's driver is loaded.
  std::vector<std::string> rocm_smi_libraries{"librocm_smi64.so.7",
                                              "librocm_smi64.so.6",
                                              "librocm_smi64.so.5",
                                              "librocm_smi64.so.1",
                                              "/opt/rocm/lib/librocm_smi64.so"};
  bool run_tools = true;  ///< run compilers with --version
};

/// GPUs that the commands of a run see.
struct VisibleGpus {
  /// Names as in CUDA_VISIBLE_DEVICES: UUIDs, also of MIG parts, or CUDA's numbers. Nothing: all.
  std::optional<std::vector<std::string>> names{};
  bool by_bus = false;  ///< CUDA numbers devices by bus, as the driver does
};

/// One area of facts.
struct Probe {
  std::string_view name{};
  /// Fills its part of the facts. Never throws for what is merely absent.
  void (*look)(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&) = nullptr;
  /// Returns a cheap summary of what the facts depend on, such as stamps of files. The facts hold
  /// until the next boot while it stays the same. Null: the facts may change at any time.
  std::string (*witness)(const ProbeSources&) = nullptr;
};

}  // namespace sabath::probe
