#pragma once

#include "code_state_json.hpp"
#include "documents/fields_json.hpp"
#include "recipes/environment_spec_json.hpp"
#include "recipes/resources_json.hpp"

#include <sabath/spec/run_plan.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, PlannedInput> input) {
  io("role", input.role);
  io("asset", input.asset);
  io("version", input.version);
  io("digest", input.digest);
  io("path", input.path);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Seed> seed) {
  io("value", seed.value);
  io("origin", seed.origin);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Retry> retry) {
  io("times", retry.times);
  io("pause", retry.pause);
  io("exit_codes", retry.exit_codes);
  io("signals", retry.signals);
  io("limits", retry.limits);
  io("logs", retry.logs);
}

template <class Io>
void describe(Io& io, FieldRef<Io, PlannedStage> stage) {
  io("name", stage.name);
  io("needs", stage.needs);
  io("cache", stage.cache);
  io("argv", stage.argv);
  io("argv_template", stage.argv_template);
  io("outputs", stage.outputs);
  io("resources", stage.resources);
  io("code_copy_from", stage.code_copy_from);
  io("environment", stage.environment);
  io("key_items", stage.key_items);
  io("retry", stage.retry);
  io("variant", stage.variant);
  io("not_due", stage.not_due);
  io("parallel", stage.parallel);
  io("checkpoint", stage.checkpoint);
}

template <class Io>
void describe(Io& io, FieldRef<Io, TrustSeen> seen) {
  io("boot", seen.boot);
  io("uptime_s", seen.uptime_s);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Place> place) {
  io("cpus", place.cpus);
  io("gpus", place.gpus);
}

template <class Io>
void describe(Io& io, FieldRef<Io, RunPlan> plan) {
  io("run_id", plan.run_id);
  io("study_id", plan.study_id);
  io("study_point", plan.study_point);
  io("place", plan.place);
  io("created", plan.created);
  io("sabath_version", plan.sabath_version);
  io("recipe_text", plan.recipe_text);
  io("recipe_directory", plan.recipe_directory);
  io("parameters", plan.parameters);
  io("seed", plan.seed);
  io("tags", plan.tags);
  io("inputs", plan.inputs);
  io("environment", plan.environment);
  io("variants", plan.variants);
  io("stages", plan.stages);
  io("code", plan.code);
  io("launch", plan.launch);
  io("cache_directory", plan.cache_directory);
  io("state_directory", plan.state_directory);
  io("fresh", plan.fresh);
  io("reproduce", plan.reproduce);
  io("only_stage", plan.only_stage);
  io("code_state", plan.code_state);
  io("variant", plan.variant);
  io("repeats", plan.repeats);
  io("trusted", plan.trusted);
  io("task", plan.task);
  io("batch", plan.batch);
}

}  // namespace sabath::spec
