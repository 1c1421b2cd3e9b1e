#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/text/pieces.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;
using spec::DeviceFacts;

std::optional<std::string> driver_of(const fs::path& device) {
  std::error_code code;
  const auto target = fs::read_symlink(device / "device/driver", code);
  if (code) return std::nullopt;
  return target.filename().string();
}

/// "4: ACTIVE" -> "active"
std::optional<std::string> state_word(const fs::path& file) {
  auto text = read_fact(file);
  if (!text) return std::nullopt;
  if (const auto colon = text->find(": "); colon != std::string::npos) text->erase(0, colon + 2);
  return base::lower_case(*text);
}

/// Documentation/ABI/testing/sysfs-class-net. Links that are down, and most virtual ones, have no
/// speed (an error, or -1).
void look_at_network(const fs::path& folder, DeviceFacts& device) {
  device.state = read_fact(folder / "operstate");
  device.speed_mbit_s = read_number(folder / "speed");
  device.driver = driver_of(folder);
}

/// Documentation/ABI/stable/sysfs-class-infiniband: "4: ACTIVE", "100 Gb/sec (4X EDR)", "5:
/// LinkUp". The physical state of an inactive port says why.
void look_at_port(const fs::path& port, DeviceFacts& device) {
  device.state = state_word(port / "state");
  if (device.state && *device.state != "active") {
    const auto physical = state_word(port / "phys_state");
    if (physical) *device.state += " (" + *physical + ")";
  }
  const double gbit_s = std::strtod(read_fact(port / "rate").value_or("").c_str(), nullptr);
  if (gbit_s > 0) device.speed_mbit_s = static_cast<std::uint64_t>(std::llround(gbit_s * 1000));
}

/// hwloc does not know devices without PCI.
DeviceFacts& entry(std::vector<DeviceFacts>& devices, const std::string& name) {
  const auto known = std::find_if(devices.begin(), devices.end(), [&](const DeviceFacts& one) {
    return one.kind == "openfabrics" && one.name == name;
  });
  if (known != devices.end()) return *known;
  DeviceFacts device;
  device.kind = "openfabrics";
  device.name = name;
  return devices.emplace_back(std::move(device));
}

/// A device with several ports gets an entry for each: "mlx5_0/1".
void look_at_fabric(const fs::path& folder, std::vector<DeviceFacts>& devices) {
  const auto name = folder.filename().string();
  auto& device = entry(devices, name);
  device.driver = driver_of(folder);
  const auto ports = entries_of(folder / "ports");
  if (ports.size() == 1) look_at_port(ports.front(), device);
  if (ports.size() < 2) return;
  const DeviceFacts pattern = device;
  for (const auto& port : ports) {
    auto& own = entry(devices, name + "/" + port.filename().string());
    own.model = pattern.model;
    own.driver = pattern.driver;
    look_at_port(port, own);
  }
}

}  // namespace

/// State and speed of network devices. Not kept: they go up and down at any time.
void probe_links(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  for (DeviceFacts& device : facts.devices) {
    if (device.kind == "network")
      look_at_network(sources.root / "sys/class/net" / device.name, device);
  }
  for (const auto& fabric : entries_of(sources.root / "sys/class/infiniband"))
    look_at_fabric(fabric, facts.devices);
}

}  // namespace sabath::probe
