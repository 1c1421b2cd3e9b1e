#include "support/fake_clock.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

#include <algorithm>

#include <unistd.h>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

spec::HostFacts facts_of(FakeHost& host) {
  base::SystemProcessRunner processes;
  test::FakeClock clock;
  return probe::probe_host(host.sources(), {}, processes, clock);
}

}  // namespace

TEST_CASE("host facts: the processor is read from /proc/cpuinfo, its first block") {
  FakeHost host;
  const auto cpu = facts_of(host).cpu;
  CHECK(cpu.model == "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz");
  CHECK(cpu.vendor == "GenuineIntel");
  CHECK(cpu.family_model_stepping == "6/85/7");
  CHECK(cpu.microcode == "0x5003604");
  CHECK(cpu.flags == std::vector<std::string>{"fpu", "sse2", "hypervisor", "avx512f"});
  CHECK_FALSE(cpu.architecture.empty());
}

TEST_CASE("host facts: an Arm processor is told by implementer, part and features") {
  FakeHost host;
  host.put("proc/cpuinfo",
           "processor\t: 0\nFeatures\t: fp asimd sve\nCPU implementer\t: 0x41\n"
           "CPU variant\t: 0x1\nCPU part\t: 0xd40\nCPU revision\t: 1\n");
  const auto cpu = facts_of(host).cpu;
  CHECK(cpu.vendor == "0x41");
  CHECK(cpu.family_model_stepping == "0xd40/0x1/1");
  CHECK(cpu.flags == std::vector<std::string>{"fp", "asimd", "sve"});
}

TEST_CASE("host facts: the topology has physical counts, caches, NUMA nodes") {
  FakeHost host;
  host.put("proc/self/status", "Cpus_allowed_list:\t0\n");
  const auto cpu = facts_of(host).cpu;
  CHECK(cpu.sockets == 2);
  CHECK(cpu.cores == 4);
  CHECK(cpu.threads == 8);
  CHECK(cpu.numa_nodes == 2);
  CHECK(cpu.effective_threads == 1);
  CHECK(cpu.caches_bytes == std::map<std::string, std::uint64_t>{
                                {"L1d", 32768}, {"L1i", 16384}, {"L2", 1048576}, {"L3", 28835840}});
}

TEST_CASE("host facts: devices are named by their own words, their PCI card's, or its numbers") {
  FakeHost host;
  const std::vector<spec::DeviceFacts> expected = {
      {"gpu", "card0", "pci 10de:20b0"},
      {"network", "eth0", "pci 8086:1572"},
      {"network", "ib0", "Mellanox Technologies MT27800 Family [ConnectX-5]"},
      {"openfabrics", "mlx5_0", "Mellanox Technologies MT27800 Family [ConnectX-5]"},
      {"storage", "nvme0n1", "Samsung SSD 970 PRO 1TB"}};
  CHECK(facts_of(host).devices == expected);
}

TEST_CASE("host facts: the system, its load and the time of looking are recorded") {
  FakeHost host;
  const auto facts = facts_of(host);
  CHECK(facts.boot_id == "0f9c7f1e-0000-4000-8000-00000000beef");
  CHECK(facts.os == "Debian GNU/Linux 12 (bookworm)");
  CHECK(facts.kernel == "6.1.0-18-amd64");
  CHECK_THAT(facts.libc, Catch::Matchers::StartsWith("glibc 2."));
  CHECK(facts.load_1min == 1.25);
  CHECK(facts.governor == "performance");
  CHECK(facts.node == probe::node_name());
  CHECK(facts.looked_at == base::format_rfc3339(test::FakeClock().now()));
}

TEST_CASE("host facts: containers and hypervisors are told, one in the other") {
  FakeHost host;
  SECTION("a guest of nobody known") {
    CHECK(facts_of(host).virtualization == "vm");
  }
  SECTION("a guest that DMI names") {
    host.put("sys/class/dmi/id/sys_vendor", "Microsoft Corporation\n");
    host.put("sys/class/dmi/id/product_name", "Virtual Machine\n");
    CHECK(facts_of(host).virtualization == "hyperv");
  }
  SECTION("a container in it") {
    host.put(".dockerenv", "");
    CHECK(facts_of(host).virtualization == "docker in vm");
  }
  SECTION("the bare metal, whatever DMI says") {
    host.put("proc/cpuinfo", "flags: fpu\n");
    host.put("sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
    const auto facts = facts_of(host);
    if (facts.cpu.architecture == "x86_64") CHECK(facts.virtualization.empty());
  }
}

TEST_CASE("host facts: the BLAS that the loader's cache names is followed to its file") {
  FakeHost host;
  using namespace std::string_literals;
  host.put("etc/ld.so.cache",
           "glibc-ld.so.cache1.1\0\1\2libblas.so.3\0/opt/blas/libblas.so.3\0libz.so.1\0"s);
  host.put("opt/blas/libopenblasp-r0.3.21.so", "");
  std::filesystem::create_symlink("libopenblasp-r0.3.21.so", host.root() / "opt/blas/libblas.so.3");
  const auto real = std::filesystem::canonical(host.root() / "opt/blas/libblas.so.3");
  CHECK(facts_of(host).blas == real.string() + " (0.3.21)");
}

TEST_CASE("host facts: without a loader's cache the usual folders are searched") {
  FakeHost host;
  CHECK(facts_of(host).blas.empty());
  host.put("usr/lib/libopenblas.so.0", "");
  CHECK_THAT(facts_of(host).blas, Catch::Matchers::EndsWith("/usr/lib/libopenblas.so.0"));
}

TEST_CASE("host facts: an empty tree is no error") {
  const test::TempHome home;
  probe::ProbeSources sources;
  sources.root = home.path();
  sources.run_tools = false;
  sources.nvml_library = "libsabath-no-such-nvml.so.1";
  base::SystemProcessRunner processes;
  test::FakeClock clock;
  const auto facts = probe::probe_host(sources, home / "state", processes, clock);
  CHECK(facts.boot_id.empty());
  CHECK(facts.cpu.model.empty());
  CHECK(facts.memory.total_bytes == 0);
  CHECK(facts.cpu.effective_threads >= 1);
  CHECK_FALSE(std::filesystem::exists(home / "state"));  // nothing to name a memo by
}

TEST_CASE("host facts: this very machine has a processor, memory and a system") {
  const test::TempHome home;
  base::SystemProcessRunner processes;
  base::SystemClock clock;
  const auto facts = probe::probe_host({}, home / "state", processes, clock);
  CHECK(facts.cpu.threads >= 1);
  CHECK(facts.cpu.cores >= 1);
  CHECK(facts.cpu.effective_threads >= 1);
  CHECK(facts.cpu.effective_threads <= facts.cpu.threads);
  CHECK(facts.memory.total_bytes > 0);
  CHECK(facts.memory.effective_bytes <= facts.memory.total_bytes);
  CHECK_FALSE(facts.kernel.empty());
  CHECK(facts.gpus.empty() == !facts.gpu_reason.empty());
  CHECK(facts.compilers.count("c++") == 1);  // it compiled this test
  CHECK(probe::probe_host({}, home / "state", processes, clock).cpu == facts.cpu);
}

TEST_CASE("node: a process is known by its start, and one that is not there has none") {
  CHECK_FALSE(probe::boot_id().empty());
  CHECK_FALSE(probe::node_name().empty());
}
