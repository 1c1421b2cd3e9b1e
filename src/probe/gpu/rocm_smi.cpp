#include "fact_file.hpp"
#include "gpu_library.hpp"

#include <sabath/base/process/process_table.hpp>

#include <fmt/format.h>

#include <array>

namespace sabath::probe {
namespace {

/// The part of AMD's ROCm System Management Interface that is used here, declared by hand: its
/// header comes with ROCm's development packages. Source: rocm_smi.h of ROCm 5 to 6, groups
/// Initialization and Shutdown, Identifier, Memory, Power, Physical State, Clock and Process
/// Queries. Uses only functions with plain numbers and text, and structures whose beginning never
/// changed. Clocks come from the driver's files (Documentation/gpu/amdgpu/thermal.rst), since
/// rsmi_frequencies_t got a member in front.
namespace rsmi {

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

}  // namespace rsmi

namespace fs = std::filesystem;

constexpr std::size_t name_size = 256;

std::optional<double> watts(const std::optional<std::uint64_t>& microwatts) {
  if (!microwatts) return std::nullopt;
  return static_cast<double>(*microwatts) * 1e-6;
}

/// AMD's management library. Loaded only where AMD's driver is present.
class RocmSmi final : public GpuLibrary {
 public:
  explicit RocmSmi(const ProbeSources& sources) : root_(sources.root) {
    std::error_code code;
    if (!fs::exists(root_ / "sys/module/amdgpu", code)) return;
    for (const auto& name : sources.rocm_smi_libraries) {
      library_.emplace(name);
      if (*library_) break;
      reason_ = library_->reason();
    }
    if (!library_ || !*library_) return;
    reason_.clear();
    if (load()) start();
  }

  ~RocmSmi() override {
    if (started_) functions_.shutdown();
  }

  RocmSmi(const RocmSmi&) = delete;
  RocmSmi& operator=(const RocmSmi&) = delete;

  std::string_view name() const override { return "rocm_smi"; }
  const std::string& reason() const override { return reason_; }
  std::size_t count() const override { return count_; }

  /// Returns the UUID of rocm-smi and HIP; without a serial number the PCI address.
  std::string uuid(std::size_t device) const override {
    const auto index = static_cast<std::uint32_t>(device);
    const auto id = value_from<std::uint64_t>(functions_.unique_id, index).value_or(0);
    return id != 0 ? fmt::format("GPU-{:016x}", id) : "GPU-" + pci_address(index);
  }

  std::vector<spec::GpuFacts> facts(std::size_t index) const override {
    const auto& f = functions_;
    const auto device = static_cast<std::uint32_t>(index);
    std::array<char, name_size> text{};
    spec::GpuFacts gpu;
    gpu.vendor = "amd";
    if (f.name != nullptr && f.name(device, text.data(), text.size() - 1) == rsmi::success) {
      gpu.name = text.data();
    }
    text.fill('\0');
    if (f.driver != nullptr &&
        f.driver(rsmi::component_driver, text.data(), text.size() - 1) == rsmi::success) {
      gpu.driver = text.data();
    }
    gpu.uuid = uuid(index);
    gpu.pci_bus = pci_address(device);
    gpu.memory_bytes =
        value_from<std::uint64_t>(f.memory_total, device, rsmi::memory_vram).value_or(0);
    gpu.power_limit_w = watts(value_from<std::uint64_t>(f.power_cap, device, 0U)).value_or(0);
    gpu.clock_mhz = clock_mhz(device, "freq1_input").value_or(0);
    gpu.memory_clock_mhz = clock_mhz(device, "freq2_input");
    gpu.temperature_c = temperature_c(device);
    const auto ecc = value_from<std::uint64_t>(f.ecc_blocks, device);
    gpu.ecc = !ecc ? "unknown" : (*ecc & rsmi::block_memory) != 0 ? "on" : "off";
    gpu.processes = processes_of(device);
    return {gpu};
  }

  GpuState state(std::size_t index) const override {
    const auto& f = functions_;
    const auto device = static_cast<std::uint32_t>(index);
    GpuState state;
    if (const auto percent = value_from<std::uint32_t>(f.busy, device)) {
      state.utilisation = *percent / 100.0;
    }
    state.memory_bytes = value_from<std::uint64_t>(f.memory_usage, device, rsmi::memory_vram);
    state.power_w = watts(value_from<std::uint64_t>(f.socket_power, device));
    if (!state.power_w)
      state.power_w = watts(value_from<std::uint64_t>(f.power_average, device, 0U));
    state.temperature_c = temperature_c(device);
    state.clock_mhz = clock_mhz(device, "freq1_input");
    state.memory_clock_mhz = clock_mhz(device, "freq2_input");
    return state;
  }

