#include "cache_home.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using base::as_bytes;
using base::Digest;
using base::DigestAlgorithm;
using base::ErrorKind;
using test::CacheHome;
using test::entries_in;
using test::error_of;

namespace {

Digest digest_of(const std::string& text, DigestAlgorithm algorithm) {
  base::Hasher hasher(algorithm);
  hasher.update(text);
  return hasher.finish();
}

}  // namespace

TEST_CASE("cache: what was written is found by its digest, read-only and complete") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("some key");
  partial->write_at(0, as_bytes("hello "));
  partial->write_at(6, as_bytes("world"));
  CHECK(partial->contiguous_bytes() == 11);
  const cache::Object object = cache.publish(std::move(partial), {});
  CHECK(object.digest == base::sha256_of("hello world"));
  CHECK(object.size_bytes == 11);
  CHECK(base::read_file(object.path) == "hello world");
  const auto hex = object.digest.hex;
  CHECK(object.path == home.root() / "objects/sha256" / hex.substr(0, 2) / hex.substr(2));
  struct stat status {};
  REQUIRE(::stat(object.path.c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0444U);
  const auto found = cache.find(object.digest);
  REQUIRE(found);
  CHECK(found->path == object.path);
  CHECK(found->size_bytes == 11);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: an empty file is an object too") {
  CacheHome home;
  auto cache = home.open();
  const auto object = cache.publish(cache.open_partial("nothing"), {});
  CHECK(object.digest == base::sha256_of(""));
  CHECK(cache.find(object.digest));
}

