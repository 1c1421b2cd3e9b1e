#include "probe/gpu/gpu_library.hpp"
#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

spec::HostFacts look(const std::string& library) {
  base::SystemProcessRunner processes;
  probe::ProbeSources sources;
  sources.nvml_library = library;
  spec::HostFacts facts;
  probe::probe_gpus(sources, processes, facts);
  return facts;
}

}  // namespace

TEST_CASE("gpu: what NVML tells about each device is recorded") {
  const auto facts = look(SABATH_FAKE_NVML);
  CHECK(facts.gpu_reason.empty());
  REQUIRE(facts.gpus.size() == 4);
  const auto& gpu = facts.gpus[0];
  CHECK(gpu.name == "NVIDIA Fake 100");
  CHECK(gpu.uuid == "GPU-00000000-1111-2222-3333-444444444444");
  CHECK(gpu.driver == "999.88.77");
  CHECK(gpu.pci_bus == "00000000:3B:00.0");
  CHECK(gpu.memory_bytes == 85899345920U);
  CHECK(gpu.power_limit_w == 400);
  CHECK(gpu.clock_mhz == 1410);
  CHECK(gpu.max_clock_mhz == 1980);
  CHECK(gpu.mig);
  CHECK(gpu.ecc == "on");
  CHECK(gpu.vendor == "nvidia");
  CHECK(gpu.memory_clock_mhz == 1593);
  CHECK(gpu.temperature_c == 41);
}

TEST_CASE("gpu: processes of both kinds are told once each") {
  const auto facts = look(SABATH_FAKE_NVML);
  REQUIRE(facts.gpus.size() == 4);
  const auto processes = facts.gpus[0].processes.value();
  REQUIRE(processes.size() == 3);
  CHECK(processes[0].pid == ::getpid());
  CHECK(processes[0].memory_bytes == 1073741824U);
  CHECK(processes[1] == spec::GpuProcess{4194000, "", 0});  // it is not told how much
  CHECK(processes[2].pid == 4194001);
  CHECK(facts.gpus[3].processes == std::vector<spec::GpuProcess>{});
}

TEST_CASE("gpu: a process is named where this process counts as the driver does") {
  const FakeHost host;
  host.put("proc/77/comm", "python3\n");
  CHECK(probe::process_name(77, host.root()).empty());
  base::make_directories(host.root() / "proc/self/ns");
  std::filesystem::create_symlink("pid:[4026531836]", host.root() / "proc/self/ns/pid");
  CHECK(probe::process_name(77, host.root()) == "python3");
  CHECK(probe::process_name(78, host.root()).empty());
}

TEST_CASE("gpu: parts of a divided one have names of their own, its slot, and are no identity") {
  const auto facts = look(SABATH_FAKE_NVML);
  REQUIRE(facts.gpus.size() == 4);
  const auto& part = facts.gpus[2];
  CHECK(part.name == "NVIDIA Fake 100 MIG 1g.10gb");
  CHECK(part.uuid == "MIG-bbbbbbbb-1111-2222-3333-444444444444");
  CHECK(part.memory_bytes == 10737418240U);
  CHECK(part.pci_bus == "00000000:3B:00.0");
  CHECK(part.mig);
  const auto identity = facts.identity();
  CHECK(identity.at("gpu.0.name") == "NVIDIA Fake 100");
  CHECK(identity.at("gpu.1.name") == "NVIDIA Fake 10");
  CHECK(identity.count("gpu.2.name") == 0);
}

TEST_CASE("gpu: what a device does not support is left out, and the rest is there") {
  const auto facts = look(SABATH_FAKE_NVML);
  REQUIRE(facts.gpus.size() == 4);
  const auto& gpu = facts.gpus[3];
  CHECK(gpu.name == "NVIDIA Fake 10");
  CHECK(gpu.power_limit_w == 70.5);
  CHECK(gpu.clock_mhz == 0);
  CHECK_FALSE(gpu.mig);
  CHECK(gpu.ecc == "unknown");
}

TEST_CASE("gpu: when there are none the reason is told") {
  CHECK(look("libsabath-no-such-nvml.so.1").gpu_reason == "libsabath-no-such-nvml.so.1 not found");
  CHECK(look(SABATH_FAKE_NVML_EMPTY).gpu_reason == "no device");
  CHECK(look(SABATH_FAKE_NVML_NO_DRIVER).gpu_reason == "driver not loaded");
  CHECK(look(SABATH_FAKE_NVML_MISMATCH).gpu_reason ==
        "cannot initialise NVML: RM has detected an NVML/RM version mismatch.");
  CHECK(look("libc.so.6").gpu_reason == "libc.so.6 is too old, or not NVML");
  const test::TempHome home;
  base::write_file_atomically(home / "text.so", "no library");
  CHECK_THAT(look((home / "text.so").string()).gpu_reason,
             Catch::Matchers::StartsWith("cannot load " + (home / "text.so").string()));
}
