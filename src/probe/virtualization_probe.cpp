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

/// What hypervisors write into DMI's sys_vendor or product_name, as systemd-detect-virt knows it.
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

/// x86 tells a guest by the flag "hypervisor"; some of its vendors' bare machines carry the same
/// names in DMI. Elsewhere there are only the names.
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

/// Between this process and the metal: "docker", "kvm", "docker in kvm".
class VirtualizationProbe final : public Probe {
 public:
  std::string_view name() const override { return "virtualization"; }
  /// Containers come and go without a boot.
  std::optional<std::string> witness(const ProbeSources&) const override { return std::nullopt; }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
    const auto inner = container(sources.root);
    const auto outer = hypervisor(sources.root, facts.cpu);
    facts.virtualization = inner + (inner.empty() || outer.empty() ? "" : " in ") + outer;
  }
};

}  // namespace

std::unique_ptr<Probe> make_virtualization_probe() {
  return std::make_unique<VirtualizationProbe>();
}

}  // namespace sabath::probe
