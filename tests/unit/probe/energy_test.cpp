#include "probe/watch/energy_meter.hpp"
#include "support/fake_host.hpp"

#include <sabath/probe/energy.hpp>

#include <catch2/catch.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using sabath::test::FakeHost;

namespace {

constexpr const char* powercap = "sys/class/powercap/";

void put_zone(const FakeHost& host,
              const std::string& zone,
              const std::string& name,
              int energy_uj) {
  host.put(powercap + zone + "/name", name + "\n");
  host.put(powercap + zone + "/energy_uj", std::to_string(energy_uj) + "\n");
  host.put(powercap + zone + "/max_energy_range_uj", "100000000\n");
}

/// Two packages, the second with memory; the platform; and the same package by another way.
void put_rapl(const FakeHost& host) {
  put_zone(host, "intel-rapl:0", "package-0", 10'000'000);
  put_zone(host, "intel-rapl:0/intel-rapl:0:0", "core", 5'000'000);
  put_zone(host, "intel-rapl:1", "package-1", 99'000'000);
  put_zone(host, "intel-rapl:1/intel-rapl:1:0", "dram", 0);
  put_zone(host, "intel-rapl:2", "psys", 0);
  put_zone(host, "intel-rapl-mmio:0", "package-0", 10'000'000);
  // As in /sys, where inner zones stand beside the outer ones too.
  put_zone(host, "intel-rapl:0:0", "core", 5'000'000);
}

void set(const FakeHost& host, const std::string& zone, int energy_uj) {
  host.put(powercap + zone + "/energy_uj", std::to_string(energy_uj) + "\n");
}

probe::EnergySources sources_of(FakeHost& host) {
  return probe::find_energy_sources(host.root(), {}, {});
}

std::map<std::string, double> joules_of(const std::vector<spec::EnergyReading>& readings) {
  std::map<std::string, double> joules;
  for (const auto& reading : readings)
    joules[reading.device] = reading.joules;
  return joules;
}

spec::EnergyReading reading(const std::string& device, double joules, const std::string& method) {
  return {"node1", device, joules, method, ""};
}

}  // namespace

TEST_CASE("energy: RAPL's counters are read by domain, and begin anew at their range") {
  FakeHost host;
  put_rapl(host);
  probe::EnergyMeter meter(sources_of(host));
  meter.look(0);
  set(host, "intel-rapl:0", 22'500'000);
  set(host, "intel-rapl:0/intel-rapl:0:0", 8'000'000);
  set(host, "intel-rapl:1", 1'000'000);  // 99 -> 100 = 0 -> 1
  set(host, "intel-rapl:1/intel-rapl:1:0", 3'000'000);
  set(host, "intel-rapl:2", 40'000'000);
  meter.look(1);
  set(host, "intel-rapl:1", 0);  // and once more around, nearly
  meter.look(2);
  const auto readings = meter.readings("node1");
  CHECK(joules_of(readings) == std::map<std::string, double>{{"package-0", 12.5},
                                                             {"package-0/core", 3},
                                                             {"package-1", 101},
                                                             {"package-1/dram", 3},
                                                             {"psys", 40}});
  for (const auto& one : readings) {
    CHECK(one.method == "rapl");
    CHECK(one.node == "node1");
    CHECK_FALSE(one.scope.empty());
  }
  CHECK(probe::energy_text(readings, meter.missing()) ==
        "116.5 J: package-0 12.5 J (rapl), package-1 101.0 J (rapl), package-1/dram 3.0 J (rapl)");
}

TEST_CASE("energy: what only root may read says so, and what an administrator can do") {
  FakeHost host;
  put_rapl(host);
  for (const char* zone : {"intel-rapl:0",
                           "intel-rapl:0/intel-rapl:0:0",
                           "intel-rapl:1",
                           "intel-rapl:1/intel-rapl:1:0",
                           "intel-rapl:2"}) {
    std::filesystem::permissions(host.root() / powercap / zone / "energy_uj",
                                 std::filesystem::perms::none);
  }
  if (::geteuid() == 0) {
    // Root reads all: another user looks, in a process of its own.
    using std::filesystem::perms;
    const auto open_to_all = [](const std::filesystem::path& folder) {
      std::filesystem::permissions(folder, perms(0055), std::filesystem::perm_options::add);
    };
    open_to_all(host.root().parent_path());
    open_to_all(host.root());
    for (const auto& entry : std::filesystem::recursive_directory_iterator(host.root())) {
      if (entry.is_directory()) open_to_all(entry.path());
    }
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    const int pid = ::fork();
    if (pid == 0) {
      if (::setresuid(65534, 65534, 65534) != 0) ::_exit(1);
      const auto found = sources_of(host);
      const std::string text = found.found.empty() ? found.missing.front() : "it was read";
      const auto written = ::write(ends[1], text.data(), text.size());
      ::_exit(written < 0 ? 1 : 0);
    }
    ::close(ends[1]);
    std::string text(4096, '\0');
    const auto got = ::read(ends[0], text.data(), text.size());
    ::close(ends[0]);
    ::waitpid(pid, nullptr, 0);
    REQUIRE(got > 0);
    text.resize(static_cast<std::size_t>(got));
    CHECK_THAT(text, StartsWith("rapl: ") && Contains("root only") && Contains("chmod a+r"));
    return;
  }
  const auto found = sources_of(host);
  CHECK(found.found.empty());
  CHECK_THAT(found.missing.front(), Contains("root only") && Contains("chmod a+r"));
}

