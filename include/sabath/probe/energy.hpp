#pragma once

#include <sabath/probe/host_probe.hpp>
#include <sabath/spec/run_usage.hpp>

#include <string>
#include <vector>

namespace sabath::probe {

/// How a machine can tell energy, and why not.
struct EnergyMethods {
  /// Without joules: what each would be a reading of.
  std::vector<spec::EnergyReading> available{};
  std::vector<std::string> missing{};  ///< "rapl: not in /sys/class/powercap"
};
EnergyMethods energy_methods(const ProbeSources& sources = {});

/// What a record says of energy: "312.5 J: GPU-... 300.0 J (nvml energy counter), package-0 12.5 J
/// (rapl)", or "none: " and why. Nothing is summed twice: where the node as a whole was counted
/// ("node"), only that; else packages (or sockets), their DRAM, which is not in a package, and
/// GPUs. "core" and "uncore" are within a package, and what "psys" holds is the maker's affair:
/// these are readings only.
std::string energy_text(const std::vector<spec::EnergyReading>& readings,
                        const std::vector<std::string>& missing);

}  // namespace sabath::probe
