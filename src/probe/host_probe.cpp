#include "fact_file.hpp"
#include "host_memo.hpp"
#include "probes.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/process/variables.hpp>
#include <sabath/probe/host_probe.hpp>

#include <array>

#include <unistd.h>

namespace sabath::probe {
namespace {

std::string join_witnesses(const ProbeSources& sources) {
  std::string text;
  for (const Probe& probe : builtin_probes()) {
    if (probe.witness == nullptr) continue;
    text.append(probe.name).append(": ").append(probe.witness(sources)).append("\n");
  }
  return text;
}

/// One memo for each boot and witness: runs in different environments see different compilers.
std::filesystem::path memo_file(const std::filesystem::path& state_directory,
                                const std::string& boot,
                                const std::string& witness) {
  if (state_directory.empty() || !base::is_safe_name(boot)) return {};
  const std::string digest = base::sha256_of(witness).hex.substr(0, 16);
  return state_directory / "hosts" / (boot + "-" + digest + ".json");
}

void keep(const std::filesystem::path& memo,
          const std::string& witness,
          const spec::HostFacts& facts) {
  try {
    forget_old_memos(memo.parent_path());
    write_host_memo(memo, witness, facts);
  } catch (const base::Error&) {
    // With a read-only or full home the facts are probed again next time.
  }
}

}  // namespace

const std::vector<Probe>& builtin_probes() {
  static const std::vector<Probe> probes{{"cpu", probe_cpu, cpu_witness},
                                         {"topology", probe_topology, topology_witness},
                                         {"compilers", probe_compilers, compilers_witness},
                                         {"allowance", probe_allowance},
                                         {"system", probe_system},
                                         {"virtualization", probe_virtualization},
                                         {"blas", probe_blas},
                                         {"mitigations", probe_mitigations, mitigations_witness},
                                         {"settings", probe_settings},
                                         {"links", probe_links},
                                         {"gpu", probe_gpus},
                                         {"noise", probe_noise}};
  return probes;
}

spec::HostFacts probe_host(const ProbeSources& sources,
                           const std::filesystem::path& state_directory,
                           base::ProcessRunner& processes,
                           base::Clock& clock,
                           bool fresh) {
  const auto boot = boot_id(sources.root);
  const auto witness = join_witnesses(sources);
  const auto memo = memo_file(state_directory, boot, witness);
  std::optional<spec::HostFacts> known;
  if (!fresh && !memo.empty()) known = read_host_memo(memo, witness);
  auto facts = known.value_or(spec::HostFacts{});
  if (!known) {
    for (const Probe& probe : builtin_probes()) {
      if (probe.witness != nullptr) probe.look(sources, processes, facts);
    }
    if (!memo.empty()) keep(memo, witness, facts);
  }
  for (const Probe& probe : builtin_probes()) {
    if (probe.witness == nullptr) probe.look(sources, processes, facts);
  }
  facts.node = node_name();
  facts.boot_id = boot;
  facts.looked_at = base::format_rfc3339(clock.now());
  return facts;
}

std::string node_name() {
  std::string slurm = base::variable_of(base::current_environment(), "SLURMD_NODENAME");
  if (!slurm.empty()) return slurm;
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string full = name.data();
  return full.substr(0, full.find('.'));
}

std::string boot_id(const std::filesystem::path& root) {
  return read_fact(root / "proc/sys/kernel/random/boot_id").value_or("");
}

}  // namespace sabath::probe
