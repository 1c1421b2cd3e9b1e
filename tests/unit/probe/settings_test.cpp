#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

using Settings = std::map<std::string, std::string>;

Settings settings_of(FakeHost& host) {
  base::SystemProcessRunner processes;
  spec::HostFacts facts;
  probe::probe_mitigations(host.sources(), processes, facts);
  probe::probe_settings(host.sources(), processes, facts);
  return facts.settings.value_or(Settings{});
}

}  // namespace

TEST_CASE("settings: what the kernel is set to is told in words, each as it is written") {
  FakeHost host;
  const std::string cpus = "sys/devices/system/cpu/";
  host.put(cpus + "smt/active", "1\n");
  host.put(cpus + "cpufreq/boost", "0\n");
  host.put(cpus + "cpu0/cpufreq/scaling_driver", "acpi-cpufreq\n");
  host.put(cpus + "cpu0/cpufreq/scaling_max_freq", "2600000\n");
  host.put(cpus + "isolated", "2-3\n");
  host.put("proc/sys/kernel/numa_balancing", "2\n");
  host.put("proc/sys/kernel/randomize_va_space", "2\n");
  host.put("proc/sys/vm/swappiness", "10\n");
  host.put("sys/devices/system/clocksource/clocksource0/current_clocksource", "tsc\n");
  host.put("sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
  CHECK(settings_of(host) == Settings{{"aslr", "2"},
                                      {"boost", "off"},
                                      {"clocksource", "tsc"},
                                      {"isolated_cpus", "2-3"},
                                      {"numa_balancing", "2"},
                                      {"scaling_driver", "acpi-cpufreq"},
                                      {"scaling_max_khz", "2600000"},
                                      {"smt", "on"},
                                      {"swappiness", "10"},
                                      {"transparent_hugepages", "madvise"}});
}

TEST_CASE("settings: intel_pstate tells boost the other way round") {
  FakeHost host;
  host.put("sys/devices/system/cpu/intel_pstate/status", "active\n");
  host.put("sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
  CHECK(settings_of(host) == Settings{{"boost", "off"}, {"intel_pstate", "active"}});
  host.put("sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
  CHECK(settings_of(host).at("boost") == "on");
}

TEST_CASE("settings: lists of processors that are empty are none") {
  FakeHost host;
  host.put("sys/devices/system/cpu/isolated", "\n");
  host.put("sys/devices/system/cpu/nohz_full", "  (null)\n");
  CHECK(settings_of(host).count("isolated_cpus") == 0);
  CHECK(settings_of(host).count("nohz_full_cpus") == 0);
}

TEST_CASE("settings: mitigations are told but for faults that the processor does not have") {
  FakeHost host;
  const std::string folder = "sys/devices/system/cpu/vulnerabilities/";
  host.put(folder + "meltdown", "Not affected\n");
  host.put(folder + "spectre_v2", "Mitigation: Retpolines; STIBP: disabled\n");
  host.put(folder + "mds", "Vulnerable\n");
  CHECK(settings_of(host) ==
        Settings{{"mitigation.mds", "Vulnerable"},
                 {"mitigation.spectre_v2", "Mitigation: Retpolines; STIBP: disabled"}});
}
