#pragma once

#include "fields_json.hpp"
#include "recipes/resources_json.hpp"

#include <sabath/spec/batch.hpp>
#include <sabath/spec/site.hpp>

namespace sabath::spec {

// Most texts become part of a job script: a line break would begin a line of its own there, which
// the shell, or the scheduler, would obey. A folder or a program is one that compute nodes see.

inline constexpr TextRule place_on_node{
    .pattern = absolute_path.pattern, .problem = absolute_path.problem, .one_line = true};

constexpr TextRule place_with_variables(Presence presence) {
  return {.pattern = "[/$][\\s\\S]*",
          .problem = absolute_path.problem,
          .hint = "it begins with '/', or with a variable such as '$TMPDIR'",
          .one_line = true,
          .presence = presence};
}

struct StagingForm {
  using Value = Staging;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Staging> staging) {
    io("folder",
       staging.folder,
       place_with_variables(required),
       "on the node's own disk; may name variables");
    io("inputs", staging.inputs, FlagRule{always}, "the data sets of the run");
    io("environments",
       staging.environments,
       FlagRule{always},
       "the images that sabath env pack made");
  }
  static void check(const Staging& staging, base::JsonReader& reader);
};

/// A site's file, without the name.
struct SiteForm {
  using Value = Site;
  template <class Io>
  static void describe(Io& io, FieldRef<Io, Site> site) {
    const Site usual;
    io("description", site.description, one_line_text, "for people");
    io("scheduler",
       site.scheduler,
       NameRule{required},
       "a shipped one, or schedulers/<name>.json in the configuration folder");
    io("request",
       site.request,
       MapRule<NameRule, TextRule>{.item = filled_line},
       "what the scheduler is asked for by name: partition, account, qos, reservation, constraint");
    io("options",
       site.options,
       ListRule<TextRule>{.item = filled_line, .distinct = false},
       "further options of the scheduler");
    io("resources", site.resources, PartRule<ResourcesForm>{}, "of a stage that says less");
    io("at_once", site.at_once, CountRule{1}, "tasks of an array that may run at the same time");
    io("largest_array", site.largest_array, CountRule{1}, "tasks in one array");
    io("build_in_job",
       site.build_in_job,
       FlagRule{},
       "environments and inputs are made ready in a job of their own");
    io("implied",
       site.implied,
       ListRule<TextRule>{.item = resource_name},
       "resources that its jobs have without being asked for");
    io("setup",
       site.setup,
       ListRule<TextRule>{.item = filled_line, .distinct = false},
       "lines of shell at the beginning of each job");
    io("variables",
       site.variables,
       MapRule<TextRule, TextRule>{.key = variable_name, .item = one_line_text},
       "of each job's environment");
    io("variant", site.variant, NameRule{}, "of environments that have it");
    io("cache", site.cache, place_on_node, "the cache to use there");
    io("scratch", site.scratch, place_with_variables({}), "folder for the work folders of stages");
    io("staging",
       site.staging,
       PartRule<StagingForm>{},
       "what a job copies to the node's own disk before its first stage");
    io("prefix",
       site.prefix,
       one_line_text,
       "what starts the ranks of a parallel stage; the scheduler's own where not given");
    io("program", site.program, place_on_node, "sabath as compute nodes see it");
    io("warning",
       site.warning,
       TimeRule{usual.warning},
       "SIGTERM comes so long before the job's time is over");
    io("grace", site.grace, TimeRule{usual.grace}, "for files that the file system shows late");
  }
};

SABATH_DESCRIBE(Staging, folder, inputs, environments);

/// As a batch holds it: with its name, and with every key.
template <class Io>
void describe(Io& io, FieldRef<Io, Site> site) {
  SABATH_FIELDS(io, site, name, description, scheduler, request, options, resources);
  io("at_once", site.at_once, "0: no limit");
  io("largest_array", site.largest_array, "0: what the scheduler says");
  io("build_in_job", site.build_in_job);
  io("implied", site.implied, "absent: none");
  SABATH_FIELDS(io, site, setup, variables, variant, cache, scratch, staging, prefix, program);
  io("warning", site.warning, "seconds");
  io("grace", site.grace, "seconds");
}

SABATH_DESCRIBE(BatchStep, stages, resources);

template <class Io>
void describe(Io& io, FieldRef<Io, BatchPlan> plan) {
  io("batch_id", plan.batch_id, "kept by the scheduler with the jobs, so that they can be found");
  io("site", plan.site, "as it was, with all defaults filled in");
  io("runs", plan.runs, "ids");
  io("runs_directory", plan.runs_directory);
  io("pack", plan.pack, "runs in one task");
  io("steps", plan.steps);
  io("after",
     plan.after,
     "folder beside its own of the batch whose jobs have to be over first; absent: none");
  SABATH_FIELDS(io, plan, created, sabath_version);
}

template <class Io>
void describe(Io& io, FieldRef<Io, BatchJobs> jobs) {
  io("jobs", jobs.jobs, "the id of each step's job, as many as were submitted");
  io("submitted", jobs.submitted);
}

}  // namespace sabath::spec
