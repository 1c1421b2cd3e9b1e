#include "nvml.hpp"
#include "probes.hpp"

#include <array>

namespace sabath::probe {
namespace {

using nvml::Device;
using nvml::success;

/// Calls an NVML function that writes text; empty where it is missing or fails.
template <class Function, class... Arguments>
std::string text_of(Function* function, Arguments... arguments) {
  std::array<char, nvml::text_size + 1> text{};
  if (function == nullptr) return {};
  if (function(arguments..., text.data(), nvml::text_size) != success) return {};
  return text.data();
}

/// Calls an NVML function that writes one number; 0 where it is missing or fails.
template <class Function, class... Arguments>
unsigned number_of(Function* function, Arguments... arguments) {
  unsigned number = 0;
  if (function == nullptr || function(arguments..., &number) != success) return 0;
  return number;
}

std::string ecc_of(const nvml::Functions& functions, Device device) {
  int current = 0;
  int pending = 0;
  if (functions.ecc_mode == nullptr || functions.ecc_mode(device, &current, &pending) != success) {
    return "unknown";
  }
  return current == nvml::enabled ? "on" : "off";
}

bool mig_of(const nvml::Functions& functions, Device device) {
  unsigned current = 0;
  unsigned pending = 0;
  return functions.mig_mode != nullptr &&
         functions.mig_mode(device, &current, &pending) == success && current == nvml::enabled;
}

spec::GpuFacts facts_of(const nvml::Functions& functions, Device device) {
  spec::GpuFacts gpu;
  gpu.name = text_of(functions.name, device);
  gpu.uuid = text_of(functions.uuid, device);
  gpu.driver = text_of(functions.driver_version);
  nvml::PciInfo pci;
  if (functions.pci_info != nullptr && functions.pci_info(device, &pci) == success) {
    gpu.pci_bus = pci.bus_id;
  }
  nvml::Memory memory;
  if (functions.memory_info != nullptr && functions.memory_info(device, &memory) == success) {
    gpu.memory_bytes = memory.total;
  }
  gpu.power_limit_w = number_of(functions.enforced_power_limit, device) / 1000.0;
  gpu.clock_mhz = static_cast<int>(number_of(functions.clock, device, nvml::clock_sm));
  gpu.max_clock_mhz = static_cast<int>(number_of(functions.max_clock, device, nvml::clock_sm));
  gpu.mig = mig_of(functions, device);
  gpu.ecc = ecc_of(functions, device);
  return gpu;
}

/// NVIDIA's GPUs. Looked at always: power limit, MIG, clocks, even the driver change between boots.
class GpuProbe final : public Probe {
 public:
  std::string_view name() const override { return "gpu"; }
  std::optional<std::string> witness(const ProbeSources&) const override { return std::nullopt; }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
    const Nvml nvml(sources.nvml_library);
    facts.gpus.clear();
    facts.gpu_reason = nvml.reason();
    for (auto* device : nvml.devices())
      facts.gpus.push_back(facts_of(nvml.functions(), device));
  }
};

}  // namespace

std::unique_ptr<Probe> make_gpu_probe() {
  return std::make_unique<GpuProbe>();
}

}  // namespace sabath::probe
