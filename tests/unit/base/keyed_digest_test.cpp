#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/keyed_digest.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::test;
using base::KeyedDigest;

TEST_CASE("keyed digest: the key is made once, for its owner alone") {
  const TempHome home;
  const auto file = home / "state" / "key";
  const auto first = KeyedDigest::with_key_in(file);
  REQUIRE(first);
  struct stat status {};
  REQUIRE(::stat(file.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0600);
  CHECK(status.st_size == 32);
  const auto again = KeyedDigest::with_key_in(file);
  REQUIRE(again);
  CHECK(first->key_name() == again->key_name());
  CHECK(first->of("A=1") == again->of("A=1"));
  CHECK(first->of("A=1") != first->of("A=2"));
  CHECK(first->of("A=1").size() == 64);

  const auto other = KeyedDigest::with_key_in(home / "key");
  REQUIRE(other);
  CHECK(other->key_name() != first->key_name());
  CHECK(other->of("A=1") != first->of("A=1"));
}

TEST_CASE("keyed digest: HMAC with SHA-256, as RFC 4231 has it") {
  const TempHome home;
  // Its second case has a key of 4 bytes, which HMAC fills up with zeros.
  std::string key = "Jefe";
  key.resize(32, '\0');
  base::write_file_once(home / "key", key, 0600);
  const auto digests = KeyedDigest::with_key_in(home / "key");
  REQUIRE(digests);
  CHECK(digests->of("what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST_CASE("keyed digest: a file that others could know, or that holds no key, is not used") {
  const TempHome home;
  const auto file = home / "key";
  base::write_file_once(file, std::string(32, 'k'), 0640);
  CHECK_FALSE(KeyedDigest::with_key_in(file));
  REQUIRE(::chmod(file.c_str(), 0600) == 0);
  CHECK(KeyedDigest::with_key_in(file));
  base::write_file_once(home / "short", std::string(31, 'k'), 0600);
  CHECK_FALSE(KeyedDigest::with_key_in(home / "short"));
  REQUIRE(::symlink(file.c_str(), (home / "link").c_str()) == 0);
  CHECK_FALSE(KeyedDigest::with_key_in(home / "link"));
  if (::geteuid() != 0) return;
  REQUIRE(::chown(file.c_str(), 65534, 65534) == 0);
  CHECK_FALSE(KeyedDigest::with_key_in(file));
}

TEST_CASE("keyed digest: where nothing can be written there is none") {
  CHECK_FALSE(KeyedDigest::with_key_in("/proc/no-folder/key"));
}
