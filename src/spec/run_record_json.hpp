#pragma once

#include "fields_json.hpp"
#include "host_facts_json.hpp"
#include "metric_json.hpp"
#include "run_plan_json.hpp"

#include <sabath/spec/run_record.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, RunStatus> status) {
  io("state", status.state);
  io("attempt", status.attempt);
  io("node", status.node);
  io("pid", status.pid);
  io("process", status.process);
  io("stage", status.stage);
  io("updated", status.updated);
  io("message", status.message);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Facet> facet) {
  io("name", facet.name);
  io("items", facet.items);
}

template <class Io>
void describe(Io& io, FieldRef<Io, OutputRecord> output) {
  io("stage", output.stage);
  io("path", output.path);
  io("size_bytes", output.size_bytes);
  io("digest", output.digest);
}

template <class Io>
void describe(Io& io, FieldRef<Io, StageRecord> stage) {
  io("name", stage.name);
  io("state", stage.state);
  io("argv", stage.argv);
  io("started", stage.started);
  io("wall_s", stage.wall_s);
  io("user_s", stage.user_s);
  io("system_s", stage.system_s);
  io("max_rss_bytes", stage.max_rss_bytes);
  io("exit_code", stage.exit_code);
  io("signal", stage.signal);
  io("message", stage.message);
  io("log_tail", stage.log_tail);
  io("cache_key", stage.cache_key);
  io("made_by_run", stage.made_by_run);
  io("made_on_host", stage.made_on_host);
  io("leftovers", stage.leftovers);
  io("bad_metric_lines", stage.bad_metric_lines);
}

template <class Io>
void describe(Io& io, FieldRef<Io, UsageSummary> usage) {
  io("samples", usage.samples);
  io("interval_s", usage.interval_s);
  io("mean_cpus", usage.mean_cpus);
  io("max_rss_bytes", usage.max_rss_bytes);
  io("sampler_cpu_s", usage.sampler_cpu_s);
}

template <class Io>
void describe(Io& io, FieldRef<Io, RunRecord> record) {
  io("run_id", record.run_id);
  io("study_id", record.study_id);
  io("sabath_version", record.sabath_version);
  io("state", record.state);
  io("message", record.message);
  io("created", record.created);
  io("started", record.started);
  io("ended", record.ended);
  io("wall_s", record.wall_s);
  io("user", record.user);
  io("recipe_name", record.recipe_name);
  io("recipe_digest", record.recipe_digest);
  io("recipe_definition", record.recipe_definition);
  io("recipe_text", record.recipe_text);
  io("model", record.model);
  io("parameters", record.parameters);
  io("execution_parameters", record.execution_parameters);
  io("seed", record.seed);
  io("deterministic", record.deterministic);
  io("require", record.require);
  io("tags", record.tags);
  io("inputs", record.inputs);
  io("environment", record.environment);
  io("variables", record.variables);
  io("stages", record.stages);
  io("outputs", record.outputs);
  io("metrics", record.metrics);
  io("collected", record.collected);
  io("hosts", record.hosts);
  io("usage", record.usage);
  io("energy", record.energy);
  io("facets", record.facets);
  io("only_stage", record.only_stage);
  io("reproduce", record.reproduce);
  io("code_state", record.code_state);
  io("variant", record.variant);
  io("repeats", record.repeats);
}

}  // namespace sabath::spec
