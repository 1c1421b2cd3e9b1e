#pragma once

#include "documents/fields_json.hpp"

#include <sabath/spec/host_facts.hpp>

namespace sabath::spec {

template <class Io>
void describe(Io& io, FieldRef<Io, CpuFacts> cpu) {
  io("model", cpu.model);
  io("vendor", cpu.vendor);
  io("architecture", cpu.architecture);
  io("family_model_stepping", cpu.family_model_stepping);
  io("microcode", cpu.microcode);
  io("flags", cpu.flags);
  io("sockets", cpu.sockets);
  io("cores", cpu.cores);
  io("threads", cpu.threads);
  io("effective_threads", cpu.effective_threads);
  io("cgroup_quota_cpus", cpu.cgroup_quota_cpus);
  io("numa_nodes", cpu.numa_nodes);
  io("caches_bytes", cpu.caches_bytes);
}

template <class Io>
void describe(Io& io, FieldRef<Io, MemoryFacts> memory) {
  io("total_bytes", memory.total_bytes);
  io("effective_bytes", memory.effective_bytes);
}

template <class Io>
void describe(Io& io, FieldRef<Io, GpuProcess> process) {
  io("pid", process.pid);
  io("name", process.name);
  io("memory_bytes", process.memory_bytes);
}

template <class Io>
void describe(Io& io, FieldRef<Io, GpuFacts> gpu) {
  io("name", gpu.name);
  io("uuid", gpu.uuid);
  io("driver", gpu.driver);
  io("pci_bus", gpu.pci_bus);
  io("memory_bytes", gpu.memory_bytes);
  io("power_limit_w", gpu.power_limit_w);
  io("clock_mhz", gpu.clock_mhz);
  io("max_clock_mhz", gpu.max_clock_mhz);
  io("mig", gpu.mig);
  io("ecc", gpu.ecc);
  io("vendor", gpu.vendor);
  io("memory_clock_mhz", gpu.memory_clock_mhz);
  io("temperature_c", gpu.temperature_c);
  io("processes", gpu.processes);
}

template <class Io>
void describe(Io& io, FieldRef<Io, DeviceFacts> device) {
  io("kind", device.kind);
  io("name", device.name);
  io("model", device.model);
  io("state", device.state);
  io("speed_mbit_s", device.speed_mbit_s);
  io("driver", device.driver);
}

template <class Io>
void describe(Io& io, FieldRef<Io, MountFacts> mount) {
  io("role", mount.role);
  io("path", mount.path);
  io("mount_point", mount.mount_point);
  io("type", mount.type);
  io("source", mount.source);
  io("options", mount.options);
}

template <class Io>
void describe(Io& io, FieldRef<Io, HostFacts> facts) {
  io("node", facts.node);
  io("boot_id", facts.boot_id);
  io("cpu", facts.cpu);
  io("memory", facts.memory);
  io("gpus", facts.gpus);
  io("gpu_reason", facts.gpu_reason);
  io("devices", facts.devices);
  io("os", facts.os);
  io("kernel", facts.kernel);
  io("libc", facts.libc);
  io("compilers", facts.compilers);
  io("blas", facts.blas);
  io("virtualization", facts.virtualization);
  io("load_1min", facts.load_1min);
  io("memory_available_bytes", facts.memory_available_bytes);
  io("governor", facts.governor);
  io("looked_at", facts.looked_at);
  io("settings", facts.settings);
  io("mounts", facts.mounts);
  io("noise", facts.noise);
}

}  // namespace sabath::spec
