#pragma once

#include "documents/fields_json.hpp"
#include "host_facts_json.hpp"
#include "recipes/metric_json.hpp"
#include "run_plan_json.hpp"

#include <sabath/spec/run_record.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, JobStart> start) {
  io("id", start.id);
  io("restarts", start.restarts);
  io("step", start.step);
}

template <class Io>
void describe(Io& io, FieldRef<Io, JobFacts> job) {
  io("scheduler", job.scheduler);
  io("start", job.start);
  io("batch", job.batch);
  io("node", job.node);
  io("nodes", job.nodes);
  io("cpus_allowed", job.cpus_allowed);
  io("variables", job.variables);
}

template <class Io>
void describe(Io& io, FieldRef<Io, AttemptRecord> attempt) {
  io("number", attempt.number);
  io("state", attempt.state);
  io("message", attempt.message);
  io("node", attempt.node);
  io("job", attempt.job);
  io("stage", attempt.stage);
  io("seen", attempt.seen);
}

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
  io("job", status.job);
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
  io("kept", output.kept);
  io("trees", output.trees);
  io("as_made", output.as_made);
}

template <class Io>
void describe(Io& io, FieldRef<Io, StageTry> one) {
  io("started", one.started);
  io("wall_s", one.wall_s);
  io("exit_code", one.exit_code);
  io("signal", one.signal);
  io("message", one.message);
  io("reason", one.reason);
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
  io("cpus", stage.cpus);
  io("gpus", stage.gpus);
  io("tries", stage.tries);
  io("variant", stage.variant);
  io("prefix", stage.prefix);
  io("not_reusable", stage.not_reusable);
  io("earlier_attempts", stage.earlier_attempts);
}

template <class Io>
void describe(Io& io, FieldRef<Io, GpuUsage> gpu) {
  io("uuid", gpu.uuid);
  io("mean_utilisation", gpu.mean_utilisation);
  io("max_memory_bytes", gpu.max_memory_bytes);
  io("mean_power_w", gpu.mean_power_w);
  io("max_temperature_c", gpu.max_temperature_c);
  io("min_clock_mhz", gpu.min_clock_mhz);
  io("max_clock_mhz", gpu.max_clock_mhz);
  io("throttled", gpu.throttled);
}

template <class Io>
void describe(Io& io, FieldRef<Io, UsageSummary> usage) {
  io("samples", usage.samples);
  io("interval_s", usage.interval_s);
  io("mean_cpus", usage.mean_cpus);
  io("max_rss_bytes", usage.max_rss_bytes);
  io("sampler_cpu_s", usage.sampler_cpu_s);
  io("scope", usage.scope);
  io("read_bytes", usage.read_bytes);
  io("write_bytes", usage.write_bytes);
  io("max_threads", usage.max_threads);
  io("max_processes", usage.max_processes);
  io("gpus", usage.gpus);
}

template <class Io>
void describe(Io& io, FieldRef<Io, EnergyReading> reading) {
  io("node", reading.node);
  io("device", reading.device);
  io("joules", reading.joules);
  io("method", reading.method);
  io("scope", reading.scope);
}

template <class Io>
void describe(Io& io, FieldRef<Io, LoadedLibrary> library) {
  io("path", library.path);
  io("size_bytes", library.size_bytes);
  io("digest", library.digest);
  io("build_id", library.build_id);
  io("stages", library.stages);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Software> software) {
  io("libraries", software.libraries);
  io("versions", software.versions);
  io("notes", software.notes);
  io("packages", software.packages);
}

template <class Io>
void describe(Io& io, FieldRef<Io, Determinism> determinism) {
  io("seeds", determinism.seeds);
  io("switches", determinism.switches);
  io("threads", determinism.threads);
  io("sample_order", determinism.sample_order);
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
  io("variants", record.variants);
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
  io("energy_readings", record.energy_readings);
  io("software", record.software);
  io("determinism", record.determinism);
  io("masked", record.masked);
  io("task", record.task);
  io("jobs", record.jobs);
  io("attempts", record.attempts);
}

}  // namespace sabath::spec