  /// The second die of a module returns zero: its energy is in that of the first.
  std::optional<double> energy_j(std::size_t device) const override {
    std::uint64_t count = 0;
    std::uint64_t time_ns = 0;
    float microjoules = 0;
    if (functions_.energy == nullptr) return std::nullopt;
    const auto index = static_cast<std::uint32_t>(device);
    if (functions_.energy(index, &count, &microjoules, &time_ns) != rsmi::success || count == 0) {
      return std::nullopt;
    }
    return static_cast<double>(count) * static_cast<double>(microjoules) * 1e-6;
  }

 private:
  bool load() {
    auto& f = functions_;
    library_->find("rsmi_status_string", f.status_string);
    library_->find("rsmi_dev_name_get", f.name);
    library_->find("rsmi_dev_unique_id_get", f.unique_id);
    library_->find("rsmi_dev_pci_id_get", f.pci_id);
    library_->find("rsmi_version_str_get", f.driver);
    library_->find("rsmi_dev_memory_total_get", f.memory_total);
    library_->find("rsmi_dev_memory_usage_get", f.memory_usage);
    library_->find("rsmi_dev_power_cap_get", f.power_cap);
    library_->find("rsmi_dev_power_ave_get", f.power_average);
    library_->find("rsmi_dev_current_socket_power_get", f.socket_power);
    library_->find("rsmi_dev_energy_count_get", f.energy);
    library_->find("rsmi_dev_busy_percent_get", f.busy);
    library_->find("rsmi_dev_temp_metric_get", f.temperature);
    library_->find("rsmi_dev_ecc_enabled_get", f.ecc_blocks);
    library_->find("rsmi_compute_process_info_by_device_get", f.process);
    const bool usable = library_->find("rsmi_init", f.init) &&
                        library_->find("rsmi_shut_down", f.shutdown) &&
                        library_->find("rsmi_num_monitor_devices", f.count);
    if (!usable) reason_ = "librocm_smi64 is too old, or another library";
    return usable;
  }

  void start() {
    const auto status = functions_.init(0);
    started_ = status == rsmi::success;
    if (!started_) {
      const char* text = nullptr;
      const bool has_words = functions_.status_string != nullptr &&
                             functions_.status_string(status, &text) == rsmi::success &&
                             text != nullptr;
      reason_ = "cannot initialise ROCm SMI: " +
                (has_words ? std::string(text) : "error " + std::to_string(status));
      return;
    }
    count_ = value_from<std::uint32_t>(functions_.count).value_or(0);
    if (count_ == 0) reason_ = "no device of AMD's";
  }

  /// Domain, bus, device and function as rsmi_dev_pci_id_get packs them.
  std::string pci_address(std::uint32_t device) const {
    const auto id = value_from<std::uint64_t>(functions_.pci_id, device);
    if (!id) return {};
    return fmt::format("{:04x}:{:02x}:{:02x}.{}",
                       *id >> 32U,
                       (*id >> 8U) & 0xffU,
                       (*id >> 3U) & 0x1fU,
                       *id & 0x7U);
  }

  /// "freq1_input" is the shader's clock, "freq2_input" that of memory, in hertz.
  std::optional<int> clock_mhz(std::uint32_t device, const char* file) const {
    const auto folder = root_ / "sys/bus/pci/devices" / pci_address(device) / "hwmon";
    for (const auto& monitor : entries_of(folder)) {
      if (const auto hertz = read_number(monitor / file))
        return static_cast<int>(*hertz / 1'000'000);
    }
    return std::nullopt;
  }

  /// Returns the temperature of the hottest place, if there is such a sensor: it limits the clocks.
  std::optional<double> temperature_c(std::uint32_t device) const {
    for (const auto sensor : {rsmi::sensor_junction, rsmi::sensor_edge}) {
      const auto thousandths = value_from<std::int64_t>(
          functions_.temperature, device, sensor, rsmi::temperature_current);
      if (thousandths) return static_cast<double>(*thousandths) * 1e-3;
    }
    return std::nullopt;
  }

  /// Lists processes by the kernel's folders in /sys/class/kfd/kfd/proc: structures in the
  /// library's list depend on its version.
  std::vector<spec::GpuProcess> processes_of(std::uint32_t device) const {
    std::vector<spec::GpuProcess> processes;
    if (functions_.process == nullptr) return processes;
    for (const int pid : base::numbered_entries(root_ / "sys/class/kfd/kfd/proc")) {
      const auto number = static_cast<std::uint32_t>(pid);
      rsmi::ProcessInfo info;
      if (functions_.process(number, device, &info) != rsmi::success) continue;
      processes.push_back({pid, process_name(number, root_), info.vram_usage});
    }
    return processes;
  }

  std::filesystem::path root_;
  std::optional<SharedLibrary> library_{};
  rsmi::Functions functions_{};
  bool started_ = false;
  std::uint32_t count_ = 0;
  std::string reason_{};
};

}  // namespace

std::unique_ptr<GpuLibrary> open_rocm_smi(const ProbeSources& sources) {
  return std::make_unique<RocmSmi>(sources);
}

}  // namespace sabath::probe
