#include "run_facets.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/home/document_secrets.hpp>
#include <sabath/home/tuning_variables.hpp>
#include <sabath/provenance/code_watch.hpp>
#include <sabath/provenance/command_inputs.hpp>
#include <sabath/spec/environment_spec.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <vector>

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

/// Machines that are alike are one: which of them a scheduler gave changes nothing, nor does the
/// number of jobs. `launch` has the number of nodes.
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

/// Variables of this process, and those that sabath sets for all stages alike: threads, switches,
/// seeds.
base::Environment stage_variables(const spec::RunPlan& plan) {
  base::Environment variables = base::current_environment();
  std::vector<spec::PlannedStage> due = plan.stages;
  std::erase_if(due, [](const auto& stage) { return stage.not_due.has_value(); });
  if (due.empty()) return variables;
  for (const auto& [name, value] : due.front().environment) {
    const bool is_common =
        std::ranges::all_of(due, [&name = name, &value = value](const auto& one) {
          const auto found = one.environment.find(name);
          return found != one.environment.end() && found->second == value;
        });
    if (is_common) variables[name] = value;
  }
  return variables;
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

void take_plan(const spec::RunPlan& plan, const spec::Recipe& recipe, spec::RunRecord& record) {
  record.run_id = plan.run_id;
  record.study_id = plan.study_id;
  record.sabath_version = plan.sabath_version;
  record.created = plan.created;
  record.user = plan.launch.contains("user") ? plan.launch.at("user") : "";
  record.recipe_name = recipe.name;
  record.recipe_digest = recipe.digest();
  record.recipe_definition = recipe.definition_digest(plan.parameters);
  record.recipe_text = plan.recipe_text;
  record.model = recipe.model;
  record.parameters = plan.parameters;
  for (const spec::Parameter& parameter : recipe.parameters) {
    if (!parameter.affects_result) record.execution_parameters.push_back(parameter.name);
  }
  record.seed = plan.seed;
  record.deterministic = recipe.deterministic;
  record.require = recipe.require;
  record.tags = plan.tags;
  record.environment = plan.environment;
  record.variants = plan.variants;
  record.variables = home::variables_that_matter(stage_variables(plan));
  record.only_stage = plan.only_stage;
  record.reproduce = plan.reproduce;
  record.code_state = plan.code_state;
  record.variant = plan.variant;
  record.repeats = plan.repeats;
  record.task = plan.task;
}

}  // namespace sabath::execution
