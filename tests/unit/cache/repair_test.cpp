#include "cache_home.hpp"

#include <catch2/catch.hpp>

#include <random>

using namespace sabath;
using base::as_bytes;
using base::SourcedRange;
using test::CacheHome;
using test::entries_in;

namespace {

constexpr std::uint64_t mebibyte = 1U << 20U;

std::string text_of(std::size_t bytes) {
  std::mt19937 random(20261122);
  std::string text(bytes, '\0');
  for (char& c : text)
    c = static_cast<char>(random());
  return text;
}

cache::Object put_large(cache::Cache& cache, const std::string& text) {
  auto partial = cache.open_partial("large");
  partial->reserve(text.size());
  partial->write_at(0, as_bytes(text), partial->number_of({"https://host/file", "\"e\"", ""}));
  return cache.publish(std::move(partial), {});
}

void damage(const cache::Object& object, std::string text) {
  text[2 * mebibyte + 5] ^= 1;
  text.resize(4 * mebibyte + 100);
  test::overwrite(object.path, text);
}

}  // namespace

TEST_CASE("cache: a damaged object is mended with the pieces that are wrong") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(5 * mebibyte + 99);
  const auto object = put_large(cache, text);
  damage(object, text);
  SECTION("in its place") {}
  SECTION("set aside") {
    CHECK_FALSE(cache.find(object.digest));
  }
  auto partial = cache.open_repair(object.digest);
  CHECK(partial->sources().front() == base::ByteSource{"https://host/file", "\"e\"", ""});
  REQUIRE(partial->present() ==
          std::vector<SourcedRange>{{{0, 2 * mebibyte}, 0}, {{3 * mebibyte, 4 * mebibyte}, 0}});
  for (const std::uint64_t piece : {2U, 4U, 5U}) {
    const auto begin = piece * mebibyte;
    partial->write_at(begin,
                      as_bytes(text).subspan(begin).first(std::min(mebibyte, text.size() - begin)));
  }
  CHECK(partial->matches() == base::DigestMatch::right);
  CHECK(cache.publish(std::move(partial), {object.digest}).path == object.path);
  CHECK(cache.find(object.digest));
}

TEST_CASE("cache: nothing is known of a damaged object without sums") {
  CacheHome home;
  auto cache = home.open();
  const std::string text = text_of(3 * mebibyte);
  const auto object = put_large(cache, text);
  std::filesystem::remove_all(home.root() / "pieces");
  test::overwrite(object.path, "short");
  CHECK(cache.open_repair(object.digest)->present_bytes() == 0);
}

TEST_CASE("cache: sums are kept of what has more than one piece, also of what a tool brought") {
  CacheHome home;
  auto cache = home.open();
  test::put(cache, "small");
  CHECK(entries_in(home.root() / "pieces") == 0);
  const std::string text = text_of(3 * mebibyte);
  auto partial = cache.open_partial("key");
  base::write_file_atomically(partial->lend("tool"), text);
  const auto object = cache.publish(std::move(partial), {});
  CHECK(entries_in(home.root() / "pieces") == 1);
  std::string wrong = text;
  wrong[0] ^= 1;
  test::overwrite(object.path, wrong);
  CHECK(cache.open_repair(object.digest)->present_bytes() == 2 * mebibyte);
}
