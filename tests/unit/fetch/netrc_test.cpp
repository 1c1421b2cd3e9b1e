#include "fetch/http/netrc.hpp"

#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <cstdlib>

using namespace sabath;
using fetch::Netrc;

namespace {

/// What a .netrc with this text may have something for.
bool may_name(const std::string& text, const std::string& host) {
  const test::TempHome home;
  base::write_file_atomically(home / ".netrc", text, base::Durability::ordered_only, 0600);
  ::setenv("HOME", home.path().c_str(), 1);
  return Netrc().may_name(host);
}

}  // namespace

TEST_CASE("netrc: it may name the hosts that stand in it, however they are written") {
  const std::string text = "machine Data.example.org login me password secret\n";
  CHECK(may_name(text, "data.example.org"));
  CHECK(may_name(text, "DATA.example.org:8080"));
  CHECK(may_name(text, "data.example.org."));
  CHECK(may_name("machine ::1 login me password secret\n", "[::1]:8080"));
  CHECK_FALSE(may_name(text, "other.example.org"));
  CHECK_FALSE(may_name("", "data.example.org"));
}

TEST_CASE("netrc: what cannot be decided by looking is left to libcurl") {
  CHECK(may_name("default login me password secret\n", "data.example.org"));
  CHECK(may_name("machine \"data\\.example.org\" login me password secret\n", "data.example.org"));
  CHECK(may_name("machine xn--b-xga.example login me password secret\n", "b\xc3\xbc.example"));
}

TEST_CASE("netrc: each host is looked for, and a file that is missing names none") {
  const test::TempHome home;
  ::setenv("HOME", home.path().c_str(), 1);
  Netrc netrc;
  CHECK_FALSE(netrc.may_name("a.example.org"));
  base::write_file_atomically(
      home / ".netrc", "machine b.example.org\n", base::Durability::ordered_only, 0600);
  CHECK(netrc.may_name("b.example.org"));
  CHECK_FALSE(netrc.may_name("a.example.org"));
}
