#include "gpu_libraries.hpp"

#include "nvml.hpp"
#include "rocm_smi.hpp"

namespace sabath::probe {

GpuLibraries open_gpu_libraries(const ProbeSources& sources) {
  GpuLibraries libraries;
  libraries.push_back(std::make_unique<Nvml>(sources));
  libraries.push_back(std::make_unique<RocmSmi>(sources));
  return libraries;
}

}  // namespace sabath::probe
