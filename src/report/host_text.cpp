#include "plots/labelled_lines.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

constexpr std::size_t host_columns = 100;

std::string caches_text(const spec::CpuFacts& cpu) {
  return base::joined(cpu.caches_bytes, ", ", [](const auto& cache) {
    return cache.first + " " + base::format_bytes(cache.second);
  });
}

std::string cores_text(const spec::CpuFacts& cpu) {
  std::string text = fmt::format("{} socket(s), {} cores, {} threads; usable here: {}",
                                 cpu.sockets,
                                 cpu.cores,
                                 cpu.threads,
                                 cpu.effective_threads);
  if (cpu.cgroup_quota_cpus > 0) text += fmt::format(" (quota {:g})", cpu.cgroup_quota_cpus);
  return text;
}

/// Known state: "1410 of 1980 MHz, memory 1593 MHz, 35 C, limit 400 W, ECC on, MIG"
std::string gpu_state_text(const spec::GpuFacts& gpu) {
  std::vector<std::string> parts;
  if (gpu.clock_mhz > 0 && gpu.max_clock_mhz > 0) {
    parts.push_back(fmt::format("{} of {} MHz", gpu.clock_mhz, gpu.max_clock_mhz));
  } else if (gpu.clock_mhz > 0) {
    parts.push_back(fmt::format("{} MHz", gpu.clock_mhz));
  }
  if (gpu.memory_clock_mhz) parts.push_back(fmt::format("memory {} MHz", *gpu.memory_clock_mhz));
  if (gpu.temperature_c) parts.push_back(fmt::format("{:g} C", *gpu.temperature_c));
  if (gpu.power_limit_w > 0) parts.push_back(fmt::format("limit {:g} W", gpu.power_limit_w));
  if (gpu.ecc == "on" || gpu.ecc == "off") parts.push_back("ECC " + gpu.ecc);
  if (gpu.mig) parts.emplace_back("MIG");
  return fmt::format("{}", fmt::join(parts, ", "));
}

void add_gpus(LabelledLines& lines, const spec::HostFacts& facts) {
  if (facts.gpus.empty()) lines.add("GPU", "none: " + facts.gpu_reason);
  for (const spec::GpuFacts& gpu : facts.gpus) {
    lines.add("GPU",
              "{}, {}, driver {}, {}",
              gpu.name,
              base::format_bytes(gpu.memory_bytes),
              gpu.driver.empty() ? "unknown" : gpu.driver,
              gpu.uuid);
    lines.add("", gpu_state_text(gpu));
    for (const spec::GpuProcess& process :
         gpu.processes.value_or(std::vector<spec::GpuProcess>{})) {
      lines.add("",
                "used by {} ({}), {}",
                process.name.empty() ? "a process" : process.name,
                process.pid,
                base::format_bytes(process.memory_bytes));
    }
  }
}

std::string device_text(const spec::DeviceFacts& device) {
  std::string text = device.name + (device.model.empty() ? "" : ": " + device.model);
  if (device.state) text += ", " + *device.state;
  if (device.speed_mbit_s) {
    text += fmt::format(", {:g} Gbit/s", static_cast<double>(*device.speed_mbit_s) / 1000);
  }
  if (device.driver) text += ", driver " + *device.driver;
  return text;
}

/// Adds settings; mitigations by name alone.
void add_settings(LabelledLines& lines, const std::map<std::string, std::string>& settings) {
  constexpr std::string_view guard = "mitigation.";
  std::vector<std::string> plain;
  std::vector<std::string> guarded;
  std::vector<std::string> open;
  for (const auto& [name, value] : settings) {
    if (!name.starts_with(guard)) {
      plain.push_back(name + " " + value);
    } else {
      (value.starts_with("Vulnerable") ? open : guarded).push_back(name.substr(guard.size()));
    }
  }
  lines.add_list("settings", plain);
  lines.add_list("mitigated", guarded);
  lines.add_list("vulnerable", open);
}

/// One line a mount: "run, cache: /dev/sda1 on / (ext4), rw"
void add_mounts(LabelledLines& lines, const std::vector<spec::MountFacts>& mounts) {
  std::vector<std::pair<std::string, std::string>> texts;
  for (const spec::MountFacts& mount : mounts) {
    const auto where = fmt::format(
        "{} on {} ({}), {}", mount.source, mount.mount_point, mount.type, mount.options);
    const auto known =
        std::ranges::find_if(texts, [&](const auto& text) { return text.first == where; });
    if (known == texts.end()) {
      texts.emplace_back(where, mount.role);
    } else {
      known->second += ", " + mount.role;
    }
  }
  for (const auto& [where, roles] : texts)
    lines.add("mount", roles + ": " + where);
}

void add_state(LabelledLines& lines, const spec::HostFacts& facts) {
  lines.add("load", "{:.2f}", facts.load_1min);
  lines.add("governor", facts.governor);
  if (facts.settings) add_settings(lines, *facts.settings);
  if (facts.mounts) add_mounts(lines, *facts.mounts);
  if (!facts.noise) return;
  if (facts.noise->empty()) lines.add("noise", "none seen");
  for (const std::string& noise : *facts.noise)
    lines.add("noise", noise);
}

}  // namespace

std::string host_text(const spec::HostFacts& facts) {
  LabelledLines lines(12, host_columns);
  lines.add("node", facts.node);
  lines.add("CPU", facts.cpu.model);
  lines.add("", cores_text(facts.cpu));
  lines.add("",
            "{} NUMA node(s), microcode {}, {} flags",
            facts.cpu.numa_nodes,
            facts.cpu.microcode.empty() ? "unknown" : facts.cpu.microcode,
            facts.cpu.flags.size());
  lines.add("caches", caches_text(facts.cpu));
  lines.add("memory",
            "{}; usable here: {}",
            base::format_bytes(facts.memory.total_bytes),
            base::format_bytes(facts.memory.effective_bytes));
  add_gpus(lines, facts);
  for (const spec::DeviceFacts& device : facts.devices) {
    lines.add(device.kind, device_text(device));
  }
  lines.add("system", facts.os);
  lines.add("kernel", facts.kernel);
  lines.add("libc", facts.libc);
  for (const auto& [name, version] : facts.compilers)
    lines.add(name, version);
  lines.add("BLAS", facts.blas.empty() ? "none found" : facts.blas);
  lines.add("virtual", facts.virtualization);
  add_state(lines, facts);
  return lines.text();
}

std::string noise_text(const spec::HostFacts& facts) {
  if (!facts.noise || facts.noise->empty()) return {};
  return fmt::format("{} was not quiet: {}", facts.node, fmt::join(*facts.noise, "; "));
}

std::string energy_methods_text(const std::vector<spec::EnergyReading>& available,
                                const std::vector<std::string>& missing) {
  LabelledLines lines(12, host_columns);
  for (const spec::EnergyReading& reading : available)
    lines.add("energy", "{}: {}, {}", reading.device, reading.method, reading.scope);
  for (const std::string& reason : missing)
    lines.add("no energy", reason);
  return lines.text();
}

}  // namespace sabath::report
