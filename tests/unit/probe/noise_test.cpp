#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Matchers::Contains;
using Catch::Matchers::StartsWith;
using sabath::test::FakeHost;

namespace {

spec::HostFacts quiet() {
  spec::HostFacts facts;
  facts.cpu.effective_threads = 4;
  facts.memory.total_bytes = std::uint64_t{8} << 30U;
  facts.memory_available_bytes = std::uint64_t{6} << 30U;
  facts.governor = "performance";
  facts.load_1min = 0.2;
  return facts;
}

std::vector<std::string> noise_of(FakeHost& host, spec::HostFacts facts) {
  base::SystemProcessRunner processes;
  probe::probe_noise(host.sources(), processes, facts);
  REQUIRE(facts.noise);
  return *facts.noise;
}

}  // namespace

TEST_CASE("noise: a quiet node has none, with boost on too") {
  FakeHost host;
  auto facts = quiet();
  facts.settings.emplace()["boost"] = "on";
  CHECK(noise_of(host, facts).empty());
}

TEST_CASE("noise: load counts against the threads that may be used, while others run") {
  FakeHost host;
  auto facts = quiet();
  facts.load_1min = 3.5;
  host.put("proc/loadavg", "3.50 2.00 1.00 3/200 4242\n");
  CHECK(noise_of(host, facts) ==
        std::vector<std::string>{"load 3.50 on 4 usable hardware thread(s), 2 other task(s) run"});
  SECTION("a run that has just ended is no noise") {
    host.put("proc/loadavg", "3.50 2.00 1.00 1/200 4242\n");
    CHECK(noise_of(host, facts).empty());
  }
  SECTION("a large machine is not disturbed by it") {
    facts.cpu.effective_threads = 128;
    CHECK(noise_of(host, facts).empty());
  }
}

TEST_CASE("noise: processes that have a GPU already are named") {
  FakeHost host;
  auto facts = quiet();
  spec::GpuFacts gpu;
  gpu.uuid = "GPU-1";
  gpu.processes = std::vector<spec::GpuProcess>{};
  facts.gpus = {gpu};
  CHECK(noise_of(host, facts).empty());
  facts.gpus.front().processes = {{12, "python", 4096}, {13, "", 0}};
  CHECK(noise_of(host, facts) ==
        std::vector<std::string>{"GPU-1 has 2 other process(es): python, process 13"});
}

TEST_CASE("noise: clocks that follow the load, and cores that were hot") {
  FakeHost host;
  auto facts = quiet();
  facts.governor = "powersave";
  for (int cpu = 0; cpu < 4; ++cpu) {
    host.put("sys/devices/system/cpu/cpu" + std::to_string(cpu) +
                 "/thermal_throttle/core_throttle_count",
             cpu == 2 ? "17\n" : "0\n");
  }
  const auto noise = noise_of(host, facts);
  REQUIRE(noise.size() == 2);
  CHECK_THAT(noise[0], Contains("'powersave'"));
  CHECK(noise[1] == "1 hardware thread(s) were slowed down for heat since boot, 17 time(s)");
}

TEST_CASE("noise: little memory, and much that is swapped out") {
  FakeHost host;
  auto facts = quiet();
  facts.memory_available_bytes = std::uint64_t{400} << 20U;
  host.put("proc/meminfo", "MemTotal: 8388608 kB\nSwapTotal: 4194304 kB\nSwapFree: 3145728 kB\n");
  const auto noise = noise_of(host, facts);
  REQUIRE(noise.size() == 2);
  CHECK_THAT(noise[0], StartsWith("400") && Contains("of 8.0 GiB"));
  CHECK_THAT(noise[1], StartsWith("1.0 GiB"));
  host.put("proc/meminfo", "SwapTotal: 4194304 kB\nSwapFree: 4190000 kB\n");
  CHECK(noise_of(host, facts).size() == 1);
}
