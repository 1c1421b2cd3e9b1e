#pragma once

#include "fields_json.hpp"
#include "recipes/resources_json.hpp"

#include <sabath/spec/batch.hpp>
#include <sabath/spec/site.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, Staging> staging) {
  io("folder", staging.folder);
  io("inputs", staging.inputs);
  io("environments", staging.environments);
}

/// As a batch holds it: with its name, and with every key.
template <class Io>
void describe(Io& io, FieldRef<Io, Site> site) {
  io("name", site.name);
  io("description", site.description);
  io("scheduler", site.scheduler);
  io("request", site.request);
  io("options", site.options);
  io("resources", site.resources);
  io("at_once", site.at_once);
  io("largest_array", site.largest_array);
  io("build_in_job", site.build_in_job);
  io("implied", site.implied);
  io("setup", site.setup);
  io("variables", site.variables);
  io("variant", site.variant);
  io("cache", site.cache);
  io("scratch", site.scratch);
  io("staging", site.staging);
  io("prefix", site.prefix);
  io("program", site.program);
  io("warning", site.warning);
  io("grace", site.grace);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BatchStep> step) {
  io("stages", step.stages);
  io("resources", step.resources);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BatchPlan> plan) {
  io("batch_id", plan.batch_id);
  io("site", plan.site);
  io("runs", plan.runs);
  io("runs_directory", plan.runs_directory);
  io("pack", plan.pack);
  io("steps", plan.steps);
  io("after", plan.after);
  io("created", plan.created);
  io("sabath_version", plan.sabath_version);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BatchJobs> jobs) {
  io("jobs", jobs.jobs);
  io("submitted", jobs.submitted);
}

}  // namespace sabath::spec
