#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;
using Cores = std::vector<std::vector<int>>;

namespace {

/// Two packages of two cores of two threads: the second threads are 4 to 7, the packages alternate.
void put_topology(const FakeHost& host) {
  host.put("sys/devices/system/cpu/online", "0-7\n");
  for (int cpu = 0; cpu < 8; ++cpu) {
    const std::string folder = "sys/devices/system/cpu/cpu" + std::to_string(cpu) + "/topology/";
    const int first = cpu % 4;
    host.put(folder + "thread_siblings_list",
             std::to_string(first) + "," + std::to_string(first + 4) + "\n");
    host.put(folder + "physical_package_id", std::to_string(cpu % 2) + "\n");
  }
}

}  // namespace

TEST_CASE("cores: threads of one core belong together, and cores of one package stand together") {
  const FakeHost host;
  put_topology(host);
  CHECK(probe::usable_cores(host.root()) == Cores{{0, 4}, {2, 6}, {1, 5}, {3, 7}});
}

TEST_CASE("cores: only what this process may use, and no more than the quota has") {
  const FakeHost host;
  put_topology(host);
  host.put("proc/self/status", "Cpus_allowed_list:\t2-6\n");
  CHECK(probe::usable_cores(host.root()) == Cores{{2, 6}, {4}, {3}, {5}});
  host.put("proc/self/cgroup", "0::/job\n");
  host.put("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  host.put("sys/fs/cgroup/job/cpu.max", "250000 100000\n");
  CHECK(probe::usable_cores(host.root()) == Cores{{2, 6}, {4}});
}

TEST_CASE("cores: where the kernel tells no topology each thread is a core") {
  const FakeHost host;
  CHECK(probe::usable_cores(host.root()) == Cores{{0}, {1}, {2}, {3}});
}

TEST_CASE("cores: this machine has some") {
  CHECK_FALSE(probe::usable_cores().empty());
}
