#include "cache_home.hpp"
#include "child.hpp"

#include <catch2/catch.hpp>

#include <random>
#include <thread>

using namespace sabath;
using base::as_bytes;
using test::CacheHome;
using test::Child;
using test::entries_in;

namespace fs = std::filesystem;

namespace {

std::string random_text(std::mt19937& random) {
  std::string text(random() % 300'000, '\0');
  for (std::size_t i = 0; i < text.size(); i += 64)
    text[i] = static_cast<char>(random());
  return text;
}

/// Stages, writes, publishes and makes trees until it is killed.
std::string publish_forever(CacheHome& home, unsigned seed) {
  std::mt19937 random(seed);
  auto cache = home.open();
  while (true) {
    const std::string text = random_text(random);
    const auto digest = base::sha256_of(text);
    auto staging = cache.stage("key " + std::to_string(random() % 4), {digest});
    if (staging->contiguous_bytes() > 0) staging->restart();
    staging->reserve(text.size());
    for (std::size_t at = 0; at < text.size(); at += 50'000)
      staging->write_at(
          at, as_bytes(text).subspan(at, std::min<std::size_t>(50'000, text.size() - at)));
    const auto object = cache.publish(std::move(staging), {digest});
    cache.publish_tree({{"a/data", object}, {"b", object}});
    cache.remember_source({"https://host/" + digest.hex.substr(0, 1), digest, 1, "", "", ""});
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
      auto staging = cache.stage("the same key", {digest});
      staging->write_at(0, as_bytes(content));
      const auto object = cache.publish(std::move(staging), {digest});
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
  const auto wanted = base::sha256_of("first half, second half");
  Child dead([&]() -> std::string {
    auto cache = home.open();
    auto staging = cache.stage("key", {wanted});
    staging->write_at(0, as_bytes("first half, "));
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
      auto staging = cache.stage("key", {wanted});
      const bool adopted = staging->contiguous_bytes() == 12;
      staging->write_at(staging->contiguous_bytes(),
                        as_bytes(adopted ? "second half" : "first half, second half"));
      const auto object = cache.publish(std::move(staging), {wanted});
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
