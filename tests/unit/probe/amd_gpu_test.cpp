#include "probe/gpu/gpu_watch.hpp"
#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

/// A machine with AMD's driver and its library.
struct AmdHost : FakeHost {
  AmdHost() {
    base::make_directories(root() / "sys/module/amdgpu");
    base::make_directories(root() / "sys/class/kfd/kfd/proc/4194007");
    const std::string monitor = "sys/bus/pci/devices/0000:c1:00.0/hwmon/hwmon4/";
    put(monitor + "freq1_input", "1700000000\n");
    put(monitor + "freq2_input", "1600000000\n");
    sources().rocm_smi_libraries = {"libsabath-no-such-rocm-smi.so.1", SABATH_FAKE_ROCM_SMI};
  }
};

spec::HostFacts look(FakeHost& host) {
  base::SystemProcessRunner processes;
  spec::HostFacts facts;
  probe::probe_gpus(host.sources(), processes, facts);
  return facts;
}

}  // namespace

TEST_CASE("amd: what ROCm SMI and the driver tell about a device is recorded") {
  AmdHost host;
  const auto facts = look(host);
  CHECK(facts.gpu_reason.empty());
  REQUIRE(facts.gpus.size() == 2);
  const auto& gpu = facts.gpus[0];
  CHECK(gpu.vendor == "amd");
  CHECK(gpu.name == "AMD Instinct Fake 250X");
  CHECK(gpu.uuid == "GPU-1b2c3d4e5f607182");
  CHECK(gpu.driver == "6.3.6");
  CHECK(gpu.pci_bus == "0000:c1:00.0");
  CHECK(gpu.memory_bytes == 68702699520U);
  CHECK(gpu.power_limit_w == 560);
  CHECK(gpu.clock_mhz == 1700);
  CHECK(gpu.memory_clock_mhz == 1600);
  CHECK(gpu.temperature_c == 47);
  CHECK(gpu.ecc == "on");
  CHECK(gpu.processes == std::vector<spec::GpuProcess>{{4194007, "", 2147483648U}});
}

TEST_CASE("amd: what a device does not tell is left out, and its place stands for its number") {
  AmdHost host;
  const auto facts = look(host);
  REQUIRE(facts.gpus.size() == 2);
  const auto& gpu = facts.gpus[1];
  CHECK(gpu.uuid == "GPU-0000:c6:00.0");
  CHECK(gpu.power_limit_w == 0);
  CHECK(gpu.clock_mhz == 0);
  CHECK_FALSE(gpu.memory_clock_mhz);
  CHECK_FALSE(gpu.temperature_c);
  CHECK(gpu.ecc == "unknown");
  CHECK(gpu.processes == std::vector<spec::GpuProcess>{});
}

TEST_CASE("amd: without its driver its library is not looked for, without the library it is told") {
  AmdHost host;
  host.sources().rocm_smi_libraries = {"libsabath-no-such-rocm-smi.so.1"};
  CHECK(look(host).gpu_reason ==
        "libsabath-no-such-nvml.so.1 not found; libsabath-no-such-rocm-smi.so.1 not found");
  host.sources().rocm_smi_libraries = {"libc.so.6"};
  CHECK(look(host).gpu_reason ==
        "libsabath-no-such-nvml.so.1 not found; librocm_smi64 is too old, or another library");
  std::filesystem::remove(host.root() / "sys/module/amdgpu");
  CHECK(look(host).gpu_reason == "libsabath-no-such-nvml.so.1 not found");
}

TEST_CASE("amd: a device is no part of a host's identity, as earlier versions did not see it") {
  AmdHost host;
  auto facts = look(host);
  REQUIRE(facts.gpus.size() == 2);
  CHECK(facts.identity().count("gpu.0.uuid") == 0);
}

TEST_CASE("amd: over time it is seen as any other GPU") {
  AmdHost host;
  const auto libraries = probe::open_gpu_libraries(host.sources());
  probe::GpuWatch watch(probe::choose_gpus(libraries, {{{"GPU-1b2c3d4e5f607182"}}, false}));
  REQUIRE(watch.look().size() == 1);
  const auto usage = watch.summary().value();
  CHECK(usage[0].mean_utilisation == 0.4);
  CHECK(usage[0].max_memory_bytes == 8589934592U);
  CHECK(usage[0].mean_power_w == 91);
  CHECK(usage[0].max_clock_mhz == 1700);
}
