#include "fact_file.hpp"
#include "probes.hpp"

#include <map>

namespace sabath::probe {
namespace {

namespace fs = std::filesystem;

using Settings = std::map<std::string, std::string>;

enum class Form {
  text,      ///< as it stands there
  switched,  ///< 1 is on, 0 is off; other values as they stand there
  reversed,  ///< 0 is on
  chosen,    ///< the one in brackets: "always [madvise] never"
};

struct Setting {
  const char* name;
  const char* file;
  Form form;
};

/// Of two files for one setting the first that is there counts. Sources: the kernel's
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

/// What an administrator may set at any time.
class SettingsProbe final : public Probe {
 public:
  std::string_view name() const override { return "settings"; }
  std::optional<std::string> witness(const ProbeSources&) const override { return std::nullopt; }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
    auto& settings = settings_of(facts);
    for (const auto& [name, file, form] : all_settings) {
      const auto content = read_fact(sources.root / file).value_or("");
      const std::string text(trimmed(content));
      // Lists of processors are empty, or "(null)", where there are none.
      if (!text.empty() && text != "(null)") settings.emplace(name, in_form(text, form));
    }
  }
};

/// How the kernel guards against faults of the processor: settled at boot, but for SMT and
/// microcode. What does not concern this processor is left out.
class MitigationsProbe final : public Probe {
 public:
  std::string_view name() const override { return "mitigations"; }

  std::optional<std::string> witness(const ProbeSources& sources) const override {
    return read_fact(sources.root / "sys/devices/system/cpu/smt/control").value_or("");
  }

  void look(const ProbeSources& sources, base::ProcessRunner&, spec::HostFacts& facts) override {
    std::error_code code;
    for (fs::directory_iterator at(sources.root / "sys/devices/system/cpu/vulnerabilities", code),
         end;
         !code && at != end;
         at.increment(code)) {
      const auto text = read_fact(at->path()).value_or("");
      if (text.empty() || text == "Not affected") continue;
      settings_of(facts)["mitigation." + at->path().filename().string()] = text;
    }
  }
};

}  // namespace

std::unique_ptr<Probe> make_settings_probe() {
  return std::make_unique<SettingsProbe>();
}

std::unique_ptr<Probe> make_mitigations_probe() {
  return std::make_unique<MitigationsProbe>();
}

}  // namespace sabath::probe
