#include "gpu_library.hpp"

#include <algorithm>
#include <array>

namespace sabath::probe {
namespace {

/// The part of NVIDIA's management library that is used here, declared by hand because its header
/// comes with the CUDA toolkit, which a machine with GPUs need not have. Source: NVIDIA, "NVML API
/// Reference Guide" (docs.nvidia.com/deploy/nvml-api), modules Initialization and Cleanup, System
/// Queries, Device Queries and Error Reporting. The interface is stable: changed functions get a
/// new suffix (_v2, _v3) and the old ones stay.
namespace nvml {

/// nvmlReturn_t
using Result = int;
inline constexpr Result success = 0;
inline constexpr Result insufficient_size = 7;
inline constexpr Result driver_not_loaded = 9;

/// nvmlDevice_t: opaque
using Device = struct DeviceHandle*;

/// nvmlClockType_t: the streaming multiprocessors
inline constexpr int clock_sm = 1;
inline constexpr int clock_memory = 2;
/// nvmlTemperatureSensors_t: NVML_TEMPERATURE_GPU
inline constexpr int sensor_gpu = 0;
/// NVML_FEATURE_ENABLED of nvmlEnableState_t, NVML_DEVICE_MIG_ENABLE
inline constexpr int enabled = 1;
/// At least NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE (96) and
/// NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE (80)
inline constexpr unsigned text_size = 96;

/// nvmlPciInfo_t as nvmlDeviceGetPciInfo_v3 fills it
struct PciInfo {
  char bus_id_legacy[16] = {};
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned pci_device_id = 0;
  unsigned pci_subsystem_id = 0;
  char bus_id[32] = {};
};

/// nvmlMemory_t, in bytes
struct Memory {
  unsigned long long total = 0;
  unsigned long long free = 0;
  unsigned long long used = 0;
};

/// nvmlUtilization_t, in percent of the time since the driver's last sample
struct Utilization {
  unsigned gpu = 0;
  unsigned memory = 0;
};

/// nvmlProcessInfo_t of the functions _v2 and _v3; `used_memory` may be not_available
struct ProcessInfo {
  unsigned pid = 0;
  unsigned long long used_memory = 0;
  unsigned gpu_instance = 0;
  unsigned compute_instance = 0;
};
/// NVML_VALUE_NOT_AVAILABLE
inline constexpr unsigned long long not_available = ~0ULL;

/// nvmlClocksEventReasons (formerly ...ThrottleReasons): bits that say why clocks are not higher.
/// Those of an idle GPU (0x1) and of clocks that somebody set (0x2, 0x100) slow nothing down.
struct SlowdownReason {
  unsigned long long bit;
  const char* name;
};
inline constexpr SlowdownReason slowdown_reasons[] = {
    {0x4, "power_cap"},
    {0x8, "hardware_slowdown"},
    {0x10, "sync_boost"},
    {0x20, "thermal"},
    {0x40, "hardware_thermal"},
    {0x80, "power_brake"},
};

using ProcessList = Result (*)(Device, unsigned*, ProcessInfo*);

/// The functions by name. Those that old drivers lack stay null.
struct Functions {
  Result (*init)() = nullptr;                                   ///< nvmlInit_v2
  Result (*shutdown)() = nullptr;                               ///< nvmlShutdown
  const char* (*error_string)(Result) = nullptr;                ///< nvmlErrorString
  Result (*count)(unsigned*) = nullptr;                         ///< nvmlDeviceGetCount_v2
  Result (*handle)(unsigned, Device*) = nullptr;                ///< ...HandleByIndex_v2
  Result (*driver_version)(char*, unsigned) = nullptr;          ///< nvmlSystemGet...
  Result (*name)(Device, char*, unsigned) = nullptr;            ///< nvmlDeviceGetName
  Result (*uuid)(Device, char*, unsigned) = nullptr;            ///< nvmlDeviceGetUUID
  Result (*pci_info)(Device, PciInfo*) = nullptr;               ///< ...PciInfo_v3
  Result (*memory_info)(Device, Memory*) = nullptr;             ///< ...MemoryInfo
  Result (*enforced_power_limit)(Device, unsigned*) = nullptr;  ///< milliwatts
  Result (*clock)(Device, int, unsigned*) = nullptr;            ///< MHz, now
  Result (*max_clock)(Device, int, unsigned*) = nullptr;        ///< MHz
  Result (*mig_mode)(Device, unsigned*, unsigned*) = nullptr;   ///< current, pending
  Result (*ecc_mode)(Device, int*, int*) = nullptr;             ///< current, pending
  Result (*utilization)(Device, Utilization*) = nullptr;
  /// Milliwatts: the mean of a second since Ampere (but GA100), older ones at the moment.
  Result (*power)(Device, unsigned*) = nullptr;
  Result (*temperature)(Device, int, unsigned*) = nullptr;    ///< degrees Celsius
  Result (*energy)(Device, unsigned long long*) = nullptr;    ///< millijoules since the driver came
  Result (*slowdown)(Device, unsigned long long*) = nullptr;  ///< bits of slowdown_reasons
  Result (*max_mig_count)(Device, unsigned*) = nullptr;
  Result (*mig_handle)(Device, unsigned, Device*) = nullptr;  ///< not_found where there is none
  ProcessList compute_processes = nullptr;                    ///< _v3, else _v2
  ProcessList graphics_processes = nullptr;
};

}  // namespace nvml

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

/// NVIDIA's management library.
class Nvml final : public GpuLibrary {
 public:
  explicit Nvml(const ProbeSources& sources)
      : library_(sources.nvml_library), root_(sources.root), reason_(library_.reason()) {
    if (library_ && load(sources.nvml_library) && start()) find_devices();
  }

  ~Nvml() override {
    if (started_) functions_.shutdown();
  }

  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string_view name() const override { return "nvml"; }
  const std::string& reason() const override { return reason_; }
  std::size_t count() const override { return devices_.size(); }

  std::string uuid(std::size_t device) const override {
    return text_of(functions_.uuid, devices_[device]);
  }

  std::vector<spec::GpuFacts> facts(std::size_t device) const override {
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

  GpuState state(std::size_t index) const override {
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

  std::optional<double> energy_j(std::size_t device) const override {
    return as<double>(value_from<unsigned long long>(functions_.energy, devices_[device]), 1e-3);
  }

 private:
  bool load(const std::string& name) {
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

  bool start() {
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
  void find_devices() {
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

  std::string words(nvml::Result result) const {
    const char* text =
        functions_.error_string == nullptr ? nullptr : functions_.error_string(result);
    return text == nullptr ? "error " + std::to_string(result) : text;
  }

  spec::GpuFacts facts_of(Device device) const {
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

  std::vector<spec::GpuProcess> processes_of(Device device) const {
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

  SharedLibrary library_;
  std::filesystem::path root_;
  nvml::Functions functions_{};
  bool started_ = false;
  std::vector<nvml::Device> devices_{};
  std::string reason_{};
};

}  // namespace

std::unique_ptr<GpuLibrary> open_nvml(const ProbeSources& sources) {
  return std::make_unique<Nvml>(sources);
}

}  // namespace sabath::probe
