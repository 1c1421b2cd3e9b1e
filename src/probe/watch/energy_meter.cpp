#include "energy_meter.hpp"

#include "fact_file.hpp"

#include <sabath/base/error.hpp>
#include <sabath/probe/energy.hpp>
#include <sabath/probe/host_probe.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include <unistd.h>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// A file with a number of millionths.
std::function<std::optional<double>()> millionths(const fs::path& file) {
  return [file]() -> std::optional<double> {
    const auto number = read_number(file);
    if (!number) return std::nullopt;
    return static_cast<double>(*number) * 1e-6;
  };
}

// ---- GPUs

void add_gpus(const GpuLibraries& libraries,
              const std::vector<WatchedGpu>& gpus,
              EnergySources& sources) {
  for (const WatchedGpu& gpu : gpus) {
    const GpuLibrary* library = gpu.library;
    const std::string name(library->name());
    const auto device = gpu.device;
    EnergySource source;
    source.device = gpu.uuid;
    source.scope = "the whole GPU, with all its users";
    if (library->energy_j(device)) {
      source.method = name + " energy counter";
      source.read = [library, device] { return library->energy_j(device); };
    } else if (library->state(device).power_w) {
      source.method = name + " power over time";
      source.is_power = true;
      source.read = [library, device] { return library->state(device).power_w; };
    } else {
      sources.missing.push_back(name + ": " + gpu.uuid + " tells neither energy nor power");
      continue;
    }
    sources.found.push_back(std::move(source));
  }
  for (const auto& library : libraries) {
    if (!library->reason().empty()) {
      sources.missing.push_back(std::string(library->name()) + ": " + library->reason());
    } else if (library->count() > 0 &&
               std::none_of(gpus.begin(), gpus.end(), [&](const WatchedGpu& gpu) {
                 return gpu.library == library.get();
               })) {
      sources.missing.push_back(std::string(library->name()) + ": the run sees none of its GPUs");
    }
  }
}

// ---- RAPL: Documentation/power/powercap/powercap.rst

struct Domain {
  const char* name;  ///< its beginning
  const char* scope;
};

constexpr Domain domains[] = {
    {"package", "the whole package, with all its users"},
    {"dram", "memory at the package; not in the package's energy"},
    {"core", "cores; within the package's energy"},
    {"uncore", "graphics or the rest of the package; within the package's energy"},
    {"psys", "what the maker connected: the platform; holds packages"},
};

std::string scope_of(const std::string& domain) {
  for (const auto& [name, scope] : domains) {
    if (domain.starts_with(name)) return scope;
  }
  return "a part of the machine";
}

/// Returns why a counter is unreadable, and who can change that.
std::string unreadable(const fs::path& file, int code) {
  std::string text = "rapl: " + file.string() + ": " + base::errno_text(code);
  if (code == EACCES || code == EPERM) {
    text +=
        ", for root only since Linux 5.10 (CVE-2020-8694); an administrator can allow it: chmod "
        "a+r " +
        (file.parent_path().parent_path() / "intel-rapl:*" / file.filename()).string();
  }
  return text;
}

void add_zone(const fs::path& zone,
              const std::string& above,
              EnergySources& sources,
              std::string& problem) {
  const auto file = zone / "energy_uj";
  const auto name = read_fact(zone / "name").value_or("");
  if (name.empty()) return;
  const std::string device = above.empty() ? name : above + "/" + name;
  if (::access(file.c_str(), R_OK) != 0) {
    if (problem.empty()) problem = unreadable(file, errno);
  } else {
    EnergySource source{device, "rapl", scope_of(name), false, 0, millionths(file)};
    source.range_j =
        static_cast<double>(read_number(zone / "max_energy_range_uj").value_or(0)) * 1e-6;
    sources.found.push_back(std::move(source));
  }
  for (const auto& inner : entries_of(zone)) {
    if (inner.filename().string().starts_with("intel-rapl:")) {
      add_zone(inner, device, sources, problem);
    }
  }
}

/// The zones of "intel-rapl" are AMD's, too; "intel-rapl-mmio" repeats the same counters.
bool add_rapl(const fs::path& root, EnergySources& sources) {
  const auto before = sources.found.size();
  const auto folder = root / "sys/class/powercap";
  std::string problem;
  for (const auto& zone : entries_of(folder)) {
    const auto name = zone.filename().string();
    // Inner zones ("intel-rapl:0:0") are listed here, too.
    if (!name.starts_with("intel-rapl:") || std::count(name.begin(), name.end(), ':') != 1) {
      continue;
    }
    add_zone(zone, "", sources, problem);
  }
  if (sources.found.size() > before) return true;
  sources.missing.push_back(!problem.empty() ? problem
                                             : "rapl: no intel-rapl in " + folder.string());
  return false;
}

// ---- hwmon amd_energy: Documentation/hwmon/amd_energy.rst, Linux 5.8 to 5.12 and its successors

