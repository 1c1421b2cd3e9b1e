#include "labelled_lines.hpp"

#include <sabath/base/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

namespace sabath::report {
namespace {

std::string caches_text(const spec::CpuFacts& cpu) {
  std::string text;
  for (const auto& [name, size_bytes] : cpu.caches_bytes) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name, base::format_bytes(size_bytes));
  }
  return text;
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

void add_gpus(LabelledLines& lines, const spec::HostFacts& facts) {
  if (facts.gpus.empty()) lines.add("GPU", "none: " + facts.gpu_reason);
  for (const spec::GpuFacts& gpu : facts.gpus) {
    lines.add("GPU",
              fmt::format("{}, {}, driver {}, {}",
                          gpu.name,
                          base::format_bytes(gpu.memory_bytes),
                          gpu.driver,
                          gpu.uuid));
  }
}

}  // namespace

std::string host_text(const spec::HostFacts& facts) {
  LabelledLines lines(12);
  lines.add("node", facts.node);
  lines.add("CPU", facts.cpu.model);
  lines.add("", cores_text(facts.cpu));
  lines.add("",
            fmt::format("{} NUMA node(s), microcode {}, {} flags",
                        facts.cpu.numa_nodes,
                        facts.cpu.microcode.empty() ? "unknown" : facts.cpu.microcode,
                        facts.cpu.flags.size()));
  lines.add("caches", caches_text(facts.cpu));
  lines.add("memory",
            fmt::format("{}; usable here: {}",
                        base::format_bytes(facts.memory.total_bytes),
                        base::format_bytes(facts.memory.effective_bytes)));
  add_gpus(lines, facts);
  for (const spec::DeviceFacts& device : facts.devices) {
    lines.add(device.kind, device.name + (device.model.empty() ? "" : ": " + device.model));
  }
  lines.add("system", facts.os);
  lines.add("kernel", facts.kernel);
  lines.add("libc", facts.libc);
  for (const auto& [name, version] : facts.compilers)
    lines.add(name, version);
  lines.add("BLAS", facts.blas.empty() ? "none found" : facts.blas);
  lines.add("virtual", facts.virtualization);
  lines.add("load", fmt::format("{:.2f}", facts.load_1min));
  lines.add("governor", facts.governor);
  return lines.text();
}

}  // namespace sabath::report
