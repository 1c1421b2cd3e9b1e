#include "fact_file.hpp"

#include <sabath/base/process/process.hpp>
#include <sabath/probe/host_probe.hpp>

#include <array>

#include <unistd.h>

namespace sabath::probe {

std::string node_name() {
  const auto environment = base::current_environment();
  if (const auto slurm = environment.find("SLURMD_NODENAME");
      slurm != environment.end() && !slurm->second.empty()) {
    return slurm->second;
  }
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0) return {};
  const std::string full = name.data();
  return full.substr(0, full.find('.'));
}

std::string boot_id(const std::filesystem::path& root) {
  return read_fact(root / "proc/sys/kernel/random/boot_id").value_or("");
}

}  // namespace sabath::probe
