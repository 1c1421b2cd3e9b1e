#pragma once

#include <sabath/probe/probe.hpp>

namespace sabath::probe {

// Functions of the probes that builtin_probes() lists; see Probe.

/// Model and flags of the processor, from /proc/cpuinfo.
void probe_cpu(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string cpu_witness(const ProbeSources&);
/// Counts, caches, NUMA and devices, by hwloc.
void probe_topology(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string topology_witness(const ProbeSources&);
/// First lines of --version.
void probe_compilers(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string compilers_witness(const ProbeSources&);
/// Affinity, control groups and memory.
void probe_allowance(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// OS, kernel, libc, load and governor.
void probe_system(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// Container or hypervisor.
void probe_virtualization(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// BLAS that the loader would find.
void probe_blas(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// Files of /sys/devices/system/cpu/vulnerabilities.
void probe_mitigations(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string mitigations_witness(const ProbeSources&);
/// Settings of the kernel.
void probe_settings(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// State and speed of network devices.
void probe_links(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// GPUs, by NVML and ROCm SMI.
void probe_gpus(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
/// Why the node is not quiet.
void probe_noise(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);

}  // namespace sabath::probe
