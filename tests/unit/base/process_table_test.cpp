#include "support/fake_host.hpp"

#include <sabath/base/process/process_table.hpp>

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath::base;
using sabath::test::FakeHost;

TEST_CASE("process table: the two ways to list children agree, and a zombie has ended") {
  const int child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  CHECK(children_of(::getpid()) == std::vector<int>{child});
  CHECK(children_by_scan(::getpid()) == std::vector<int>{child});
  const auto stat = process_stat(child);
  REQUIRE(stat);
  CHECK(stat->parent == ::getpid());
  CHECK(stat->group == ::getpgrp());
  CHECK(stat->session == ::getsid(0));
  CHECK_FALSE(stat->has_ended());
  CHECK(stat->start_ticks >= process_stat(::getpid())->start_ticks);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  CHECK(process_stat(child)->has_ended());
  ::waitpid(child, nullptr, 0);
  CHECK_FALSE(process_stat(child));
  CHECK(children_of(child).empty());
}

TEST_CASE("process table: a name may hold blanks and parentheses, a short line is no process") {
  const FakeHost host;
  host.put("proc/42/stat",
           "42 (a) (b\nc) R 41 40 39 0 -1 4194304 97 0 0 0 6 1 2 3 20 0 4 0 777 3133440 12 "
           "18446744073709551615 1 1\n");
  const auto stat = process_stat(42, host.root() / "proc");
  REQUIRE(stat);
  CHECK(stat->state == 'R');
  CHECK(stat->parent == 41);
  CHECK(stat->group == 40);
  CHECK(stat->session == 39);
  CHECK(stat->cpu_ticks == 6 + 1 + 2 + 3);
  CHECK(stat->threads == 4);
  CHECK(stat->start_ticks == 777);
  CHECK(stat->resident_pages == 12);
  host.put("proc/43/stat", "43 (x) R 1 2 3\n");
  CHECK_FALSE(process_stat(43, host.root() / "proc"));
  CHECK_FALSE(process_stat(44, host.root() / "proc"));
}

TEST_CASE("process table: the control group of version 2, and what a process began with") {
  const FakeHost host;
  host.put("proc/7/environ", std::string("A=1\0NAME=value of it\0LAST=", 26));
  host.put("proc/7/cgroup", "4:memory:/job\n0::/a/b\n");
  const auto proc = host.root() / "proc";
  CHECK(control_group_of(7, proc) == "/a/b");
  CHECK(began_with(7, "NAME=value of it", proc));
  CHECK(began_with(7, "LAST=", proc));
  CHECK_FALSE(began_with(7, "NAME=value", proc));
  CHECK_FALSE(began_with(7, "AME=value of it", proc));
  CHECK(control_group_of(8, proc).empty());
  CHECK_FALSE(began_with(8, "A=1", proc));
}
