#include "cache_home.hpp"

#include <cache/objects/prefix_hasher.hpp>
#include <catch2/catch.hpp>

#include <algorithm>
#include <list>
#include <numeric>
#include <random>

using namespace sabath;
using base::as_bytes;
using cache::Block;
using cache::BlockPool;
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
  explicit Followed(const std::vector<base::Digest>& wanted) : Followed(wanted, own_pool) {}
  Followed(const std::vector<base::Digest>& wanted, BlockPool& pool_)
      : fd(::open((home / "file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)),
        pool(pool_),
        hasher(fd.get(), home / "file", wanted, pool) {}

  void write(std::size_t offset, std::string_view text) {
    REQUIRE(::pwrite(fd.get(), text.data(), text.size(), static_cast<off_t>(offset)) ==
            static_cast<ssize_t>(text.size()));
  }
  void append(std::size_t offset, std::string_view text) {
    write(offset, text);
    hasher.follow(offset + text.size(), {offset, 0, as_bytes(text), {}});
  }
  /// As a block that is the hasher's from then on, as long as it wants it.
  void hand_over(std::size_t offset, std::string_view text, std::size_t prefix) {
    Block block{offset, 0, {}, pool.take()};
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(block.memory.get()));
    block.bytes = {block.memory.get(), text.size()};
    hasher.follow(prefix, std::move(block));
  }

  test::TempHome home{};
  base::UniqueFd fd;
  BlockPool own_pool{};
  BlockPool& pool;
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

TEST_CASE("prefix hasher: bytes that changed behind it are hashed again, from any place",
          "[long]") {
  std::string text = text_of(75'000'000, 8);
  Followed file({});
  file.append(0, text);
  CHECK(file.hasher.digests().front() == base::sha256_of(text));
  for (const std::size_t at : {std::size_t{74'000'000}, std::size_t{68'000'000}, std::size_t{3}}) {
    file.hasher.rewind(at);
    text[at] = static_cast<char>(text[at] + 1);
    file.write(at, std::string_view(text).substr(at, 1));
    file.hasher.follow(text.size());
    CHECK(file.hasher.digests().front() == base::sha256_of(text));
  }
}

TEST_CASE("prefix hasher: blocks are hashed from memory, in whatever order they come", "[long]") {
  constexpr std::size_t block = cache::write_block_bytes;
  constexpr std::size_t count = 180;  // not more than are kept
  const std::string text = text_of(count * block, 11);
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), 0);
  const unsigned seed = GENERATE(1U, 2U, 3U, 4U);
  std::shuffle(order.begin(), order.end(), std::mt19937(seed));
  Followed file({});
  std::vector<bool> is_there(count);
  for (const std::size_t i : order) {
    is_there[i] = true;
    const auto gap = std::find(is_there.begin(), is_there.end(), false) - is_there.begin();
    const std::string_view part = std::string_view(text).substr(i * block, block);
    // Nothing stands in the file: who looks there fails.
    file.hand_over(i * block, part, static_cast<std::size_t>(gap) * block);
  }
  CHECK(file.hasher.digests().front() == base::sha256_of(text));
}

TEST_CASE("prefix hasher: what there is no room for is read from the file", "[long]") {
  constexpr std::size_t block = cache::write_block_bytes;
  const std::string text = text_of((PrefixHasher::most_kept_blocks + 100) * block + 17, 12);
  Followed file({});
  file.write(0, text);
  for (std::size_t at = 0; at < text.size(); at += block)
    file.hand_over(at, std::string_view(text).substr(at, block), 0);
  file.hasher.follow(text.size());
  CHECK(file.hasher.digests().front() == base::sha256_of(text));
}

TEST_CASE("prefix hasher: those of many files keep no more blocks together than a pool has") {
  constexpr std::size_t block = cache::write_block_bytes;
  const std::string text = text_of(150 * block, 14);
  Followed first({});
  std::list<Followed> others;
  for (int i = 0; i < 4; ++i) {
    Followed& file = others.emplace_back(std::vector<base::Digest>{}, first.pool);
    file.write(0, text);
    for (std::size_t at = 0; at < text.size(); at += block)
      file.hand_over(at, std::string_view(text).substr(at, block), 0);
    CHECK_FALSE(first.pool.is_scarce());
  }
  const cache::BlockMemory last = first.pool.take();
  CHECK(first.pool.is_scarce());
  for (Followed& file : others) {
    file.hasher.follow(text.size());
    CHECK(file.hasher.digests().front() == base::sha256_of(text));
  }
  CHECK_FALSE(first.pool.is_scarce());
}

TEST_CASE("prefix hasher: a block from before a change is not hashed after it") {
  constexpr std::size_t block = cache::write_block_bytes;
  std::string text = text_of(20 * block, 13);
  Followed file({});
  for (std::size_t at = block; at < text.size(); at += block)
    file.hand_over(at, std::string_view(text).substr(at, block), 0);
  file.hasher.rewind(3 * block);
  text[4 * block] = static_cast<char>(text[4 * block] + 1);
  file.write(0, text);
  file.hasher.follow(text.size());
  CHECK(file.hasher.digests().front() == base::sha256_of(text));
}

TEST_CASE("prefix hasher: it can be ended at any moment", "[long]") {
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
  file.hasher.follow(text.size());
  const auto error = test::error_of([&] { file.hasher.digests(); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::storage);
}
