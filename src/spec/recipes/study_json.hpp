#pragma once

#include "documents/fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/study.hpp>

namespace sabath::spec {

/// "studies" of a recipe whose parameters are read already.
std::map<std::string, Study> read_studies(const Recipe& recipe, base::JsonReader reader);

SABATH_DESCRIBE(StudyPoint, set, seed, repetition);

template <class Io>
void describe(Io& io, FieldRef<Io, StudyPlan> plan) {
  SABATH_FIELDS(io, plan, study_id, created, sabath_version);
  io("recipe", plan.recipe, "what finds it again: its name or its path");
  SABATH_FIELDS(io, plan, recipe_name, recipe_digest, variant, tags, fresh, offline);
  io("jobs", plan.jobs, "runs at a time; 0: as many as fit");
  io("command", plan.command, "that makes such a study again");
  io("points", plan.points);
  io("task", plan.task, "of the recipe's tasks, whose stages ran; absent: those without one");
  io("site", plan.site, "whose scheduler executes the runs; absent: this machine");
  io("pack", plan.pack, "runs in one job of the scheduler; absent: 1");
  io("stop_when_diverged",
     plan.stop_when_diverged,
     "run from which its runs must not diverge; absent: none");
}

}  // namespace sabath::spec
