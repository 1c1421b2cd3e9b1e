#include "probe/watch/cgroup.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>

#include <unistd.h>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

const std::string group = "sys/fs/cgroup/run/";

std::optional<probe::GroupUse> look(const FakeHost& host) {
  return probe::look_at_group(host.root() / group, host.root() / "proc", host.root() / "sys");
}

void put_process(const FakeHost& host, int pid) {
  const auto folder = "proc/" + std::to_string(pid) + "/";
  host.put(folder + "stat",
           std::to_string(pid) +
               " (a b) S 1 1 1 0 -1 4194304 97 0 0 0 5 5 0 0 20 0 3 0 777 3133440 10 1844 1 1\n");
  host.put(folder + "io", "read_bytes: 100\nwrite_bytes: 200\n");
}

}  // namespace

TEST_CASE("group: what its controllers count is taken from them") {
  const FakeHost host;
  host.put(group + "cpu.stat", "usage_usec 2500000\nuser_usec 2000000\nsystem_usec 500000\n");
  host.put(group + "memory.stat", "anon 1000\nfile 900000\nfile_mapped 24\n");
  host.put(group + "memory.current", "901000\n");
  host.put(group + "memory.peak", "950000\n");
  host.put(group + "pids.current", "9\n");
  host.put(group + "cgroup.procs", "41\n42\n");
  host.put(group + "io.stat",
           "8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n"
           "253:0 rbytes=4096 wbytes=8192 rios=1 wios=2\n259:0 rbytes=1 wbytes=2\n");
  host.put("sys/dev/block/253:0/slaves/sda/dev", "8:0\n");  // what stands on another counts there
  const auto found = look(host);
  REQUIRE(found);
  CHECK(found->use.cpu_s == Approx(2.5));
  CHECK(found->use.rss_bytes == 1024);
  CHECK(found->memory_bytes == 901000U);
  CHECK(found->use.threads == 9);
  CHECK(found->use.processes == 2);
  CHECK(found->counts_io);
  CHECK(found->use.read_bytes == 4097);
  CHECK(found->use.write_bytes == 8194);
}

TEST_CASE("group: what they do not count is summed up over members, in groups within it too") {
  const FakeHost host;
  host.put(group + "cpu.stat", "usage_usec 1000000\n");
  host.put(group + "cgroup.procs", "41\n");
  host.put(group + "inner/cgroup.procs", "42\n43\n");  // 43 ended meanwhile
  put_process(host, 41);
  put_process(host, 42);
  const auto found = look(host);
  REQUIRE(found);
  CHECK(found->use.cpu_s == Approx(1));  // and not what /proc says of the living
  CHECK(found->use.processes == 3);
  CHECK(found->use.threads == 6);
  CHECK(found->use.rss_bytes == 20U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  CHECK_FALSE(found->counts_io);
  CHECK(found->use.write_bytes == 400);
  CHECK_FALSE(found->memory_bytes);
}

TEST_CASE("group: one that is not there uses nothing") {
  CHECK_FALSE(look(FakeHost()));
}
