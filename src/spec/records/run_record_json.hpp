#pragma once

#include "documents/fields_json.hpp"
#include "recipes/metric_json.hpp"
#include "run_plan_json.hpp"

#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/run_status.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, CpuFacts> cpu) {
  SABATH_FIELDS(io, cpu, model, vendor, architecture, family_model_stepping, microcode, flags);
  SABATH_FIELDS(io, cpu, sockets, cores, threads, effective_threads, cgroup_quota_cpus, numa_nodes);
  SABATH_FIELDS(io, cpu, caches_bytes);
}

SABATH_DESCRIBE(MemoryFacts, total_bytes, effective_bytes);
SABATH_DESCRIBE(GpuProcess, pid, name, memory_bytes);

template <class Io>
void describe(Io& io, FieldRef<Io, GpuFacts> gpu) {
  SABATH_FIELDS(io, gpu, name, uuid, driver, pci_bus, memory_bytes, power_limit_w, clock_mhz);
  SABATH_FIELDS(io, gpu, max_clock_mhz, mig, ecc, vendor, memory_clock_mhz, temperature_c);
  SABATH_FIELDS(io, gpu, processes);
}

SABATH_DESCRIBE(DeviceFacts, kind, name, model, state, speed_mbit_s, driver);
SABATH_DESCRIBE(MountFacts, role, path, mount_point, type, source, options);

template <class Io>
void describe(Io& io, FieldRef<Io, HostFacts> facts) {
  SABATH_FIELDS(io, facts, node, boot_id, cpu, memory, gpus, gpu_reason, devices, os, kernel, libc);
  SABATH_FIELDS(io, facts, compilers, blas, virtualization, load_1min, memory_available_bytes);
  SABATH_FIELDS(io, facts, governor, looked_at, settings, mounts, noise);
}

template <class Io>
void describe(Io& io, FieldRef<Io, JobStart> start) {
  io("id", start.id, "as the scheduler's tools take it, of an array that of the task");
  SABATH_FIELDS(io, start, restarts, step);
}

template <class Io>
void describe(Io& io, FieldRef<Io, JobFacts> job) {
  SABATH_FIELDS(io, job, scheduler, start, batch, node);
  io("nodes", job.nodes, "as the scheduler writes them");
  io("cpus_allowed", job.cpus_allowed, "as the kernel writes them: 0-3,8");
  io("variables", job.variables);
  io("shared", job.shared, "several runs divided its cores among them");
}

SABATH_DESCRIBE(AttemptRecord, number, state, message, node, job, stage, seen);

template <class Io>
void describe(Io& io, FieldRef<Io, RunStatus> status) {
  SABATH_FIELDS(io, status, state, attempt, node, pid);
  io("process",
     status.process,
     "HOST.BOOT.NAMESPACE.PID.TICKS: tells others whether it still runs");
  SABATH_FIELDS(io, status, stage, updated, message);
  io("job", status.job, "of a scheduler, that executes the run or did last");
}

SABATH_DESCRIBE(Facet, name, items);

template <class Io>
void describe(Io& io, FieldRef<Io, OutputRecord> output) {
  SABATH_FIELDS(io, output, stage, path, size_bytes, digest);
  io("kept", output.kept, "\"cache\", or why it was only hashed");
  io("trees",
     output.trees,
     "digest of trees/<stage>/<path>.json, which has digests of the values of its arrays");
  io("as_made",
     output.as_made,
     "what it was when its stage had ended, where a later stage changed it");
  io("part_of", output.part_of, "the declared folder or pattern that it belongs to");
}

SABATH_DESCRIBE(StageTry, started, wall_s, exit_code, signal, message, reason);

template <class Io>
void describe(Io& io, FieldRef<Io, StageRecord> stage) {
  SABATH_FIELDS(io, stage, name, state, argv, started, wall_s, user_s, system_s, max_rss_bytes);
  SABATH_FIELDS(io, stage, exit_code, signal, message, log_tail, cache_key, made_by_run);
  SABATH_FIELDS(io, stage, made_on_host, leftovers, bad_metric_lines, cpus, gpus, tries, variant);
  SABATH_FIELDS(io, stage, prefix, not_reusable, earlier_attempts);
}

template <class Io>
void describe(Io& io, FieldRef<Io, GpuUsage> gpu) {
  SABATH_FIELDS(io, gpu, uuid, mean_utilisation, max_memory_bytes, mean_power_w, max_temperature_c);
  SABATH_FIELDS(io, gpu, min_clock_mhz, max_clock_mhz, throttled);
}

template <class Io>
void describe(Io& io, FieldRef<Io, UsageSummary> usage) {
  SABATH_FIELDS(io, usage, samples, interval_s, mean_cpus, max_rss_bytes, sampler_cpu_s, scope);
  SABATH_FIELDS(io, usage, read_bytes, write_bytes, max_threads, max_processes, gpus);
}

SABATH_DESCRIBE(EnergyReading, node, device, joules, method, scope);
SABATH_DESCRIBE(LoadedLibrary, path, size_bytes, digest, build_id, stages);

template <class Io>
void describe(Io& io, FieldRef<Io, Software> software) {
  SABATH_FIELDS(io, software, libraries, versions, notes);
  io("packages", software.packages, "of a Python that is of no layer; absent: none ran");
}

SABATH_DESCRIBE(Determinism, seeds, switches, threads, sample_order);

template <class Io>
void describe(Io& io, FieldRef<Io, RunRecord> record) {
  SABATH_FIELDS(io, record, run_id, study_id, sabath_version, state, message, created, started);
  SABATH_FIELDS(io, record, ended, wall_s, user, recipe_name, recipe_digest, recipe_definition);
  SABATH_FIELDS(io, record, recipe_text, model, parameters, execution_parameters, seed);
  SABATH_FIELDS(io, record, deterministic, require, tags, inputs, environment, variants, variables);
  SABATH_FIELDS(io, record, stages, outputs, metrics);
  io("collected", record.collected, "what was found beside metrics, if there was anything");
  SABATH_FIELDS(io, record, hosts, usage, energy, facets, only_stage, reproduce, code_state);
  SABATH_FIELDS(io, record, variant, repeats, energy_readings, software, determinism, masked);
  io("task", record.task, "of the recipe's tasks, whose stages ran; absent: those without one");
  io("jobs", record.jobs);
  io("attempts", record.attempts, "those that did not end the run");
}

}  // namespace sabath::spec
