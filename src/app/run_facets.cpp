#include "run_facets.hpp"

namespace sabath::app {
namespace {

spec::Facet data_facet(const spec::RunPlan& plan) {
  spec::Facet facet{"data", {}};
  for (const spec::PlannedInput& input : plan.inputs) {
    facet.items[input.role] = input.asset + " " + input.version + " " + input.digest.text();
  }
  return facet;
}

spec::Facet environment_facet(const spec::RunPlan& plan) {
  spec::Facet facet{"environment", {}};
  for (const spec::BuiltLayer& layer : plan.environment.layers) {
    facet.items[layer.lock.name + ".key"] = layer.lock.key.hex;
    for (const auto& [name, value] : layer.lock.facts) {
      facet.items[layer.lock.name + "." + name] = value;
    }
    for (const auto& [name, value] : layer.variables) {
      facet.items[layer.lock.name + ".$" + name] = value;
    }
  }
  return facet;
}

spec::Facet host_facet(const std::vector<spec::HostFacts>& hosts) {
  spec::Facet facet{"host", {}};
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    const std::string place = hosts.size() == 1 ? "" : std::to_string(i) + ".";
    for (const auto& [name, value] : hosts[i].identity())
      facet.items[place + name] = value;
  }
  return facet;
}

}  // namespace

std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts) {
  spec::Facet parameters{"parameters", {}};
  for (const auto& [name, value] : plan.parameters) {
    parameters.items[name] = spec::to_string(value);
  }
  spec::Facet seed{"seed", {}};
  if (plan.seed.value) seed.items["seed"] = std::to_string(*plan.seed.value);
  return {{"code", plan.code},
          data_facet(plan),
          environment_facet(plan),
          parameters,
          seed,
          host_facet(hosts),
          {"launch", plan.launch}};
}

}  // namespace sabath::app
