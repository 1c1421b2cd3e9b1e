#include "nvml.hpp"

#include <algorithm>
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

template <class To, class From>
std::optional<To> as(const std::optional<From>& number, To factor = 1) {
  if (!number) return std::nullopt;
  return static_cast<To>(*number) * factor;
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

/// The list may grow between the calls: allocates more room than reported.
std::vector<nvml::ProcessInfo> list_of(nvml::ProcessList function, Device device) {
  if (function == nullptr) return {};
  unsigned count = 0;
  const auto result = function(device, &count, nullptr);
  if (result == success && count == 0) return {};
  if (result != success && result != nvml::insufficient_size) return {};
  std::vector<nvml::ProcessInfo> list(count + 16);
  count = static_cast<unsigned>(list.size());
  if (function(device, &count, list.data()) != success) return {};
  list.resize(std::min<std::size_t>(count, list.size()));
  return list;
}

std::vector<Device> parts_of(const nvml::Functions& functions, Device device) {
  std::vector<Device> parts;
  const auto most = value_from<unsigned>(functions.max_mig_count, device).value_or(0);
  for (unsigned index = 0; index < most && functions.mig_handle != nullptr; ++index) {
    Device part = nullptr;
    if (functions.mig_handle(device, index, &part) == success) parts.push_back(part);
  }
  return parts;
}

}  // namespace

Nvml::Nvml(const ProbeSources& sources)
    : library_(sources.nvml_library), root_(sources.root), reason_(library_.reason()) {
  if (library_ && load(sources.nvml_library) && start()) find_devices();
}

Nvml::~Nvml() {
  if (started_) functions_.shutdown();
}

bool Nvml::load(const std::string& name) {
  auto& f = functions_;
  library_.find("nvmlErrorString", f.error_string);
  library_.find("nvmlSystemGetDriverVersion", f.driver_version);
  library_.find("nvmlDeviceGetName", f.name);
  library_.find("nvmlDeviceGetUUID", f.uuid);
  library_.find("nvmlDeviceGetPciInfo_v3", f.pci_info);
  library_.find("nvmlDeviceGetMemoryInfo", f.memory_info);
  library_.find("nvmlDeviceGetEnforcedPowerLimit", f.enforced_power_limit);
  library_.find("nvmlDeviceGetClockInfo", f.clock);
  library_.find("nvmlDeviceGetMaxClockInfo", f.max_clock);
  library_.find("nvmlDeviceGetMigMode", f.mig_mode);
  library_.find("nvmlDeviceGetEccMode", f.ecc_mode);
  library_.find("nvmlDeviceGetUtilizationRates", f.utilization);
  library_.find("nvmlDeviceGetPowerUsage", f.power);
  library_.find("nvmlDeviceGetTemperature", f.temperature);
  library_.find("nvmlDeviceGetTotalEnergyConsumption", f.energy);
  library_.find("nvmlDeviceGetMaxMigDeviceCount", f.max_mig_count);
  library_.find("nvmlDeviceGetMigDeviceHandleByIndex", f.mig_handle);
  if (!library_.find("nvmlDeviceGetCurrentClocksEventReasons", f.slowdown)) {
    library_.find("nvmlDeviceGetCurrentClocksThrottleReasons", f.slowdown);
  }
  if (!library_.find("nvmlDeviceGetComputeRunningProcesses_v3", f.compute_processes)) {
    library_.find("nvmlDeviceGetComputeRunningProcesses_v2", f.compute_processes);
  }
  if (!library_.find("nvmlDeviceGetGraphicsRunningProcesses_v3", f.graphics_processes)) {
    library_.find("nvmlDeviceGetGraphicsRunningProcesses_v2", f.graphics_processes);
  }
  const bool usable = library_.find("nvmlInit_v2", f.init) &&
                      library_.find("nvmlShutdown", f.shutdown) &&
                      library_.find("nvmlDeviceGetCount_v2", f.count) &&
                      library_.find("nvmlDeviceGetHandleByIndex_v2", f.handle);
  if (!usable) reason_ = name + " is too old, or not NVML";
  return usable;
}

bool Nvml::start() {
  const auto result = functions_.init();
  started_ = result == nvml::success;
  if (result == nvml::driver_not_loaded) {
    reason_ = "driver not loaded";
  } else if (!started_) {
    reason_ = "cannot initialise NVML: " + words(result);
  }
  return started_;
}

