#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>

#include <fmt/format.h>
#include <hwloc.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <tuple>
#include <type_traits>

#include <sys/stat.h>

namespace sabath::probe {
namespace {

struct DestroyTopology {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<std::remove_pointer_t<hwloc_topology_t>, DestroyTopology>;

/// Loads the topology of the whole machine, including parts that this process may not use.
Topology load_topology(const std::filesystem::path& xml) {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) return nullptr;
  Topology topology(raw);
  if (!xml.empty() && hwloc_topology_set_xml(raw, xml.c_str()) != 0) {
    base::throw_errno(xml.string(), "cannot read as an hwloc topology", errno);
  }
  // Devices come from the kernel's files alone: these plug-ins would start CUDA, OpenCL or an X
  // client, which is slow.
  for (const char* plugin : {"cuda", "nvml", "rsmi", "levelzero", "opencl", "gl"}) {
    hwloc_topology_set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, plugin);
  }
  hwloc_topology_set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  hwloc_topology_set_icache_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_ALL);
  if (hwloc_topology_load(raw) != 0) return nullptr;
  return topology;
}

int count(const Topology& topology, hwloc_obj_type_t type) {
  return std::max(hwloc_get_nbobjs_by_type(topology.get(), type), 0);
}

void find_caches(const Topology& topology, spec::CpuFacts& cpu) {
  static constexpr std::pair<hwloc_obj_type_t, const char*> types[] = {
      {HWLOC_OBJ_L1CACHE, "L1d"},
      {HWLOC_OBJ_L1ICACHE, "L1i"},
      {HWLOC_OBJ_L2CACHE, "L2"},
      {HWLOC_OBJ_L3CACHE, "L3"},
      {HWLOC_OBJ_L4CACHE, "L4"},
  };
  for (const auto& [type, name] : types) {
    const auto* cache = hwloc_get_obj_by_type(topology.get(), type, 0);
    if (cache != nullptr && cache->attr->cache.size > 0) {
      cpu.caches_bytes[name] = cache->attr->cache.size;
    }
  }
}

std::string kind_of(hwloc_obj_osdev_type_t type) {
  static const std::map<hwloc_obj_osdev_type_t, std::string> kinds{
      {HWLOC_OBJ_OSDEV_BLOCK, "storage"},
      {HWLOC_OBJ_OSDEV_GPU, "gpu"},
      {HWLOC_OBJ_OSDEV_NETWORK, "network"},
      {HWLOC_OBJ_OSDEV_OPENFABRICS, "openfabrics"},
      {HWLOC_OBJ_OSDEV_COPROC, "coprocessor"},
  };
  const auto found = kinds.find(type);
  return found == kinds.end() ? std::string() : found->second;
}

/// Returns vendor and product in words where hwloc knows them, else their PCI numbers.
std::string model_of(hwloc_obj_t device) {
  const auto info = [](hwloc_obj_t object, const char* key) {
    const char* value = hwloc_obj_get_info_by_name(object, key);
    return std::string(value == nullptr ? "" : value);
  };
  const auto joined = [](const std::string& vendor, const std::string& product) {
    return std::string(base::trimmed(vendor + " " + product));
  };
  if (auto own = joined(info(device, "Vendor"), info(device, "Model")); !own.empty()) return own;
  for (auto* object = device->parent; object != nullptr; object = object->parent) {
    if (object->type != HWLOC_OBJ_PCI_DEVICE) continue;
    if (auto words = joined(info(object, "PCIVendor"), info(object, "PCIDevice")); !words.empty()) {
      return words;
    }
    const auto& pci = object->attr->pcidev;
    return fmt::format("pci {:04x}:{:04x}", pci.vendor_id, pci.device_id);
  }
  return {};
}

std::vector<spec::DeviceFacts> find_devices(const Topology& topology) {
  std::vector<spec::DeviceFacts> devices;
  for (hwloc_obj_t device = nullptr;
       (device = hwloc_get_next_osdev(topology.get(), device)) != nullptr;) {
    const auto kind = kind_of(device->attr->osdev.type);
    if (!kind.empty()) devices.push_back({kind, device->name, model_of(device)});
  }
  std::sort(devices.begin(), devices.end(), [](const auto& a, const auto& b) {
    return std::tie(a.kind, a.name) < std::tie(b.kind, b.name);
  });
  return devices;
}

}  // namespace

/// Hardware threads can be switched on and off. A container with another network has another /sys,
/// with another device number.
std::string topology_witness(const ProbeSources& sources) {
  const auto sys = sources.root / "sys";
  struct stat status {};
  if (::stat(sys.c_str(), &status) != 0) status.st_dev = 0;
  return fmt::format("{} {} {}",
                     status.st_dev,
                     read_fact(sys / "devices/system/cpu/online").value_or(""),
                     sources.topology_xml.string());
}

/// Parts of the machine, by hwloc.
void probe_topology(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  const auto topology = load_topology(sources.topology_xml);
  if (!topology) return;
  facts.cpu.sockets = count(topology, HWLOC_OBJ_PACKAGE);
  facts.cpu.cores = count(topology, HWLOC_OBJ_CORE);
  facts.cpu.threads = count(topology, HWLOC_OBJ_PU);
  facts.cpu.numa_nodes = count(topology, HWLOC_OBJ_NUMANODE);
  find_caches(topology, facts.cpu);
  facts.devices = find_devices(topology);
}

}  // namespace sabath::probe
