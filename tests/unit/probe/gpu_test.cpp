#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

spec::HostFacts look(const std::string& library) {
  base::SystemProcessRunner processes;
  probe::ProbeSources sources;
  sources.nvml_library = library;
  spec::HostFacts facts;
  probe::make_gpu_probe()->look(sources, processes, facts);
  return facts;
}

}  // namespace

TEST_CASE("gpu: what NVML tells about each device is recorded") {
  const auto facts = look(SABATH_FAKE_NVML);
  CHECK(facts.gpu_reason.empty());
  REQUIRE(facts.gpus.size() == 2);
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
}

TEST_CASE("gpu: what a device does not support is left out, and the rest is there") {
  const auto facts = look(SABATH_FAKE_NVML);
  REQUIRE(facts.gpus.size() == 2);
  const auto& gpu = facts.gpus[1];
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