void add_amd_energy(const fs::path& root, EnergySources& sources) {
  for (const auto& monitor : entries_of(root / "sys/class/hwmon")) {
    if (read_fact(monitor / "name").value_or("") != "amd_energy") continue;
    for (const auto& entry : entries_of(monitor)) {
      const auto file = entry.filename().string();
      const auto label_end = file.find("_label");
      if (!file.starts_with("energy") || label_end == std::string::npos) continue;
      // "Esocket0"; those of cores ("Ecore000") are within them.
      const auto label = read_fact(entry).value_or("");
      const auto input = monitor / (file.substr(0, label_end) + "_input");
      if (!label.starts_with("Esocket") || ::access(input.c_str(), R_OK) != 0) continue;
      sources.found.push_back({"socket-" + label.substr(7),
                               "amd_energy",
                               "the whole package, with all its users",
                               false,
                               0,
                               millionths(input)});
    }
  }
}

// ---- Cray: /sys/cray/pm_counters, "12345 J 1700000000 us"

struct CrayCounter {
  const char* file;
  const char* device;
  const char* scope;
};

constexpr CrayCounter cray_counters[] = {
    {"energy", "node", "the whole node, with all its users"},
    {"cpu_energy", "node/cpu", "processors; within the node's energy"},
    {"memory_energy", "node/memory", "memory; within the node's energy"},
    {"accel_energy", "node/accel", "accelerator; within the node's energy"},
    {"accel0_energy", "node/accel0", "accelerator; within the node's energy"},
    {"accel1_energy", "node/accel1", "accelerator; within the node's energy"},
    {"accel2_energy", "node/accel2", "accelerator; within the node's energy"},
    {"accel3_energy", "node/accel3", "accelerator; within the node's energy"},
};

void add_cray(const fs::path& root, EnergySources& sources) {
  const auto folder = root / "sys/cray/pm_counters";
  const auto before = sources.found.size();
  for (const auto& [name, device, scope] : cray_counters) {
    const auto file = folder / name;
    const auto read = [file]() -> std::optional<double> {
      const auto joules = read_number(file);
      if (!joules) return std::nullopt;
      return static_cast<double>(*joules);
    };
    if (!read()) continue;
    sources.found.push_back({device, "cray pm_counters", scope, false, 0, read});
  }
  if (sources.found.size() == before) {
    sources.missing.push_back("cray: no " + folder.string());
  }
}

// ---- The meter

double step(const EnergySource& source, double before, double now, double seconds) {
  if (source.is_power) return (before + now) / 2 * seconds;
  if (now >= before) return now - before;
  if (source.range_j > 0) return now + source.range_j - before;
  return 0;
}

bool is_summed(const spec::EnergyReading& reading,
               const std::vector<spec::EnergyReading>& readings) {
  const bool has_node = std::any_of(readings.begin(), readings.end(), [&](const auto& other) {
    return other.device == "node" && other.node == reading.node;
  });
  if (has_node) return reading.device == "node";
  if (reading.device == "psys") return false;
  return reading.device.find('/') == std::string::npos || reading.device.ends_with("/dram");
}

}  // namespace

EnergySources find_energy_sources(const fs::path& root,
                                  const GpuLibraries& libraries,
                                  const std::vector<WatchedGpu>& gpus) {
  EnergySources sources;
  add_gpus(libraries, gpus, sources);
  if (!add_rapl(root, sources)) add_amd_energy(root, sources);
  add_cray(root, sources);
  return sources;
}

EnergyMeter::EnergyMeter(EnergySources sources) : missing_(std::move(sources.missing)) {
  for (auto& source : sources.found)
    accounts_.push_back({std::move(source)});
}

void EnergyMeter::look(double t_s) {
  for (Account& account : accounts_) {
    const auto now = account.source.read();
    if (!now) continue;
    if (account.last) {
      account.joules += step(account.source, *account.last, *now, t_s - account.last_t_s);
      ++account.steps;
    }
    account.last = now;
    account.last_t_s = t_s;
  }
}

std::vector<spec::EnergyReading> EnergyMeter::readings(const std::string& node) const {
  std::vector<spec::EnergyReading> readings;
  for (const Account& account : accounts_) {
    const auto& source = account.source;
    if (account.steps == 0) continue;
    readings.push_back({node, source.device, account.joules, source.method, source.scope});
  }
  return readings;
}

EnergyMethods energy_methods(const ProbeSources& sources) {
  const auto libraries = open_gpu_libraries(sources);
  const auto found = find_energy_sources(sources.root, libraries, choose_gpus(libraries, {}));
  EnergyMethods methods;
  methods.missing = found.missing;
  for (const auto& source : found.found)
    methods.available.push_back({node_name(), source.device, 0, source.method, source.scope});
  return methods;
}

std::string energy_text(const std::vector<spec::EnergyReading>& readings,
                        const std::vector<std::string>& missing) {
  double total_j = 0;
  std::vector<std::string> parts;
  for (const auto& reading : readings) {
    if (!is_summed(reading, readings)) continue;
    total_j += reading.joules;
    parts.push_back(
        fmt::format("{} {:.1f} J ({})", reading.device, reading.joules, reading.method));
  }
  if (parts.empty()) {
    if (missing.empty()) return "none: no counter could be read twice";
    return fmt::format("none: {}", fmt::join(missing, "; "));
  }
  return fmt::format("{:.1f} J: {}", total_j, fmt::join(parts, ", "));
}

}  // namespace sabath::probe
