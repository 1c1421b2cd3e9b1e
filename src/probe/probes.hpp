#pragma once

#include <sabath/probe/probe.hpp>

namespace sabath::probe {

// Functions of the probes that builtin_probes() lists; see Probe. Each is described at its source.

void probe_cpu(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string cpu_witness(const ProbeSources&);
void probe_topology(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string topology_witness(const ProbeSources&);
void probe_compilers(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string compilers_witness(const ProbeSources&);
void probe_allowance(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_system(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_virtualization(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_blas(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_mitigations(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
std::string mitigations_witness(const ProbeSources&);
void probe_settings(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_links(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_gpus(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);
void probe_noise(const ProbeSources&, base::ProcessRunner&, spec::HostFacts&);

}  // namespace sabath::probe
