#include "fact_file.hpp"
#include "probes.hpp"

#include <algorithm>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

struct Hint {
  std::string_view text{};
  std::string_view name{};
};

/// Files that container engines leave in what they start.
constexpr Hint container_files[] = {
    {".dockerenv", "docker"},
    {"run/.containerenv", "podman"},
    {".singularity.d", "apptainer"},
};

/// Texts of hypervisors in DMI's sys_vendor or product_name, from systemd-detect-virt.
constexpr Hint dmi_hints[] = {
    {"QEMU", "qemu"},
    {"KVM", "kvm"},
    {"Amazon EC2", "kvm"},
    {"Google Compute Engine", "kvm"},
    {"OpenStack", "kvm"},
    {"VMware", "vmware"},
    {"VirtualBox", "virtualbox"},
    {"Xen", "xen"},
    {"Microsoft Corporation Virtual Machine", "hyperv"},
};

std::string container(const fs::path& root) {
  for (const auto& hint : container_files) {
    std::error_code problem;
    if (fs::exists(root / hint.text, problem)) return std::string(hint.name);
  }
  return {};
}

/// On x86 the flag "hypervisor" marks a guest: bare machines of some vendors have the same names in
/// DMI. Elsewhere only the names exist.
std::string hypervisor(const fs::path& root, const spec::CpuFacts& cpu) {
  const bool flagged =
      std::find(cpu.flags.begin(), cpu.flags.end(), "hypervisor") != cpu.flags.end();
  const bool x86 = cpu.architecture == "x86_64" || cpu.architecture == "i686";
  if (x86 && !flagged) return {};
  const auto dmi = root / "sys/class/dmi/id";
  const auto words = read_fact(dmi / "sys_vendor").value_or("") + " " +
                     read_fact(dmi / "product_name").value_or("");
  for (const auto& hint : dmi_hints) {
    if (words.find(hint.text) != std::string::npos) return std::string(hint.name);
  }
  const auto release = read_fact(root / "proc/sys/kernel/osrelease").value_or("");
  if (release.find("microsoft") != std::string::npos) return "wsl";
  return flagged ? "vm" : "";
}

}  // namespace

/// Layers between this process and the hardware: "docker", "kvm", "docker in kvm". Not kept:
/// containers come and go without a boot.
void probe_virtualization(const ProbeSources& sources,
                          base::ProcessRunner&,
                          spec::HostFacts& facts) {
  const auto inner = container(sources.root);
  const auto outer = hypervisor(sources.root, facts.cpu);
  facts.virtualization = inner + (inner.empty() || outer.empty() ? "" : " in ") + outer;
}

}  // namespace sabath::probe
