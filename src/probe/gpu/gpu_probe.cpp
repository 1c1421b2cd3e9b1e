#include "fact_file.hpp"
#include "gpu_library.hpp"
#include "probes.hpp"

namespace sabath::probe {
namespace {

/// PROC_PID_INIT_INO of the kernel: the namespace of the machine itself.
constexpr std::string_view machines_own = "pid:[4026531836]";

}  // namespace

SharedLibrary::SharedLibrary(const std::string& name)
    : handle_(::dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (handle_) return;
  const char* why = ::dlerror();  // NOLINT(concurrency-mt-unsafe): glibc keeps it per thread
  const std::string problem = why == nullptr ? "" : why;
  const bool absent = problem.find("No such file") != std::string::npos;
  reason_ = absent ? name + " not found" : "cannot load " + name + ": " + problem;
}

std::string process_name(unsigned pid, const std::filesystem::path& root) {
  if (link_text(root / "proc/self/ns/pid") != machines_own) return {};
  return read_fact(root / "proc" / std::to_string(pid) / "comm").value_or("");
}

GpuLibraries open_gpu_libraries(const ProbeSources& sources) {
  GpuLibraries libraries;
  libraries.push_back(open_nvml(sources));
  libraries.push_back(open_rocm_smi(sources));
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
