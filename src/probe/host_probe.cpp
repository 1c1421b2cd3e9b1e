#include "fact_file.hpp"
#include "host_memo.hpp"
#include "probes.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

namespace sabath::probe {
namespace {

/// A probe with what its facts rest on; nothing: they are looked at always.
struct Witnessed {
  std::unique_ptr<Probe> probe{};
  std::optional<std::string> witness{};
};

std::vector<Witnessed> ask_witnesses(const ProbeSources& sources) {
  std::vector<Witnessed> all;
  for (auto& probe : builtin_probes()) {
    auto witness = probe->witness(sources);
    all.push_back({std::move(probe), std::move(witness)});
  }
  return all;
}

std::string join_witnesses(const std::vector<Witnessed>& all) {
  std::string text;
  for (const auto& [probe, witness] : all) {
    if (witness) text.append(probe->name()).append(": ").append(*witness).append("\n");
  }
  return text;
}

/// One for each boot and witness: runs in different environments see different compilers.
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
    // A read-only or full home costs a second look next time, and nothing else.
  }
}

}  // namespace

std::vector<std::unique_ptr<Probe>> builtin_probes() {
  std::vector<std::unique_ptr<Probe>> probes;
  probes.push_back(make_cpu_probe());
  probes.push_back(make_topology_probe());
  probes.push_back(make_compiler_probe());
  probes.push_back(make_allowance_probe());
  probes.push_back(make_system_probe());
  probes.push_back(make_virtualization_probe());
  probes.push_back(make_blas_probe());
  probes.push_back(make_mitigations_probe());
  probes.push_back(make_settings_probe());
  probes.push_back(make_link_probe());
  probes.push_back(make_gpu_probe());
  probes.push_back(make_noise_probe());
  return probes;
}

spec::HostFacts probe_host(const ProbeSources& sources,
                           const std::filesystem::path& state_directory,
                           base::ProcessRunner& processes,
                           base::Clock& clock,
                           bool fresh) {
  const auto boot = boot_id(sources.root);
  const auto all = ask_witnesses(sources);
  const auto witness = join_witnesses(all);
  const auto memo = memo_file(state_directory, boot, witness);
  std::optional<spec::HostFacts> known;
  if (!fresh && !memo.empty()) known = read_host_memo(memo, witness);
  auto facts = known.value_or(spec::HostFacts{});
  if (!known) {
    for (const auto& [probe, lasting] : all) {
      if (lasting) probe->look(sources, processes, facts);
    }
    if (!memo.empty()) keep(memo, witness, facts);
  }
  for (const auto& [probe, lasting] : all) {
    if (!lasting) probe->look(sources, processes, facts);
  }
  facts.node = node_name();
  facts.boot_id = boot;
  facts.looked_at = base::format_rfc3339(clock.now());
  return facts;
}

}  // namespace sabath::probe
