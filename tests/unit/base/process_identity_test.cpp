#include <sabath/base/process/process_identity.hpp>

#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using sabath::base::Liveness;
using sabath::base::liveness_of;
using sabath::base::ProcessIdentity;

TEST_CASE("process identity: its text reads back") {
  const auto self = ProcessIdentity::current();
  CHECK(self.pid == ::getpid());
  CHECK(self.start_ticks > 0);
  const auto read = ProcessIdentity::parse(self.text() + ".suffix");
  REQUIRE(read);
  CHECK(*read == self);
}

TEST_CASE("process identity: text that is none is refused") {
  CHECK_FALSE(ProcessIdentity::parse(""));
  CHECK_FALSE(ProcessIdentity::parse("left.0123"));
  CHECK_FALSE(ProcessIdentity::parse("host.boot.1.2x.3"));
  CHECK_FALSE(ProcessIdentity::parse("host.boot.1.-2.3"));
  CHECK_FALSE(ProcessIdentity::parse("host.boot.1.2"));
}

TEST_CASE("process identity: who runs is not gone, who was killed is, before it was waited for") {
  const int child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  const auto other = ProcessIdentity::of(child);
  CHECK(liveness_of(ProcessIdentity::current()) == Liveness::running);
  CHECK(liveness_of(other) == Liveness::running);
  ::kill(child, SIGKILL);
  siginfo_t info{};
  ::waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT);
  CHECK(ProcessIdentity::of(child) == other);
  CHECK(liveness_of(other) == Liveness::gone);
  ::waitpid(child, nullptr, 0);
  CHECK(liveness_of(other) == Liveness::gone);
}

TEST_CASE("process identity: a pid that was used again, and a boot that is over, are gone") {
  auto other = ProcessIdentity::current();
  other.start_ticks -= 1;
  CHECK(liveness_of(other) == Liveness::gone);
  other = ProcessIdentity::current();
  other.boot = "0000000000000000";
  CHECK(liveness_of(other) == Liveness::gone);
}

TEST_CASE("process identity: nothing is known of other hosts and other containers") {
  const auto self = ProcessIdentity::current();
  auto other = self;
  other.pid = 1 << 30;
  CHECK(liveness_of(other, self) == Liveness::gone);
  other.pid_namespace += 1;
  CHECK(liveness_of(other, self) == Liveness::unknown);
  other = self;
  other.pid = 1 << 30;
  other.boot = "0000000000000000";
  other.host = "0000000000000000";
  CHECK(liveness_of(other, self) == Liveness::unknown);
}
