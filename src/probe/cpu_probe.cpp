#include "fact_file.hpp"
#include "probes.hpp"

#include <fmt/format.h>

#include <sstream>

#include <sys/utsname.h>

namespace sabath::probe {
namespace {

std::string first_of(std::string_view text, std::string_view key, std::string_view other) {
  const auto value = find_field(text, key);
  return std::string(value.empty() ? find_field(text, other) : value);
}

std::string identification(std::string_view text) {
  if (const auto family = find_field(text, "cpu family"); !family.empty()) {
    return fmt::format("{}/{}/{}", family, find_field(text, "model"), find_field(text, "stepping"));
  }
  if (const auto part = find_field(text, "CPU part"); !part.empty()) {
    return fmt::format(
        "{}/{}/{}", part, find_field(text, "CPU variant"), find_field(text, "CPU revision"));
  }
  return std::string(find_field(text, "revision"));
}

}  // namespace

/// Microcode may be loaded into a running system.
std::string cpu_witness(const ProbeSources& sources) {
  return read_fact(sources.root / "sys/devices/system/cpu/cpu0/microcode/version").value_or("");
}

/// Model and flags of the processor. Names for x86 from arch/x86/kernel/cpu/proc.c, for Arm from
/// arch/arm64/kernel/cpuinfo.c, for POWER from arch/powerpc/kernel/setup-common.c.
void probe_cpu(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  auto& cpu = facts.cpu;
  struct utsname kernel {};
  if (::uname(&kernel) == 0) cpu.architecture = kernel.machine;
  const auto text = read_fact(sources.root / "proc/cpuinfo").value_or("");
  cpu.model = first_of(text, "model name", "cpu");
  cpu.vendor = first_of(text, "vendor_id", "CPU implementer");
  cpu.microcode = find_field(text, "microcode");
  cpu.family_model_stepping = identification(text);
  std::istringstream flags(first_of(text, "flags", "Features"));
  for (std::string flag; flags >> flag;)
    cpu.flags.push_back(flag);
}

}  // namespace sabath::probe
