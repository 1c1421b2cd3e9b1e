#pragma once

#include "gpu_library.hpp"

/// The part of NVIDIA's management library that is used here, declared by hand because its header
/// comes with the CUDA toolkit, which a machine with GPUs need not have. Source: NVIDIA, "NVML API
/// Reference Guide" (docs.nvidia.com/deploy/nvml-api), modules Initialization and Cleanup, System
/// Queries, Device Queries and Error Reporting. The interface is stable: changed functions get a
/// new suffix (_v2, _v3) and the old ones stay.
namespace sabath::probe::nvml {

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

}  // namespace sabath::probe::nvml

namespace sabath::probe {

/// NVIDIA's management library.
class Nvml final : public GpuLibrary {
 public:
  explicit Nvml(const ProbeSources& sources);
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::string_view name() const override { return "nvml"; }
  const std::string& reason() const override { return reason_; }
  std::size_t count() const override { return devices_.size(); }
  std::string uuid(std::size_t device) const override;
  std::vector<spec::GpuFacts> facts(std::size_t device) const override;
  GpuState state(std::size_t device) const override;
  std::optional<double> energy_j(std::size_t device) const override;

 private:
  bool load(const std::string& name);
  bool start();
  void find_devices();
  std::string words(nvml::Result result) const;
  spec::GpuFacts facts_of(nvml::Device device) const;
  std::vector<spec::GpuProcess> processes_of(nvml::Device device) const;

  SharedLibrary library_;
  std::filesystem::path root_;
  nvml::Functions functions_{};
  bool started_ = false;
  std::vector<nvml::Device> devices_{};
  std::string reason_{};
};

}  // namespace sabath::probe
