#pragma once

#include "gpu_library.hpp"

#include <memory>
#include <vector>

namespace sabath::probe {

using GpuLibraries = std::vector<std::unique_ptr<GpuLibrary>>;

/// Opens the libraries of all makers; this is the only list of them. One that is not here says why.
GpuLibraries open_gpu_libraries(const ProbeSources& sources);

}  // namespace sabath::probe
