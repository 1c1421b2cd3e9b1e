#include <sabath/base/text/text_table.hpp>
#include <sabath/compare/performance_facts.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_record.hpp>

#include <fmt/format.h>

namespace sabath::compare {

std::optional<double> accelerator_joules(const spec::RunRecord& record) {
  std::optional<double> joules;
  for (const spec::EnergyReading& reading :
       record.energy_readings.value_or(std::vector<spec::EnergyReading>{})) {
    if (!reading.scope.starts_with("the whole GPU")) continue;
    joules = joules.value_or(0) + reading.joules;
  }
  return joules;
}

std::vector<std::string> disturbances(const spec::RunRecord& record) {
  std::vector<std::string> all;
  for (const spec::HostFacts& host : record.hosts) {
    for (const std::string& noise : host.noise.value_or(std::vector<std::string>{})) {
      if (spec::is_passing_noise(noise)) all.push_back(fmt::format("{}: {}", host.node, noise));
    }
  }
  return all;
}

std::string disturbed_text(std::uint64_t disturbed, std::uint64_t runs) {
  if (disturbed == 0) return {};
  return fmt::format(
      "; {} of {} began on a machine that was not quiet", disturbed, base::counted(runs, "run"));
}

}  // namespace sabath::compare
