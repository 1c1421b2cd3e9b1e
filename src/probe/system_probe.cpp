#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/text/pieces.hpp>

#include <sstream>

#ifdef __GLIBC__
#  include <gnu/libc-version.h>
#endif

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

/// PRETTY_NAME of os-release(5); /usr/lib has it where /etc does not.
std::string os_name(const fs::path& root) {
  auto text = read_fact(root / "etc/os-release");
  if (!text) text = read_fact(root / "usr/lib/os-release");
  constexpr std::string_view key = "PRETTY_NAME=";
  for (const std::string& line : base::split(text.value_or(""), '\n')) {
    if (!line.starts_with(key)) continue;
    auto value = line.substr(key.size());
    const bool quoted = value.size() >= 2 && (value.front() == '"' || value.front() == '\'') &&
                        value.back() == value.front();
    return quoted ? value.substr(1, value.size() - 2) : value;
  }
  return {};
}

std::string libc_name() {
#ifdef __GLIBC__
  return std::string("glibc ") + ::gnu_get_libc_version();
#else
  return {};
#endif
}

double load_average(const fs::path& root) {
  double load = 0;
  std::istringstream(read_fact(root / "proc/loadavg").value_or("")) >> load;
  return load;
}

}  // namespace

/// Software beneath every run (OS, kernel, libc), and the load and governor of the machine.
void probe_system(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  const auto& root = sources.root;
  facts.os = os_name(root);
  facts.kernel = read_fact(root / "proc/sys/kernel/osrelease").value_or("");
  facts.libc = libc_name();
  facts.load_1min = load_average(root);
  facts.governor =
      read_fact(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor").value_or("");
}

}  // namespace sabath::probe
