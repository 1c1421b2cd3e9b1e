#include "child.hpp"

#include <cache/process_identity.hpp>
#include <catch2/catch.hpp>

using sabath::cache::is_provably_gone;
using sabath::cache::ProcessIdentity;
using sabath::test::Child;

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
  int ends[2] = {-1, -1};
  REQUIRE(::pipe(ends) == 0);
  Child child([&]() -> std::string {
    const std::string text = ProcessIdentity::current().text();
    if (::write(ends[1], text.data(), text.size()) < 0) return "no pipe";
    ::pause();
    return {};
  });
  char buffer[256];
  const ssize_t got = ::read(ends[0], buffer, sizeof buffer);
  ::close(ends[0]);
  ::close(ends[1]);
  REQUIRE(got > 0);
  const auto other = ProcessIdentity::parse({buffer, static_cast<std::size_t>(got)});
  REQUIRE(other);
  const auto self = ProcessIdentity::current();
  CHECK_FALSE(is_provably_gone(*other, self));
  CHECK_FALSE(is_provably_gone(self, self));
  child.kill();
  for (int tries = 0; tries < 1000 && !is_provably_gone(*other, self); ++tries)
    ::usleep(1000);
  CHECK(is_provably_gone(*other, self));
  child.wait();
  CHECK(is_provably_gone(*other, self));
}

TEST_CASE("process identity: a pid that was used again, and a boot that is over, are gone") {
  const auto self = ProcessIdentity::current();
  auto other = self;
  other.start_ticks -= 1;
  CHECK(is_provably_gone(other, self));
  other = self;
  other.boot = "0000000000000000";
  CHECK(is_provably_gone(other, self));
}

TEST_CASE("process identity: nothing is known of other hosts and other containers") {
  const auto self = ProcessIdentity::current();
  auto other = self;
  other.pid = 1 << 30;
  CHECK(is_provably_gone(other, self));
  other.pid_namespace += 1;
  CHECK_FALSE(is_provably_gone(other, self));
  other = self;
  other.pid = 1 << 30;
  other.boot = "0000000000000000";
  other.host = "0000000000000000";
  CHECK_FALSE(is_provably_gone(other, self));
}
