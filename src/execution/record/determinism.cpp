#include "determinism.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/env/container_command.hpp>
#include <sabath/env/environment.hpp>
#include <sabath/home/tuning_variables.hpp>

#include <algorithm>
#include <set>
#include <string_view>

namespace sabath::execution {
namespace {

bool is_among(const std::vector<std::string>& names, std::string_view wanted) {
  return std::ranges::find(names, wanted) != names.end();
}

/// One order stands as it was reported; several are digested, in the order of stages and ranks.
std::optional<std::string> sample_order_of(const spec::RunPlan& plan,
                                           const CollectedStages& collected) {
  std::string lines;
  std::string only;
  std::size_t count = 0;
  for (const spec::PlannedStage& stage : plan.stages) {
    const auto extraction = collected.stages.find(stage.name);
    if (extraction == collected.stages.end()) continue;
    for (const collect::SampleOrder& order : extraction->second.reported.orders) {
      only = order.digest;
      lines += stage.name + " " + std::to_string(order.rank) + " " + only + "\n";
      ++count;
    }
  }
  if (count == 0) return std::nullopt;
  return count == 1 ? base::redact(only) : base::sha256_of(lines).text();
}

}  // namespace

std::map<std::string, std::string> summarize_by_stage(const StageValues& values,
                                                      std::size_t stages) {
  std::map<std::string, std::string> all;
  for (const auto& [name, by_stage] : values) {
    std::set<std::string> distinct;
    for (const auto& [stage, value] : by_stage)
      distinct.insert(value);
    const bool is_common = distinct.size() == 1 && by_stage.size() >= stages;
    for (const auto& [stage, value] : by_stage)
      all[is_common ? name : name + " in stage " + stage] = base::redact(value);
  }
  return all;
}

spec::Determinism determinism_of(const spec::RunPlan& plan,
                                 const spec::Recipe& recipe,
                                 const base::Environment& environment,
                                 const CollectedStages& collected,
                                 const std::map<std::string, std::string>& threads) {
  StageValues seeds;
  StageValues switches;
  StageValues numbers;
  std::size_t due = 0;
  for (const spec::PlannedStage& stage : plan.stages) {
    if (stage.not_due) continue;
    ++due;
    const spec::BuiltEnvironment& own = plan.environment_of(stage);
    // The environment of `exec` does not reach a container.
    const bool is_contained = env::container_of(own) != nullptr;
    base::Environment variables =
        is_contained ? base::Environment{} : env::run_variables(own, environment);
    std::erase_if(variables, [](const auto& item) { return item.first.starts_with("SABATH_"); });
    for (const auto& [name, value] : stage.environment)
      variables[name] = value;
    for (const auto& [name, value] : variables) {
      if (home::is_seed(name) || is_among(recipe.seed_environment, name)) {
        seeds[name][stage.name] = value;
      } else if (home::is_thread_count(name)) {
        numbers[name][stage.name] = value;
      } else if (home::is_switch(name) && !base::names_a_secret(name)) {
        switches[name][stage.name] = value;
      }
    }
    const auto extraction = collected.stages.find(stage.name);
    if (extraction == collected.stages.end()) continue;
    for (const auto& [name, value] : extraction->second.reported.seeds)
      seeds[name][stage.name] = value;
  }
  spec::Determinism determinism{
      summarize_by_stage(seeds, 0),  // that a stage has no use for a seed is nothing to tell
      summarize_by_stage(switches, due),
      summarize_by_stage(numbers, due),
      sample_order_of(plan, collected)};
  determinism.threads.insert(threads.begin(), threads.end());
  return determinism;
}

spec::Facet determinism_facet(const spec::Determinism& determinism,
                              const spec::RunPlan& plan,
                              const std::map<std::string, std::string>& threads) {
  spec::Facet facet{"determinism", {}};
  const std::string own = plan.seed.value ? std::to_string(*plan.seed.value) : "";
  for (const auto& [name, value] : determinism.seeds) {
    const bool is_set = std::ranges::any_of(
        plan.stages, [&key = name](const auto& stage) { return stage.environment.contains(key); });
    if (!is_set && value != own) facet.items["seed." + name] = value;
  }
  for (const auto& [name, value] : determinism.switches)
    facet.items[name] = value;
  for (const auto& [name, value] : determinism.threads) {
    if (!threads.contains(name)) facet.items[name] = value;
  }
  if (determinism.sample_order) facet.items["sample_order"] = *determinism.sample_order;
  return facet;
}

}  // namespace sabath::execution
