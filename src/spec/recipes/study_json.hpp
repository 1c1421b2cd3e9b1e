#pragma once

#include "documents/fields_json.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/study.hpp>

namespace sabath::spec {

/// "studies" of a recipe whose parameters are read already.
std::map<std::string, Study> read_studies(const Recipe& recipe, base::JsonReader reader);

template <class Io>
void describe(Io& io, FieldRef<Io, StudyPoint> point) {
  io("set", point.set);
  io("seed", point.seed);
  io("repetition", point.repetition);
}

template <class Io>
void describe(Io& io, FieldRef<Io, StudyPlan> plan) {
  io("study_id", plan.study_id);
  io("created", plan.created);
  io("sabath_version", plan.sabath_version);
  io("recipe", plan.recipe);
  io("recipe_name", plan.recipe_name);
  io("recipe_digest", plan.recipe_digest);
  io("variant", plan.variant);
  io("tags", plan.tags);
  io("fresh", plan.fresh);
  io("offline", plan.offline);
  io("jobs", plan.jobs);
  io("command", plan.command);
  io("points", plan.points);
  io("task", plan.task);
  io("site", plan.site);
  io("pack", plan.pack);
}

}  // namespace sabath::spec
