#include "full_values.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/spec/host_facts.hpp>

#include <catch2/catch.hpp>

using namespace sabath;

TEST_CASE("host: identity names what a device is") {
  const auto items = test::full_host().identity();
  std::vector<std::string> names;
  for (const auto& [name, text] : items)
    names.push_back(name);
  CHECK(names == std::vector<std::string>{"cpu.architecture",
                                          "cpu.cores",
                                          "cpu.effective_threads",
                                          "cpu.family_model_stepping",
                                          "cpu.flags",
                                          "cpu.microcode",
                                          "cpu.model",
                                          "cpu.sockets",
                                          "cpu.threads",
                                          "gpu.0.driver",
                                          "gpu.0.name",
                                          "gpu.0.uuid",
                                          "kernel",
                                          "libc",
                                          "memory.total",
                                          "node",
                                          "os"});
  CHECK(items.at("memory.total") == "63 GiB");
  CHECK(items.at("cpu.flags") == base::sha256_of("avx2\nsse2\n").text());
}

TEST_CASE("host: its state at the time is no part of what it is") {
  const spec::HostFacts before = test::full_host();
  spec::HostFacts facts = before;
  facts.boot_id = "another";
  facts.load_1min = 99;
  facts.memory_available_bytes = 1;
  facts.governor = "powersave";
  facts.looked_at = "2027-01-01T00:00:00.000Z";
  facts.gpus[0].clock_mhz = 1;
  facts.memory.total_bytes += 20U << 20U;
  std::swap(facts.cpu.flags[0], facts.cpu.flags[1]);
  CHECK(facts.identity() == before.identity());
}

TEST_CASE("host: another device is another identity") {
  const spec::HostFacts before = test::full_host();
  const auto changes = [&](auto change) {
    spec::HostFacts facts = before;
    change(facts);
    return facts.identity() != before.identity();
  };
  CHECK(changes([](auto& f) { f.node = "node2"; }));
  CHECK(changes([](auto& f) { f.cpu.microcode = "0x2"; }));
  CHECK(changes([](auto& f) { f.cpu.flags.emplace_back("avx512f"); }));
  CHECK(changes([](auto& f) { f.cpu.effective_threads = 1; }));
  CHECK(changes([](auto& f) { f.gpus[0].uuid = "GPU-2"; }));
  CHECK(changes([](auto& f) { f.gpus.push_back(f.gpus[0]); }));
  CHECK(changes([](auto& f) { f.memory.total_bytes *= 2; }));
  CHECK(changes([](auto& f) { f.kernel = "6.2"; }));
}

TEST_CASE("host: what is not known is no item") {
  CHECK(spec::HostFacts{}.identity().empty());
}
