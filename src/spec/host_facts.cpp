#include <sabath/base/digest.hpp>
#include <sabath/spec/host_facts.hpp>

#include <algorithm>

namespace sabath::spec {
namespace {

using Items = std::map<std::string, std::string>;

/// An unknown fact has no item, so that it is missing when two hosts are compared.
void add(Items& items, const std::string& name, const std::string& text) {
  if (!text.empty()) items[name] = text;
}

void add(Items& items, const std::string& name, int count) {
  if (count != 0) items[name] = std::to_string(count);
}

/// Flags are many; their order has no meaning.
std::string digest_of_flags(std::vector<std::string> flags) {
  if (flags.empty()) return {};
  std::sort(flags.begin(), flags.end());
  std::string text;
  for (const std::string& flag : flags)
    text += flag + "\n";
  return base::sha256_of(text).text();
}

/// Kernels reserve some megabytes more or less from boot to boot.
std::string whole_gib(std::uint64_t bytes) {
  constexpr std::uint64_t gib = 1ULL << 30U;
  if (bytes == 0) return {};
  return std::to_string(bytes / gib + (bytes % gib >= gib / 2 ? 1 : 0)) + " GiB";
}

/// Earlier versions saw neither AMD's GPUs nor the parts of a divided one; with them in the facet,
/// their records would be of other hosts.
bool is_identity(const GpuFacts& gpu) {
  return gpu.vendor.value_or("nvidia") == "nvidia" && !gpu.uuid.starts_with("MIG-");
}

void add_cpu(Items& items, const CpuFacts& cpu) {
  add(items, "cpu.model", cpu.model);
  add(items, "cpu.family_model_stepping", cpu.family_model_stepping);
  add(items, "cpu.microcode", cpu.microcode);
  add(items, "cpu.architecture", cpu.architecture);
  add(items, "cpu.flags", digest_of_flags(cpu.flags));
  add(items, "cpu.sockets", cpu.sockets);
  add(items, "cpu.cores", cpu.cores);
  add(items, "cpu.threads", cpu.threads);
  add(items, "cpu.effective_threads", cpu.effective_threads);
}

}  // namespace

std::map<std::string, std::string> HostFacts::identity() const {
  Items items;
  add(items, "node", node);
  add_cpu(items, cpu);
  add(items, "memory.total", whole_gib(memory.total_bytes));
  std::size_t number = 0;
  for (const GpuFacts& gpu : gpus) {
    if (!is_identity(gpu)) continue;
    const std::string place = "gpu." + std::to_string(number++) + ".";
    add(items, place + "name", gpu.name);
    add(items, place + "uuid", gpu.uuid);
    add(items, place + "driver", gpu.driver);
  }
  add(items, "os", os);
  add(items, "kernel", kernel);
  add(items, "libc", libc);
  return items;
}

}  // namespace sabath::spec
