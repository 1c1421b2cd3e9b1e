#include "probe/probes.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

spec::HostFacts allowance(FakeHost& host) {
  base::SystemProcessRunner processes;
  spec::HostFacts facts;
  probe::probe_allowance(host.sources(), processes, facts);
  return facts;
}

void put_group(const FakeHost& host, const std::string& file, const std::string& content) {
  host.put("proc/self/cgroup", "0::/job\n");
  host.put("proc/self/mountinfo", "31 23 0:28 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n");
  host.put("sys/fs/cgroup/job/" + file, content);
}

}  // namespace

TEST_CASE("allowance: without limits the online threads and the memory of the machine are there") {
  FakeHost host;
  const auto facts = allowance(host);
  CHECK(facts.cpu.effective_threads == 4);  // of 0-7 allowed, only 0-3 are online
  CHECK(facts.cpu.cgroup_quota_cpus == 0);
  CHECK(facts.memory.total_bytes == 8589934592U);
  CHECK(facts.memory.effective_bytes == 8589934592U);
  CHECK(facts.memory_available_bytes == 4294967296U);
}

TEST_CASE("allowance: affinity, cpuset and quota each reduce the threads") {
  FakeHost host;
  SECTION("affinity") {
    host.put("proc/self/status", "Cpus_allowed_list:\t1,3\n");
    CHECK(allowance(host).cpu.effective_threads == 2);
  }
  SECTION("cpuset") {
    put_group(host, "cpuset.cpus.effective", "1-3\n");
    CHECK(allowance(host).cpu.effective_threads == 3);
  }
  SECTION("quota, rounded up, and told apart") {
    put_group(host, "cpu.max", "150000 100000\n");
    CHECK(allowance(host).cpu.effective_threads == 2);
    CHECK(allowance(host).cpu.cgroup_quota_cpus == 1.5);
  }
  SECTION("a quota of more than there is changes nothing") {
    put_group(host, "cpu.max", "1600000 100000\n");
    CHECK(allowance(host).cpu.effective_threads == 4);
  }
  SECTION("never to none") {
    put_group(host, "cpu.max", "1000 100000\n");
    CHECK(allowance(host).cpu.effective_threads == 1);
  }
}

TEST_CASE("allowance: a group's memory limit counts when it is less than the machine's") {
  FakeHost host;
  put_group(host, "memory.max", "1048576\n");
  CHECK(allowance(host).memory.effective_bytes == 1048576U);
  CHECK(allowance(host).memory.total_bytes == 8589934592U);
  put_group(host, "memory.max", "9223372036854771712\n");
  CHECK(allowance(host).memory.effective_bytes == 8589934592U);
}
