#include "energy_meter.hpp"

#include <sabath/probe/energy.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::probe {
namespace {

double step(const EnergySource& source, double before, double now, double seconds) {
  if (source.is_power) return (before + now) / 2 * seconds;
  if (now >= before) return now - before;
  if (source.range_j > 0) return now + source.range_j - before;
  return 0;
}

bool is_summed(const spec::EnergyReading& reading,
               const std::vector<spec::EnergyReading>& readings) {
  const bool has_node = std::any_of(readings.begin(), readings.end(), [&](const auto& other) {
    return other.device == "node" && other.node == reading.node;
  });
  if (has_node) return reading.device == "node";
  if (reading.device == "psys") return false;
  return reading.device.find('/') == std::string::npos || reading.device.ends_with("/dram");
}

std::string joined(const std::vector<std::string>& lines) {
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace

EnergyMeter::EnergyMeter(EnergySources sources) : missing_(std::move(sources.missing)) {
  for (auto& source : sources.found)
    accounts_.push_back({std::move(source)});
}

void EnergyMeter::look(double t_s) {
  for (Account& account : accounts_) {
    const auto now = account.source.read();
    if (!now) continue;
    if (account.last) {
      account.joules += step(account.source, *account.last, *now, t_s - account.last_t_s);
      ++account.steps;
    }
    account.last = now;
    account.last_t_s = t_s;
  }
}

std::vector<spec::EnergyReading> EnergyMeter::readings(const std::string& node) const {
  std::vector<spec::EnergyReading> readings;
  for (const Account& account : accounts_) {
    const auto& source = account.source;
    if (account.steps == 0) continue;
    readings.push_back({node, source.device, account.joules, source.method, source.scope});
  }
  return readings;
}

EnergyMethods energy_methods(const ProbeSources& sources) {
  const auto libraries = open_gpu_libraries(sources);
  const auto found = find_energy_sources(sources.root, libraries, choose_gpus(libraries, {}));
  EnergyMethods methods;
  methods.missing = found.missing;
  for (const auto& source : found.found)
    methods.available.push_back({node_name(), source.device, 0, source.method, source.scope});
  return methods;
}

std::string energy_text(const std::vector<spec::EnergyReading>& readings,
                        const std::vector<std::string>& missing) {
  double total_j = 0;
  std::vector<std::string> parts;
  for (const auto& reading : readings) {
    if (!is_summed(reading, readings)) continue;
    total_j += reading.joules;
    parts.push_back(
        fmt::format("{} {:.1f} J ({})", reading.device, reading.joules, reading.method));
  }
  if (parts.empty()) {
    return "none: " + (missing.empty() ? "no counter could be read twice" : joined(missing));
  }
  return fmt::format("{:.1f} J: {}", total_j, fmt::join(parts, ", "));
}

}  // namespace sabath::probe
