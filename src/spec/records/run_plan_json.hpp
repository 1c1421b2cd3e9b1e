#pragma once

#include "documents/fields_json.hpp"
#include "recipes/environment_spec_json.hpp"
#include "recipes/resources_json.hpp"

#include <sabath/spec/code_state.hpp>
#include <sabath/spec/run_plan.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, GitState> git) {
  SABATH_FIELDS(io, git, commit, branch, path, remotes, dirty, dirty_files, submodules, diff);
  SABATH_FIELDS(io, git, no_diff);
}

SABATH_DESCRIBE(CodeChange, seen, code, files);
SABATH_DESCRIBE(CodeState, kept, not_kept, tree, git, no_git, untracked, no_untracked, changed);
SABATH_DESCRIBE(PlannedInput, role, asset, version, digest, path);
SABATH_DESCRIBE(Seed, value, origin);
SABATH_DESCRIBE(Retry, times, pause, exit_codes, signals, limits, logs);

template <class Io>
void describe(Io& io, FieldRef<Io, PlannedStage> stage) {
  SABATH_FIELDS(io, stage, name, needs, cache, argv, argv_template, outputs, resources);
  SABATH_FIELDS(io, stage, code_copy_from, environment, key_items, retry, variant, not_due);
  SABATH_FIELDS(io, stage, parallel, checkpoint, files);
}

SABATH_DESCRIBE(TrustSeen, boot, uptime_s);
SABATH_DESCRIBE(ResourceSlots, cpus, gpus);

template <class Io>
void describe(Io& io, FieldRef<Io, RunPlan> plan) {
  SABATH_FIELDS(io, plan, run_id, study_id, study_point);
  io("place", plan.slots, "what the run has for itself, among those that run at the same time");
  SABATH_FIELDS(io, plan, created, sabath_version, recipe_text, recipe_directory, parameters, seed);
  SABATH_FIELDS(io, plan, tags, inputs, environment, variants, stages, code, launch);
  SABATH_FIELDS(io, plan, cache_directory, state_directory, fresh, reproduce, only_stage);
  SABATH_FIELDS(io, plan, code_state, variant, repeats, trusted);
  io("task", plan.task, "of the recipe's tasks, whose stages ran; absent: those without one");
  io("batch",
     plan.batch,
     "folder of the batch that a scheduler executes it in, from the run's own; absent: executed on "
     "the machine that planned it");
  io("environment_from",
     plan.environment_from,
     "run whose recipe and lock gave the environment of a run that explain made; absent: its own");
  io("stop_when_diverged",
     plan.stop_when_diverged,
     "run from which this one must not diverge, copied to 'reference'; absent: none");
}

}  // namespace sabath::spec
