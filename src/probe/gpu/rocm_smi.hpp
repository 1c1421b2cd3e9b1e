#pragma once

#include "gpu_library.hpp"

#include <array>

/// The part of AMD's ROCm System Management Interface that is used here, declared by hand: its
/// header comes with ROCm's development packages. Source: rocm_smi.h of ROCm 5 to 6, groups
/// Initialization and Shutdown, Identifier, Memory, Power, Physical State, Clock and Process
/// Queries. Uses only functions with plain numbers and text, and structures whose beginning never
/// changed. Clocks come from the driver's files (Documentation/gpu/amdgpu/thermal.rst), since
/// rsmi_frequencies_t got a member in front.
namespace sabath::probe::rsmi {

/// rsmi_status_t
using Status = int;
inline constexpr Status success = 0;
/// rsmi_sw_component_t, rsmi_memory_type_t, rsmi_temperature_type_t, rsmi_temperature_metric_t,
/// rsmi_gpu_block_t
inline constexpr int component_driver = 0;
inline constexpr int memory_vram = 0;
inline constexpr std::uint32_t sensor_edge = 0;
inline constexpr std::uint32_t sensor_junction = 1;
inline constexpr int temperature_current = 0;
inline constexpr std::uint64_t block_memory = 1;

/// rsmi_process_info_t, with room for what later versions may append
struct ProcessInfo {
  std::uint32_t process_id = 0;
  std::uint32_t pasid = 0;
  std::uint64_t vram_usage = 0;
  std::array<std::uint64_t, 30> rest{};
};

struct Functions {
  Status (*init)(std::uint64_t) = nullptr;
  Status (*shutdown)() = nullptr;
  Status (*status_string)(Status, const char**) = nullptr;
  Status (*count)(std::uint32_t*) = nullptr;
  Status (*name)(std::uint32_t, char*, std::size_t) = nullptr;
  Status (*unique_id)(std::uint32_t, std::uint64_t*) = nullptr;
  Status (*pci_id)(std::uint32_t, std::uint64_t*) = nullptr;
  Status (*driver)(int, char*, std::uint32_t) = nullptr;  ///< rsmi_version_str_get
  Status (*memory_total)(std::uint32_t, int, std::uint64_t*) = nullptr;
  Status (*memory_usage)(std::uint32_t, int, std::uint64_t*) = nullptr;
  Status (*power_cap)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;      ///< microwatts
  Status (*power_average)(std::uint32_t, std::uint32_t, std::uint64_t*) = nullptr;  ///< microwatts
  Status (*socket_power)(std::uint32_t, std::uint64_t*) = nullptr;  ///< microwatts; ROCm 6
  /// Count, microjoules for one, nanoseconds.
  Status (*energy)(std::uint32_t, std::uint64_t*, float*, std::uint64_t*) = nullptr;
  Status (*busy)(std::uint32_t, std::uint32_t*) = nullptr;  ///< percent
  /// Thousandths of a degree Celsius.
  Status (*temperature)(std::uint32_t, std::uint32_t, int, std::int64_t*) = nullptr;
  Status (*ecc_blocks)(std::uint32_t, std::uint64_t*) = nullptr;
  /// Memory of one process on one device.
  Status (*process)(std::uint32_t, std::uint32_t, ProcessInfo*) = nullptr;
};

}  // namespace sabath::probe::rsmi

namespace sabath::probe {

/// AMD's management library. Loaded only where AMD's driver is present.
class RocmSmi final : public GpuLibrary {
 public:
  explicit RocmSmi(const ProbeSources& sources);
  ~RocmSmi() override;
  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;

  std::string_view name() const override { return "rocm_smi"; }
  const std::string& reason() const override { return reason_; }
  std::size_t count() const override { return count_; }
  std::string uuid(std::size_t device) const override;
  std::vector<spec::GpuFacts> facts(std::size_t device) const override;
  GpuState state(std::size_t device) const override;
  std::optional<double> energy_j(std::size_t device) const override;

 private:
  bool load();
  void start();
  std::string pci_address(std::uint32_t device) const;
  std::optional<int> clock_mhz(std::uint32_t device, const char* file) const;
  std::optional<double> temperature_c(std::uint32_t device) const;
  std::vector<spec::GpuProcess> processes_of(std::uint32_t device) const;

  std::filesystem::path root_;
  std::optional<SharedLibrary> library_{};
  rsmi::Functions functions_{};
  bool started_ = false;
  std::uint32_t count_ = 0;
  std::string reason_{};
};

}  // namespace sabath::probe
