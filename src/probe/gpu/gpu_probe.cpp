#include "gpu_library.hpp"
#include "probes.hpp"

namespace sabath::probe {
namespace {

/// GPUs of all makers. Looked at always: power limit, MIG, clocks, even the driver change between
/// boots.
class GpuProbe final : public Probe {
 public:
  std::string_view name() const override { return "gpu"; }
  std::optional<std::string> witness(const ProbeSources&) const override { return std::nullopt; }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
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
};

}  // namespace

std::unique_ptr<Probe> make_gpu_probe() {
  return std::make_unique<GpuProbe>();
}

}  // namespace sabath::probe