TEST_CASE("energy: a counter that was set back goes on from there") {
  std::vector<double> told{50, 60, 5, 6};
  probe::EnergySources sources;
  sources.found.push_back({"GPU-1", "nvml energy counter", "", false, 0, [&told] {
                             const double next = told.front();
                             told.erase(told.begin());
                             return std::optional<double>(next);
                           }});
  probe::EnergyMeter meter(std::move(sources));
  for (int t = 0; t < 4; ++t)
    meter.look(t);
  CHECK(joules_of(meter.readings("")) == std::map<std::string, double>{{"GPU-1", 11}});
}

TEST_CASE("energy: power is summed up over time, and a look that fails is bridged") {
  std::vector<std::optional<double>> told{100.0, 200.0, std::nullopt, 400.0};
  probe::EnergySources sources;
  sources.found.push_back({"GPU-1", "nvml power over time", "", true, 0, [&told] {
                             const auto next = told.front();
                             told.erase(told.begin());
                             return next;
                           }});
  probe::EnergyMeter meter(std::move(sources));
  meter.look(0);
  meter.look(2);    // 150 W for 2 s
  meter.look(2.5);  // nothing told
  meter.look(4);    // 300 W for 2 s
  CHECK(joules_of(meter.readings("")) == std::map<std::string, double>{{"GPU-1", 900}});
}

TEST_CASE("energy: one look is no difference, and is told as none") {
  FakeHost host;
  put_rapl(host);
  probe::EnergyMeter meter(sources_of(host));
  meter.look(0);
  CHECK(meter.readings("").empty());
}

TEST_CASE("energy: Cray's counters hold the node, and nothing is added to that") {
  FakeHost host;
  host.put("sys/cray/pm_counters/energy", "1000 J 1700000000000000 us\n");
  host.put("sys/cray/pm_counters/cpu_energy", "400 J 1700000000000000 us\n");
  host.put("sys/cray/pm_counters/accel0_energy", "300 J 1700000000000000 us\n");
  put_rapl(host);
  probe::EnergyMeter meter(sources_of(host));
  meter.look(0);
  host.put("sys/cray/pm_counters/energy", "1512 J 1700000001000000 us\n");
  host.put("sys/cray/pm_counters/cpu_energy", "600 J 1700000001000000 us\n");
  set(host, "intel-rapl:0", 20'000'000);
  meter.look(1);
  const auto readings = meter.readings("node1");
  const auto joules = joules_of(readings);
  CHECK(joules.at("node") == 512);
  CHECK(joules.at("node/cpu") == 200);
  CHECK(joules.at("node/accel0") == 0);
  CHECK(joules.at("package-0") == 10);
  CHECK(probe::energy_text(readings, {}) == "512.0 J: node 512.0 J (cray pm_counters)");
}

TEST_CASE("energy: AMD's hwmon counts sockets, where RAPL is not there") {
  FakeHost host;
  const std::string monitor = "sys/class/hwmon/hwmon3/";
  host.put(monitor + "name", "amd_energy\n");
  host.put(monitor + "energy1_label", "Ecore000\n");
  host.put(monitor + "energy1_input", "5000000\n");
  host.put(monitor + "energy33_label", "Esocket0\n");
  host.put(monitor + "energy33_input", "7000000\n");
  host.put("sys/class/hwmon/hwmon0/name", "coretemp\n");
  probe::EnergyMeter meter(sources_of(host));
  meter.look(0);
  host.put(monitor + "energy33_input", "9500000\n");
  meter.look(1);
  CHECK(joules_of(meter.readings("")) == std::map<std::string, double>{{"socket-0", 2.5}});
}

TEST_CASE("energy: a GPU with a counter is read by it, one without by its power") {
  FakeHost host;
  host.sources().nvml_library = SABATH_FAKE_NVML;
  const auto libraries = probe::open_gpu_libraries(host.sources());
  probe::EnergyMeter meter(
      probe::find_energy_sources(host.root(), libraries, probe::choose_gpus(libraries, {})));
  meter.look(0);
  meter.look(10);
  const auto readings = meter.readings("node1");
  REQUIRE(readings.size() == 2);
  CHECK(readings[0].method == "nvml energy counter");
  CHECK(readings[0].joules == Approx(1.5));
  CHECK(readings[1].method == "nvml power over time");
  CHECK(readings[1].joules == Approx(352.5));
}

TEST_CASE("energy: AMD's GPUs count by their own unit") {
  FakeHost host;
  base::make_directories(host.root() / "sys/module/amdgpu");
  host.sources().rocm_smi_libraries = {SABATH_FAKE_ROCM_SMI};
  const auto libraries = probe::open_gpu_libraries(host.sources());
  const auto sources =
      probe::find_energy_sources(host.root(), libraries, probe::choose_gpus(libraries, {}));
  CHECK_THAT(sources.missing.front(), Contains("GPU-0000:c6:00.0 tells neither"));
  probe::EnergyMeter meter(sources);
  meter.look(0);
  meter.look(1);
  const auto readings = meter.readings("");
  REQUIRE(readings.size() == 1);
  CHECK(readings[0].method == "rocm_smi energy counter");
  CHECK(readings[0].joules == Approx(15.3));
}

TEST_CASE("energy: the text sums up what does not hold one another, or says why there is none") {
  CHECK(probe::energy_text({reading("GPU-1", 300, "nvml energy counter"),
                            reading("package-0", 12.5, "rapl"),
                            reading("package-0/core", 9, "rapl"),
                            reading("psys", 80, "rapl")},
                           {}) ==
        "312.5 J: GPU-1 300.0 J (nvml energy counter), package-0 12.5 J (rapl)");
  FakeHost host;
  const auto methods = probe::energy_methods(host.sources());
  CHECK(methods.available.empty());
  const auto text = probe::energy_text({}, methods.missing);
  CHECK_THAT(text,
             StartsWith("none: nvml: libsabath-no-such-nvml.so.1 not found; rapl: ") &&
                 Contains("; cray: "));
  CHECK(text.find('\n') == std::string::npos);
}