TEST_CASE("cache: an object that fails its digest is not published and its bytes are gone") {
  CacheHome home;
  auto cache = home.open();
  const Digest wanted = base::sha256_of("good bytes");
  auto partial = cache.open_partial("key", {wanted});
  partial->write_at(0, as_bytes("evil bytes"));
  const auto error = error_of([&] { cache.publish(std::move(partial), {wanted}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(std::string(error->what()).find(wanted.text()) != std::string::npos);
  CHECK(std::string(error->what()).find(base::sha256_of("evil bytes").text()) != std::string::npos);
  CHECK_FALSE(cache.find(wanted));
  CHECK_FALSE(cache.find(base::sha256_of("evil bytes")));
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: every digest that is expected is checked, announced or not") {
  CacheHome home;
  auto cache = home.open();
  const auto algorithm =
      GENERATE(DigestAlgorithm::md5, DigestAlgorithm::sha1, DigestAlgorithm::sha512);
  const bool announced = GENERATE(true, false);
  const std::string content = "some content";
  const Digest right = digest_of(content, algorithm);
  const Digest wrong = digest_of("other content", algorithm);
  const auto publish = [&](const Digest& expected) {
    auto partial = announced ? cache.open_partial("key", {expected}) : cache.open_partial("key");
    partial->write_at(0, as_bytes(content));
    return cache.publish(std::move(partial), {base::sha256_of(content), expected});
  };
  CHECK(publish(right).digest == base::sha256_of(content));
  const auto error = error_of([&] { publish(wrong); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
}

TEST_CASE("cache: bytes may arrive in any order, and again") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->reserve(26);
  partial->write_at(20, as_bytes("uvwxyz"));
  CHECK(partial->contiguous_bytes() == 0);
  partial->write_at(0, as_bytes("abcXX"));
  partial->write_at(3, as_bytes("defghij"));
  CHECK(partial->contiguous_bytes() == 10);
  partial->write_at(10, as_bytes("klmnopqrst"));
  CHECK(partial->contiguous_bytes() == 26);
  const auto object = cache.publish(std::move(partial), {});
  CHECK(object.digest == base::sha256_of("abcdefghijklmnopqrstuvwxyz"));
  CHECK(object.size_bytes == 26);
}

TEST_CASE("cache: a file with a gap is not published") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->write_at(0, as_bytes("abc"));
  partial->write_at(5, as_bytes("fgh"));
  const auto error = error_of([&] { cache.publish(std::move(partial), {}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(std::string(error->what()).find("byte 3 of 8") != std::string::npos);
  CHECK(entries_in(home.root() / "objects") == 0);
  CHECK(cache.open_partial("key")->present_bytes() == 6);
}

TEST_CASE("cache: a file that is shorter than announced is not published, and stays") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->reserve(10);
  partial->write_at(0, as_bytes("12345"));
  CHECK(partial->matches() == base::DigestMatch::unknown);
  const auto error = error_of([&] { cache.publish(std::move(partial), {}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(std::string(error->what()).find("byte 5 of 10") != std::string::npos);
  partial = cache.open_partial("key");
  CHECK(partial->present_bytes() == 5);
  partial->write_at(5, as_bytes("67890"));
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of("1234567890"));
}

TEST_CASE("cache: more bytes than were announced are refused") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->reserve(10);
  const auto error = error_of([&] { partial->write_at(8, as_bytes("abc")); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::integrity);
  CHECK(partial->present_bytes() == 0);
}

TEST_CASE("cache: restart forgets what was written") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->write_at(0, as_bytes("a longer first version"));
  partial->restart();
  CHECK(partial->contiguous_bytes() == 0);
  CHECK(partial->sources().empty());
  partial->write_at(0, as_bytes("second"));
  CHECK(cache.publish(std::move(partial), {}).digest == base::sha256_of("second"));
}

TEST_CASE("cache: what a tool wrote to the partial path is hashed from the disk") {
  CacheHome home;
  auto cache = home.open();
  auto partial = cache.open_partial("key");
  partial->write_at(0, as_bytes("begun"));
  base::write_file_atomically(partial->lend("tool"), "written by a tool");
  const auto object = cache.publish(std::move(partial), {});
  CHECK(object.digest == base::sha256_of("written by a tool"));
  CHECK(base::read_file(object.path) == "written by a tool");
}

TEST_CASE("cache: a link that a tool left in place of the file is not followed") {
  CacheHome home;
  auto cache = home.open();
  base::write_file_atomically(home / "secret", "secret");
  auto partial = cache.open_partial("key");
  const auto path = partial->lend("tool");
  std::filesystem::create_symlink(home / "secret", path);
  CHECK(error_of([&] { cache.publish(std::move(partial), {}); }));
  CHECK_FALSE(cache.find(base::sha256_of("secret")));
}

TEST_CASE("cache: a partial file of another cache is refused") {
  CacheHome home;
  CacheHome other;
  auto cache = home.open();
  auto other_cache = other.open();
  const auto error = error_of([&] { cache.publish(other_cache.open_partial("key"), {}); });
  REQUIRE(error);
  CHECK(error->kind() == ErrorKind::internal);
  CHECK(error_of([&] { cache.publish(nullptr, {}); }));
}

TEST_CASE("cache: a file is published as a copy of its own") {
  CacheHome home;
  auto cache = home.open();
  base::write_file_atomically(home / "data.bin", "measured once");
  const auto object = cache.publish_file(home / "data.bin");
  CHECK(object.digest == base::sha256_of("measured once"));
  test::overwrite(home / "data.bin", "measured anew");
  CHECK(cache.find(object.digest));
  CHECK(base::read_file(object.path) == "measured once");
}

TEST_CASE("cache: what is no regular file is not published") {
  CacheHome home;
  auto cache = home.open();
  const auto missing = error_of([&] { cache.publish_file(home / "missing"); });
  REQUIRE(missing);
  CHECK(missing->kind() == ErrorKind::not_found);
  REQUIRE(::mkfifo((home / "fifo").c_str(), 0600) == 0);
  CHECK(error_of([&] { cache.publish_file(home / "fifo"); }));
  CHECK(error_of([&] { cache.publish_file(home.root()); }));
  CHECK(entries_in(home.root() / "partial") == 0);
}
