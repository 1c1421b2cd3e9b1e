#include "cache_home.hpp"
#include "support/child.hpp"

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>
#include <thread>

using namespace sabath;
using base::as_bytes;
using test::CacheHome;
using test::Child;
using test::entries_in;

namespace fs = std::filesystem;

namespace {

std::string random_text(std::mt19937& random, std::size_t most) {
  std::string text(random() % most, '\0');
  for (std::size_t i = 0; i < text.size(); i += 64)
    text[i] = static_cast<char>(random());
  return text;
}

/// Writes what is missing of `text`, block by block from several places.
void write_missing(base::PartialFile& partial, const std::string& text, std::mt19937& random) {
  constexpr std::size_t block = 100'000;
  std::vector<std::size_t> places;
  for (std::size_t at = 0; at < text.size(); at += block)
    places.push_back(at);
  const std::size_t streams = 1 + random() % 4;
  const std::size_t share = places.size() / streams + 1;
  const auto source = partial.number_of({"https://host/file", "etag", ""});
  const auto there = partial.present();
  for (std::size_t i = 0; i < share; ++i) {
    for (std::size_t at = i; at < places.size(); at += share) {
      const base::ByteRange range{places[at], std::min(places[at] + block, text.size())};
      const bool has = std::any_of(there.begin(), there.end(), [&](const auto& part) {
        return part.range.begin <= range.begin && range.end <= part.range.end;
      });
      if (!has) {
        partial.write_at(range.begin, as_bytes(text).subspan(range.begin, range.size()), source);
      }
    }
  }
}

/// Stages, writes, publishes and makes trees until it is killed; what the one before it left of a
/// large file is gone on with.
std::string publish_forever(CacheHome& home, unsigned seed) {
  std::mt19937 random(seed);
  std::mt19937 large_random(seed / 4);
  const std::string large = random_text(large_random, 12U << 20U) + std::to_string(seed / 4);
  auto cache = home.open();
  while (true) {
    const bool goes_on = random() % 2 == 0;
    const std::string text = goes_on ? large : random_text(random, 300'000);
    const auto digest = base::sha256_of(text);
    auto partial =
        cache.open_partial(goes_on ? "large" : "key " + std::to_string(random() % 4), {digest});
    if (!goes_on && partial->present_bytes() > 0) partial->restart();
    partial->reserve(text.size());
    write_missing(*partial, text, random);
    if (partial->matches() == base::DigestMatch::wrong) {
      // The key was used for another text by the process before; nothing else may be wrong.
      if (!goes_on) return "bytes changed";
      partial->restart();
      write_missing(*partial, text, random);
    }
    const auto object = cache.publish(std::move(partial), {digest});
    cache.publish_tree({{"a/data", object}, {"b", object}});
    cache.remember_source(
        {.url = "https://host/" + digest.hex.substr(0, 1), .digest = digest, .size_bytes = 1});
  }
}

/// Waits until the cache has taken one object more; a slow machine may need its time.
void wait_for_an_object(const fs::path& root) {
  const auto count = [&] {
    std::size_t objects = 0;
    std::error_code code;
    for (const auto& folder : fs::directory_iterator(root / "objects/sha256", code))
      objects += entries_in(folder.path());
    return objects;
  };
  const std::size_t before = count();
  for (int tries = 0; tries < 20'000 && count() == before; ++tries)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

/// What stands under objects/ without asking the cache.
std::size_t check_objects_by_hand(const fs::path& root) {
  std::size_t objects = 0;
  for (const auto& file : fs::recursive_directory_iterator(root / "objects/sha256")) {
    if (!file.is_regular_file()) continue;
    const std::string hex =
        file.path().parent_path().filename().string() + file.path().filename().string();
    if (base::digest_file(file.path()).hex != hex) FAIL(file.path().string() + " is damaged");
    ++objects;
  }
  return objects;
}

}  // namespace

TEST_CASE("cache: kill -9 at any moment leaves nothing that passes for complete") {
  CacheHome home;
  home.open();
  std::mt19937 random(20261120);
  for (unsigned round = 0; round < 20; ++round) {
    Child child([&] { return publish_forever(home, round); });
    if (round % 4 == 0) wait_for_an_object(home.root());
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 40'000));
    child.kill();
    REQUIRE(child.wait() == "killed");
  }
  const std::size_t published = check_objects_by_hand(home.root());
  CHECK(published >= 5);
  auto cache = home.open();
  base::SilentObserver observer;
  const auto report = cache.verify(true, observer);
  CHECK(report.objects == published);
  for (const auto& finding : report.damaged)
    FAIL_CHECK(finding.path.string() + ": " + finding.problem);
  CHECK(report.set_aside.empty());
}

TEST_CASE("cache: eight processes that publish the same object all succeed, and there is one") {
  CacheHome home;
  home.open();
  const std::string content(1U << 20U, 'x');
  const auto digest = base::sha256_of(content);
  int gate[2] = {-1, -1};
  REQUIRE(::pipe(gate) == 0);
  std::vector<Child> children;
  for (int n = 0; n < 8; ++n) {
    children.emplace_back([&]() -> std::string {
      ::close(gate[1]);
      char c = 0;
      if (::read(gate[0], &c, 1) != 0) return "the gate is broken";
      auto cache = home.open();
      auto partial = cache.open_partial("the same key", {digest});
      partial->write_at(0, as_bytes(content));
      const auto object = cache.publish(std::move(partial), {digest});
      const auto tree = cache.publish_tree({{"data", object}});
      return cache.find(digest) && cache.find_tree(tree.digest) ? "" : "not found";
    });
  }
  ::close(gate[0]);
  ::close(gate[1]);
  for (Child& child : children)
    CHECK(child.wait().empty());
  CHECK(check_objects_by_hand(home.root()) == 1);
  CHECK(entries_in(home.root() / "partial") == 0);
  CHECK(entries_in(home.root() / "trees") == 1);
  CHECK(entries_in(home.root() / "damaged") == 0);
}

TEST_CASE("cache: of many takers just one gets the bytes that a dead process left") {
  CacheHome home;
  const std::string half(1U << 20U, 'h');
  const auto wanted = base::sha256_of(half + "second half");
  Child dead([&]() -> std::string {
    auto cache = home.open();
    auto partial = cache.open_partial("key", {wanted});
    partial->write_at(0, as_bytes(half));
    ::raise(SIGKILL);
    return "not killed";
  });
  REQUIRE(dead.wait() == "killed");
  int gate[2] = {-1, -1};
  REQUIRE(::pipe(gate) == 0);
  std::vector<Child> children;
  for (int n = 0; n < 8; ++n) {
    children.emplace_back([&]() -> std::string {
      ::close(gate[1]);
      char c = 0;
      if (::read(gate[0], &c, 1) != 0) return "the gate is broken";
      auto cache = home.open();
      auto partial = cache.open_partial("key", {wanted});
      const bool adopted = partial->contiguous_bytes() == half.size();
      if (!adopted) partial->write_at(0, as_bytes(half));
      partial->write_at(half.size(), as_bytes("second half"));
      const auto object = cache.publish(std::move(partial), {wanted});
      return adopted ? "adopted" : "";
    });
  }
  ::close(gate[0]);
  ::close(gate[1]);
  int adopted = 0;
  for (Child& child : children) {
    const std::string outcome = child.wait();
    if (outcome == "adopted")
      ++adopted;
    else
      CHECK(outcome.empty());
  }
  CHECK(adopted == 1);
  CHECK(entries_in(home.root() / "partial") == 0);
}
