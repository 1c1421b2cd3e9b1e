#include "probe/watch/process_tree.hpp"

#include "support/fake_host.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <unistd.h>

using namespace sabath;
using sabath::test::FakeHost;

namespace {

struct FakeProcess {
  int pid = 0;
  int parent = 0;
  char state = 'S';
  int cpu_s = 0;
  int dead_children_cpu_s = 0;
  int threads = 1;
  int pages = 10;
  int written = 0;
};

void put(const FakeHost& host, const FakeProcess& process) {
  const auto ticks = ::sysconf(_SC_CLK_TCK);
  const auto folder = fmt::format("proc/{}/", process.pid);
  host.put(folder + "stat",
           fmt::format("{} (a) (b c) {} {} 1 1 0 -1 4194304 97 0 0 0 {} 0 {} 0 20 0 {} 0 777 "
                       "3133440 {} 18446744073709551615 1 1\n",
                       process.pid,
                       process.state,
                       process.parent,
                       process.cpu_s * ticks,
                       process.dead_children_cpu_s * ticks,
                       process.threads,
                       process.pages));
  host.put(folder + "io",
           fmt::format("rchar: 9\nread_bytes: 0\nwrite_bytes: {}\ncancelled_write_bytes: 5\n",
                       process.written));
}

/// 100 is looked beneath: 100 -> 101 -> 102, 100 -> 50 (a pid that wrapped), 7 is a stranger's.
void put_family(const FakeHost& host) {
  put(host, {7, 1, 'R', 1000, 0, 64, 5000, 1 << 20});
  put(host, {100, 1, 'S', 500, 500, 8, 4000, 1 << 20});
  put(host, {101, 100, 'R', 3, 4, 2, 10, 4096});
  put(host, {102, 101, 'R', 2, 0, 16, 20, 8192});
  put(host, {50, 100, 'Z', 1, 0, 1, 0, 0});
}

void put_children_files(const FakeHost& host) {
  host.put("proc/100/task/100/children", "101 ");
  host.put("proc/100/task/103/children", "50 999 ");  // a thread's own; 999 ended meanwhile
  host.put("proc/101/task/101/children", "102 ");
  host.put("proc/102/task/102/children", "");
  host.put("proc/50/task/50/children", "");
}

}  // namespace

TEST_CASE("process tree: descendants are summed up, their root and strangers are not") {
  const FakeHost host;
  put_family(host);
  SECTION("where the kernel tells a thread's children") {
    put_children_files(host);
  }
  SECTION("where all processes must be looked at") {}
  const auto use = probe::ProcessTree(host.root() / "proc", 100).look();
  CHECK(use.cpu_s == Approx(3 + 4 + 2 + 1));
  CHECK(use.processes == 2);  // the dead one is none any more
  CHECK(use.threads == 18);
  CHECK(use.rss_bytes == 30U * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
  CHECK(use.write_bytes == 12288);
}

TEST_CASE("process tree: a process without children uses nothing") {
  const FakeHost host;
  put(host, {100, 1});
  const auto use = probe::ProcessTree(host.root() / "proc", 100).look();
  CHECK(use.processes == 0);
  CHECK(use.cpu_s == 0);
}

TEST_CASE("process tree: what no thread of the root read or wrote, its dead children did") {
  const FakeHost host;
  host.put("proc/100/io", "read_bytes: 1000\nwrite_bytes: 500\n");
  host.put("proc/100/task/100/io", "read_bytes: 300\nwrite_bytes: 100\n");
  host.put("proc/100/task/101/io", "read_bytes: 200\nwrite_bytes: 900\n");
  const auto use = probe::ProcessTree(host.root() / "proc", 100).dead_children_io();
  CHECK(use.read_bytes == 500);
  CHECK(use.write_bytes == 0);  // never less than nothing
}
