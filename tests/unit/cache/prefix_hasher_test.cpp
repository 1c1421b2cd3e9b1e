#include "cache_home.hpp"

#include <cache/prefix_hasher.hpp>
#include <catch2/catch.hpp>

#include <random>

using namespace sabath;
using base::as_bytes;
using cache::PrefixHasher;

namespace {

std::string text_of(std::size_t bytes, unsigned seed) {
  std::mt19937 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text)
    c = static_cast<char>(random());
  return text;
}

/// A file that is written and followed.
struct Followed {
  explicit Followed(const std::vector<base::Digest>& wanted)
      : fd(::open((home / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
        hasher(fd.get(), home / "file", wanted) {}

  void write(std::size_t offset, std::string_view text) {
    REQUIRE(::pwrite(fd.get(), text.data(), text.size(), static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(text.size()));
  }
  void append(std::size_t offset, std::string_view text) {
    write(offset, text);
    hasher.follow(offset, as_bytes(text), offset + text.size());
  }

  test::TempHome home{};
  base::UniqueFd fd;
  PrefixHasher hasher;
};

base::Digest digest_of(std::string_view text, base::DigestAlgorithm algorithm) {
  base::Hasher hasher(algorithm);
  hasher.update(text);
  return hasher.finish();
}

}  // namespace

TEST_CASE("prefix hasher: small files and large ones get all their digests while they grow") {
  const auto md5 = base::Digest{base::DigestAlgorithm::md5, ""};
  for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{20'000'001}}) {
    const std::string text = text_of(size, 7);
    Followed file({md5});
    for (std::size_t at = 0; at < size; at += 300'000)
      file.append(at, std::string_view(text).substr(at, 300'000));
    const auto digests = file.hasher.digests();
    REQUIRE(digests.size() == 2);
    CHECK(digests[0] == base::sha256_of(text));
    CHECK(digests[1] == digest_of(text, base::DigestAlgorithm::md5));
    CHECK(file.hasher.digests() == digests);
  }
}

TEST_CASE("prefix hasher: bytes that changed behind it are hashed again, from any place") {
  std::string text = text_of(75'000'000, 8);
  Followed file({});
  file.append(0, text);
  CHECK(file.hasher.digests().front() == base::sha256_of(text));
  for (const std::size_t at : {std::size_t{74'000'000}, std::size_t{68'000'000}, std::size_t{3}}) {
    file.hasher.rewind(at);
    text[at] = static_cast<char>(text[at] + 1);
    file.write(at, std::string_view(text).substr(at, 1));
    file.hasher.follow(at, as_bytes(text).subspan(at, 1), text.size());
    CHECK(file.hasher.digests().front() == base::sha256_of(text));
  }
}

TEST_CASE("prefix hasher: it can be ended at any moment") {
  const std::string text = text_of(30'000'000, 9);
  for (int i = 0; i < 20; ++i) {
    Followed file({});
    file.append(0, text);
  }
}

TEST_CASE("prefix hasher: a file that was cut off behind its back is an error, not a digest") {
  const std::string text = text_of(20'000'000, 10);
  Followed file({});
  file.write(0, text);
  REQUIRE(::ftruncate(file.fd.get(), 9'000'000) == 0);
  file.hasher.follow(0, as_bytes(text), text.size());
  const auto error = test::error_of([&] { file.hasher.digests(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
}
