#include "probe/watch/cgroup.hpp"

#include "support/fake_host.hpp"

#include <sabath/probe/memory_kills.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

constexpr const char* unified =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n";

}  // namespace

TEST_CASE("cgroup: a host without control groups limits nothing") {
  const FakeHost host;
  const auto limits = probe::read_cgroup_limits(host.root());
  CHECK_FALSE(limits.cpus);
  CHECK_FALSE(limits.memory_bytes);
  CHECK(limits.cpu_lists.empty());
}

TEST_CASE("cgroup v2: the least limit of all groups above counts, and 'max' is none") {
  const FakeHost host;
  host.put("proc/self/cgroup", "0::/user.slice/job.slice/step.scope\n");
  host.put("proc/self/mountinfo", std::string("22 1 8:1 / / rw - ext4 /dev/sda1 rw\n") + unified);
  host.put("sys/fs/cgroup/cgroup.controllers", "cpu memory\n");
  const std::string slice = "sys/fs/cgroup/user.slice/";
  host.put(slice + "cpu.max", "400000 100000\n");
  host.put(slice + "memory.max", "4294967296\n");
  host.put(slice + "job.slice/cpu.max", "150000 100000\n");
  host.put(slice + "job.slice/memory.max", "1073741824\n");
  host.put(slice + "job.slice/cpuset.cpus.effective", "0-2\n");
  host.put(slice + "job.slice/step.scope/cpu.max", "max 100000\n");
  host.put(slice + "job.slice/step.scope/memory.max", "2147483648\n");
  host.put(slice + "job.slice/step.scope/cpuset.cpus.effective", "0-1\n");
  const auto limits = probe::read_cgroup_limits(host.root());
  CHECK(limits.cpus == 1.5);
  CHECK(limits.memory_bytes == 1073741824U);
  CHECK(limits.cpu_lists == std::vector<std::string>{"0-1"});
}

TEST_CASE("cgroup v2: 'max' everywhere is no limit") {
  const FakeHost host;
  host.put("proc/self/cgroup", "0::/a\n");
  host.put("proc/self/mountinfo", unified);
  host.put("sys/fs/cgroup/a/cpu.max", "max 100000\n");
  host.put("sys/fs/cgroup/a/memory.max", "max\n");
  const auto limits = probe::read_cgroup_limits(host.root());
  CHECK_FALSE(limits.cpus);
  CHECK_FALSE(limits.memory_bytes);
}

TEST_CASE("cgroup v2: in a container the group at the mount point is this process's") {
  const FakeHost host;
  host.put("sys/fs/cgroup/memory.max", "536870912\n");
  SECTION("with the host's name for the group") {
    host.put("proc/self/cgroup", "0::/docker/4f\n");
    host.put("proc/self/mountinfo",
             "31 23 0:28 /docker/4f /sys/fs/cgroup ro - cgroup2 cgroup ro\n");
  }
  SECTION("with a name space of its own") {
    host.put("proc/self/cgroup", "0::/\n");
    host.put("proc/self/mountinfo", unified);
  }
  SECTION("moved out of what it sees") {
    host.put("proc/self/cgroup", "0::/../other\n");
    host.put("proc/self/mountinfo", unified);
  }
  CHECK(probe::read_cgroup_limits(host.root()).memory_bytes == 536870912U);
}

TEST_CASE("cgroup v2: the mount point may be elsewhere, and have a blank in its name") {
  const FakeHost host;
  host.put("proc/self/cgroup", "0::/job\n");
  host.put("proc/self/mountinfo", "31 23 0:28 / /mnt/control\\040groups rw - cgroup2 none rw\n");
  host.put("mnt/control groups/job/memory.max", "4096\n");
  CHECK(probe::read_cgroup_limits(host.root()).memory_bytes == 4096U);
}

TEST_CASE("cgroup v1: each controller has its own hierarchy, and a quota of -1 is none") {
  const FakeHost host;
  host.put("proc/self/cgroup",
           "9:name=systemd:/s\n4:memory:/slurm/job_7\n3:cpuset:/slurm\n1:cpu,cpuacct:/slurm\n");
  host.put("proc/self/mountinfo",
           "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n"
           "34 31 0:31 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
           "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  host.put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "-1\n");
  host.put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_period_us", "100000\n");
  host.put("sys/fs/cgroup/memory/slurm/memory.limit_in_bytes", "3221225472\n");
  host.put("sys/fs/cgroup/memory/slurm/job_7/memory.limit_in_bytes", "9223372036854771712\n");
  host.put("sys/fs/cgroup/cpuset/slurm/cpuset.effective_cpus", "2,3\n");
  auto limits = probe::read_cgroup_limits(host.root());
  CHECK_FALSE(limits.cpus);
  CHECK(limits.memory_bytes == 3221225472U);
  CHECK(limits.cpu_lists == std::vector<std::string>{"2,3"});

  host.put("sys/fs/cgroup/cpu,cpuacct/slurm/cpu.cfs_quota_us", "250000\n");
  limits = probe::read_cgroup_limits(host.root());
  CHECK(limits.cpus == 2.5);
}

TEST_CASE("cgroup: both versions at once (hybrid) are both obeyed") {
  const FakeHost host;
  host.put("proc/self/cgroup", "4:memory:/job\n0::/unit\n");
  host.put("proc/self/mountinfo",
           "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
           "41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
  host.put("sys/fs/cgroup/memory/job/memory.limit_in_bytes", "1000000\n");
  host.put("sys/fs/cgroup/unified/unit/cpu.max", "50000 100000\n");
  const auto limits = probe::read_cgroup_limits(host.root());
  CHECK(limits.memory_bytes == 1000000U);
  CHECK(limits.cpus == 0.5);
}

TEST_CASE("cgroup: nonsense in its files limits nothing") {
  const FakeHost host;
  host.put("proc/self/cgroup", "0\n::\n0::/a\n");
  host.put("proc/self/mountinfo", std::string("x - cgroup2\n") + unified);
  host.put("sys/fs/cgroup/a/cpu.max", "100000 0\n");
  host.put("sys/fs/cgroup/a/memory.max", "-5\n");
  const auto limits = probe::read_cgroup_limits(host.root());
  CHECK_FALSE(limits.cpus);
  CHECK_FALSE(limits.memory_bytes);
}

TEST_CASE("cgroup: the kernel's count of processes ended for memory, of both versions") {
  const FakeHost host;
  CHECK(probe::memory_kills({}, host.root()) == 0);
  host.put(
      "proc/self/mountinfo",
      std::string(unified) + "35 23 0:30 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n");
  host.put("proc/self/cgroup", "4:memory:/slurm/step_0\n0::/a\n");
  host.put("sys/fs/cgroup/memory/slurm/step_0/memory.oom_control",
           "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  CHECK(probe::memory_kills({}, host.root()) == 2);
  host.put("sys/fs/cgroup/a/memory.events", "low 0\nmax 9\noom 1\noom_kill 1\noom_group_kill 5\n");
  CHECK(probe::memory_kills({}, host.root()) == 3);
  host.put("sys/fs/cgroup/a/stage/memory.events", "oom_kill 4\n");
  CHECK(probe::memory_kills(host.root() / "sys/fs/cgroup/a/stage", host.root()) == 7);
}
