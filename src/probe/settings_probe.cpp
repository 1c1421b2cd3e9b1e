#include "fact_file.hpp"
#include "probes.hpp"

#include <sabath/base/text/pieces.hpp>

#include <map>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

using Settings = std::map<std::string, std::string>;

enum class Form {
  text,      ///< unchanged
  switched,  ///< 1 is on, 0 is off; other values unchanged
  reversed,  ///< 0 is on
  chosen,    ///< the one in brackets: "always [madvise] never"
};

struct Setting {
  const char* name;
  const char* file;
  Form form;
};

/// The first existing file of a setting counts. Sources: the kernel's
/// Documentation/admin-guide/{sysctl,pm,mm} and Documentation/ABI.
constexpr Setting all_settings[] = {
    {"smt", "sys/devices/system/cpu/smt/active", Form::switched},
    {"numa_balancing", "proc/sys/kernel/numa_balancing", Form::switched},
    {"boost", "sys/devices/system/cpu/cpufreq/boost", Form::switched},
    {"boost", "sys/devices/system/cpu/intel_pstate/no_turbo", Form::reversed},
    {"scaling_driver", "sys/devices/system/cpu/cpu0/cpufreq/scaling_driver", Form::text},
    {"scaling_min_khz", "sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", Form::text},
    {"scaling_max_khz", "sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", Form::text},
    {"energy_performance_preference",
     "sys/devices/system/cpu/cpu0/cpufreq/energy_performance_preference",
     Form::text},
    {"intel_pstate", "sys/devices/system/cpu/intel_pstate/status", Form::text},
    {"amd_pstate", "sys/devices/system/cpu/amd_pstate/status", Form::text},
    {"clocksource", "sys/devices/system/clocksource/clocksource0/current_clocksource", Form::text},
    {"transparent_hugepages", "sys/kernel/mm/transparent_hugepage/enabled", Form::chosen},
    {"swappiness", "proc/sys/vm/swappiness", Form::text},
    {"aslr", "proc/sys/kernel/randomize_va_space", Form::text},
    {"isolated_cpus", "sys/devices/system/cpu/isolated", Form::text},
    {"nohz_full_cpus", "sys/devices/system/cpu/nohz_full", Form::text},
};

std::string in_form(const std::string& text, Form form) {
  const char* on = form == Form::reversed ? "0" : "1";
  const char* off = form == Form::reversed ? "1" : "0";
  if (form == Form::switched || form == Form::reversed) {
    return text == on ? "on" : text == off ? "off" : text;
  }
  const auto open = text.find('[');
  const auto close = text.find(']', open);
  if (form != Form::chosen || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

Settings& settings_of(spec::HostFacts& facts) {
  if (!facts.settings) facts.settings.emplace();
  return *facts.settings;
}

}  // namespace

/// Settings that an administrator may change at any time.
void probe_settings(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  auto& settings = settings_of(facts);
  for (const auto& [name, file, form] : all_settings) {
    const auto content = read_fact(sources.root / file).value_or("");
    const std::string text(base::trimmed(content));
    // Lists without processors are empty or "(null)".
    if (!text.empty() && text != "(null)") settings.emplace(name, in_form(text, form));
  }
}

std::string mitigations_witness(const ProbeSources& sources) {
  return read_fact(sources.root / "sys/devices/system/cpu/smt/control").value_or("");
}

/// Mitigations of processor faults, fixed at boot except for SMT and microcode. Leaves out those
/// that do not concern this processor.
void probe_mitigations(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) {
  for (const auto& fault : entries_of(sources.root / "sys/devices/system/cpu/vulnerabilities")) {
    const auto text = read_fact(fault).value_or("");
    if (text.empty() || text == "Not affected") continue;
    settings_of(facts)["mitigation." + fault.filename().string()] = text;
  }
}

}  // namespace sabath::probe
