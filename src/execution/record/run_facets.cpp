#include "run_facets.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/provenance/named_files.hpp>
#include <sabath/spec/environment_differences.hpp>
#include <sabath/spec/record_scope.hpp>

#include <map>
#include <set>

namespace sabath::execution {
namespace {

spec::Facet code_facet(const spec::RunPlan& plan) {
  spec::Facet facet{"code", plan.code};
  if (plan.code_state && plan.code_state->changed)
    facet.items.merge(provenance::change_items(*plan.code_state->changed));
  return facet;
}

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
    for (const auto& [name, value] : spec::drift_facts(layer.drift()))
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

/// Machines that are alike are one: which of them a scheduler gave, and how many jobs there were,
/// changes nothing. How many nodes a run has is in `launch`.
spec::Facet host_facet(const std::vector<spec::HostFacts>& hosts) {
  std::set<std::map<std::string, std::string>> machines;
  for (const spec::HostFacts& host : hosts)
    machines.insert(host.identity());
  spec::Facet facet{"host", {}};
  std::size_t number = 0;
  for (const auto& machine : machines) {
    const std::string place = machines.size() == 1 ? "" : std::to_string(number++) + ".";
    for (const auto& [name, value] : machine)
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
  return {code_facet(plan),
          data_facet(plan),
          environment_facet(plan),
          parameters,
          seed,
          host_facet(hosts),
          {"launch", plan.launch}};
}

std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts,
                                     spec::Recipe recipe,
                                     const base::Environment& environment) {
  std::vector<spec::Facet> facets = make_facets(plan, hosts);
  recipe.directory = plan.recipe_directory;
  if (const auto planned = base::parse_rfc3339(plan.created))
    facets.front().items.merge(provenance::outer_data(recipe, *planned));
  facets.push_back(home::variables_facet(plan, environment));
  facets.push_back({std::string(spec::scope_facet), {}});
  return facets;
}

}  // namespace sabath::execution
