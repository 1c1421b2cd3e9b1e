#include "nvml.hpp"
#include "probes.hpp"
#include "rocm_smi.hpp"

namespace sabath::probe {

GpuLibraries open_gpu_libraries(const ProbeSources& sources) {
  GpuLibraries libraries;
  libraries.push_back(std::make_unique<Nvml>(sources));
  libraries.push_back(std::make_unique<RocmSmi>(sources));
  return libraries;
}

/// GPUs of all vendors. Not kept: power limit, MIG, clocks and the driver may change at any time.
void probe_gpus(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  facts.gpus.clear();
  facts.gpu_reason.clear();
  for (const auto& library : open_gpu_libraries(sources)) {
    for (std::size_t device = 0; device < library->count(); ++device) {
      for (auto& gpu : library->facts(device))
        facts.gpus.push_back(std::move(gpu));
    }
    if (library->reason().empty()) continue;
    facts.gpu_reason += (facts.gpu_reason.empty() ? "" : "; ") + library->reason();
  }
  if (!facts.gpus.empty()) facts.gpu_reason.clear();
}

}  // namespace sabath::probe