/// A device that a control group hides is counted but has no handle.
void Nvml::find_devices() {
  unsigned count = 0;
  if (const auto result = functions_.count(&count); result != nvml::success) {
    reason_ = "cannot count devices: " + words(result);
    return;
  }
  reason_ = "no device";
  for (unsigned index = 0; index < count; ++index) {
    nvml::Device device = nullptr;
    const auto result = functions_.handle(index, &device);
    if (result == nvml::success) devices_.push_back(device);
    if (result != nvml::success) reason_ = "no device that may be used: " + words(result);
  }
  if (!devices_.empty()) reason_.clear();
}

std::string Nvml::words(nvml::Result result) const {
  const char* text = functions_.error_string == nullptr ? nullptr : functions_.error_string(result);
  return text == nullptr ? "error " + std::to_string(result) : text;
}

std::string Nvml::uuid(std::size_t device) const {
  return text_of(functions_.uuid, devices_[device]);
}

spec::GpuFacts Nvml::facts_of(Device device) const {
  const auto& f = functions_;
  spec::GpuFacts gpu;
  gpu.vendor = "nvidia";
  gpu.name = text_of(f.name, device);
  gpu.uuid = text_of(f.uuid, device);
  gpu.driver = text_of(f.driver_version);
  if (const auto pci = value_from<nvml::PciInfo>(f.pci_info, device)) gpu.pci_bus = pci->bus_id;
  const auto memory = value_from<nvml::Memory>(f.memory_info, device);
  gpu.memory_bytes = memory ? memory->total : 0;
  gpu.power_limit_w = value_from<unsigned>(f.enforced_power_limit, device).value_or(0) / 1000.0;
  gpu.clock_mhz = as<int>(value_from<unsigned>(f.clock, device, nvml::clock_sm)).value_or(0);
  gpu.max_clock_mhz =
      as<int>(value_from<unsigned>(f.max_clock, device, nvml::clock_sm)).value_or(0);
  gpu.memory_clock_mhz = as<int>(value_from<unsigned>(f.clock, device, nvml::clock_memory));
  gpu.temperature_c = as<double>(value_from<unsigned>(f.temperature, device, nvml::sensor_gpu));
  gpu.mig = mig_of(f, device);
  gpu.ecc = ecc_of(f, device);
  return gpu;
}

std::vector<spec::GpuProcess> Nvml::processes_of(Device device) const {
  std::vector<spec::GpuProcess> processes;
  for (const auto function : {functions_.compute_processes, functions_.graphics_processes}) {
    for (const auto& info : list_of(function, device)) {
      const auto pid = static_cast<int>(info.pid);
      const bool known = std::any_of(
          processes.begin(), processes.end(), [&](const auto& one) { return one.pid == pid; });
      if (known) continue;
      processes.push_back({pid,
                           process_name(info.pid, root_),
                           info.used_memory == nvml::not_available ? 0 : info.used_memory});
    }
  }
  return processes;
}

std::vector<spec::GpuFacts> Nvml::facts(std::size_t device) const {
  std::vector<spec::GpuFacts> all{facts_of(devices_[device])};
  all.front().processes = processes_of(devices_[device]);
  if (!all.front().mig) return all;
  for (const Device part : parts_of(functions_, devices_[device])) {
    auto& facts = all.emplace_back(facts_of(part));
    // A part has the slot and the mode of its device.
    facts.pci_bus = all.front().pci_bus;
    facts.mig = true;
    facts.ecc = all.front().ecc;
  }
  return all;
}

GpuState Nvml::state(std::size_t index) const {
  const auto& f = functions_;
  const Device device = devices_[index];
  GpuState state;
  if (const auto use = value_from<nvml::Utilization>(f.utilization, device)) {
    state.utilisation = use->gpu / 100.0;
  }
  if (const auto memory = value_from<nvml::Memory>(f.memory_info, device)) {
    state.memory_bytes = memory->used;
  }
  state.power_w = as<double>(value_from<unsigned>(f.power, device), 1e-3);
  state.temperature_c = as<double>(value_from<unsigned>(f.temperature, device, nvml::sensor_gpu));
  state.clock_mhz = as<int>(value_from<unsigned>(f.clock, device, nvml::clock_sm));
  state.memory_clock_mhz = as<int>(value_from<unsigned>(f.clock, device, nvml::clock_memory));
  const auto reasons = value_from<unsigned long long>(f.slowdown, device).value_or(0);
  for (const auto& [bit, name] : nvml::slowdown_reasons) {
    if ((reasons & bit) != 0) state.throttled.emplace_back(name);
  }
  return state;
}

std::optional<double> Nvml::energy_j(std::size_t device) const {
  return as<double>(value_from<unsigned long long>(functions_.energy, devices_[device]), 1e-3);
}

}  // namespace sabath::probe
