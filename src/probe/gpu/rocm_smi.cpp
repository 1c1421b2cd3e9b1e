#include "rocm_smi.hpp"

#include "fact_file.hpp"

#include <sabath/base/process/process_table.hpp>

#include <fmt/format.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t name_size = 256;

std::optional<double> watts(const std::optional<std::uint64_t>& microwatts) {
  if (!microwatts) return std::nullopt;
  return static_cast<double>(*microwatts) * 1e-6;
}

}  // namespace

RocmSmi::RocmSmi(const ProbeSources& sources) : root_(sources.root) {
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

RocmSmi::~RocmSmi() {
  if (started_) functions_.shutdown();
}

bool RocmSmi::load() {
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

void RocmSmi::start() {
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

/// Returns the UUID of rocm-smi and HIP; without a serial number the PCI address.
std::string RocmSmi::uuid(std::size_t device) const {
  const auto index = static_cast<std::uint32_t>(device);
  const auto id = value_from<std::uint64_t>(functions_.unique_id, index).value_or(0);
  return id != 0 ? fmt::format("GPU-{:016x}", id) : "GPU-" + pci_address(index);
}

/// Domain, bus, device and function as rsmi_dev_pci_id_get packs them.
std::string RocmSmi::pci_address(std::uint32_t device) const {
  const auto id = value_from<std::uint64_t>(functions_.pci_id, device);
  if (!id) return {};
  return fmt::format(
      "{:04x}:{:02x}:{:02x}.{}", *id >> 32U, (*id >> 8U) & 0xffU, (*id >> 3U) & 0x1fU, *id & 0x7U);
}

/// "freq1_input" is the shader's clock, "freq2_input" that of memory, in hertz.
std::optional<int> RocmSmi::clock_mhz(std::uint32_t device, const char* file) const {
  const auto folder = root_ / "sys/bus/pci/devices" / pci_address(device) / "hwmon";
  for (const auto& monitor : entries_of(folder)) {
    if (const auto hertz = read_number(monitor / file)) return static_cast<int>(*hertz / 1'000'000);
  }
  return std::nullopt;
}

/// Returns the temperature of the hottest place, if there is such a sensor: it limits the clocks.
std::optional<double> RocmSmi::temperature_c(std::uint32_t device) const {
  for (const auto sensor : {rsmi::sensor_junction, rsmi::sensor_edge}) {
    const auto thousandths =
        value_from<std::int64_t>(functions_.temperature, device, sensor, rsmi::temperature_current);
    if (thousandths) return static_cast<double>(*thousandths) * 1e-3;
  }
  return std::nullopt;
}

/// Lists processes by the kernel's folders in /sys/class/kfd/kfd/proc: structures in the library's
/// list depend on its version.
std::vector<spec::GpuProcess> RocmSmi::processes_of(std::uint32_t device) const {
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

std::vector<spec::GpuFacts> RocmSmi::facts(std::size_t index) const {
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

GpuState RocmSmi::state(std::size_t index) const {
  const auto& f = functions_;
  const auto device = static_cast<std::uint32_t>(index);
  GpuState state;
  if (const auto percent = value_from<std::uint32_t>(f.busy, device)) {
    state.utilisation = *percent / 100.0;
  }
  state.memory_bytes = value_from<std::uint64_t>(f.memory_usage, device, rsmi::memory_vram);
  state.power_w = watts(value_from<std::uint64_t>(f.socket_power, device));
  if (!state.power_w) state.power_w = watts(value_from<std::uint64_t>(f.power_average, device, 0U));
  state.temperature_c = temperature_c(device);
  state.clock_mhz = clock_mhz(device, "freq1_input");
  state.memory_clock_mhz = clock_mhz(device, "freq2_input");
  return state;
}

/// The second die of a module returns zero: its energy is in that of the first.
std::optional<double> RocmSmi::energy_j(std::size_t device) const {
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

}  // namespace sabath::probe
