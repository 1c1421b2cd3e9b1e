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

void add_environment(const std::string& place,
                     const spec::BuiltEnvironment& environment,
                     spec::Facet& facet) {
  for (const spec::BuiltLayer& layer : environment.layers) {
    const std::string of = place + layer.lock.name;
    facet.items[of + ".key"] = layer.lock.key.hex;
    for (const auto& [name, value] : layer.lock.facts)
      facet.items[of + "." + name] = value;
    for (const auto& [name, value] : layer.variables)
      facet.items[of + ".$" + name] = value;
  }
}

spec::Facet environment_facet(const spec::RunPlan& plan) {
  spec::Facet facet{"environment", {}};
  add_environment("", plan.environment, facet);
  if (!plan.variants) return facet;
  for (const auto& [variant, environment] : *plan.variants)
    add_environment(variant + "/", environment, facet);
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
