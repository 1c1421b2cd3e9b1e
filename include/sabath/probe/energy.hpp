#pragma once

#include <sabath/probe/probe.hpp>
#include <sabath/spec/run_usage.hpp>

#include <string>
#include <vector>

namespace sabath::probe {

/// Methods by which this machine measures energy, and why others are missing.
struct EnergyMethods {
  /// One reading for each method, without joules.
  std::vector<spec::EnergyReading> available{};
  std::vector<std::string> missing{};  ///< "rapl: not in /sys/class/powercap"
};
EnergyMethods energy_methods(const ProbeSources& sources = {});

/// Returns the energy as a record has it: "312.5 J: GPU-... 300.0 J (nvml energy counter),
/// package-0 12.5 J (rapl)", or "none: " and why. Sums nothing twice: takes "node" alone where it
/// exists, else packages (or sockets), their DRAM and GPUs. "core" and "uncore" are parts of a
/// package and "psys" is defined by the maker: these are not summed.
std::string energy_text(const std::vector<spec::EnergyReading>& readings,
                        const std::vector<std::string>& missing);

}  // namespace sabath::probe
