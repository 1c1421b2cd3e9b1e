// Caches beneath one's own: read, and never written to.
#include "cache_home.hpp"
#include "support/recording_observer.hpp"

#include <catch2/catch.hpp>

#include <map>

using namespace sabath;
using test::entries_in;
using test::overwrite;
using test::put;

namespace fs = std::filesystem;

namespace {

/// A site's cache, and one of a user above it.
struct Stack {
  test::TempHome home{};
  base::SystemClock clock{};
  fs::path lower = home / "site";
  fs::path own = home / "own";

  cache::Cache site() { return {lower, home / "site-state", clock}; }
  cache::Cache open() { return {own, home / "state", clock, {{lower}, false}}; }

  /// Path -> what would give a write away; access times may change.
  std::map<fs::path, std::string> picture() const {
    std::map<fs::path, std::string> files;
    for (const auto& file : fs::recursive_directory_iterator(lower)) {
      struct stat status {};
      REQUIRE(::lstat(file.path().c_str(), &status) == 0);
      files[file.path()] =
          std::to_string(status.st_ino) + " " + std::to_string(status.st_size) + " " +
          std::to_string(status.st_mode) + " " + std::to_string(status.st_mtim.tv_sec) + "." +
          std::to_string(status.st_mtim.tv_nsec) + " " + std::to_string(status.st_ctim.tv_sec) +
          "." + std::to_string(status.st_ctim.tv_nsec);
    }
    return files;
  }
};

}  // namespace

TEST_CASE("lower: what the site's cache has is found, hashed once, and never written to") {
  Stack stack;
  cache::Object object;
  cache::Tree tree;
  {
    auto site = stack.site();
    object = put(site, "twelve bytes");
    tree = site.publish_tree({{"a/b.txt", object}});
    site.remember_source({.url = "https://host.example/x",
                          .digest = object.digest,
                          .size_bytes = 12,
                          .etag = "e",
                          .last_modified = "m",
                          .fetched = "f"});
    site.remember_stage({"key", "run", "host", "made", {{"out", object.digest}}});
  }
  const auto before = stack.picture();
  auto cache = stack.open();
  REQUIRE(cache.lower().size() == 1);
  CHECK(cache.lower().front().problem.empty());
  const auto found = cache.find(object.digest);
  REQUIRE(found);
  CHECK(found->path == object.path);
  base::SilentObserver observer;
  CHECK(test::verify_one(cache, object.digest, false).bytes_hashed == 0);
  CHECK(cache.find_tree(tree.digest)->path == tree.path);
  CHECK(cache.source("https://host.example/x")->digest == object.digest);
  CHECK(cache.stage_outputs("key")->run_id == "run");
  const auto report = cache.verify(true, observer);
  CHECK(report.objects == 1);
  CHECK(report.trees == 1);
  CHECK(report.damaged.empty());
  cache.place(*found, stack.home / "out/placed");
  CHECK(base::read_file(stack.home / "out/placed") == "twelve bytes");
  cache.place(*found, stack.home / "out/own", true);
  CHECK(base::read_file(stack.home / "out/own") == "twelve bytes");
  CHECK(cache.publish_tree({{"a/b.txt", *found}}).path == tree.path);
  CHECK(stack.picture() == before);
  CHECK(entries_in(stack.own / "objects") == 0);
}

TEST_CASE("lower: a tree of one's own may hold what lies beneath") {
  Stack stack;
  cache::Object object;
  {
    auto site = stack.site();
    object = put(site, "twelve bytes");
  }
  auto cache = stack.open();
  const auto tree =
      cache.publish_tree({{"x", *cache.find(object.digest)}, {"y", put(cache, "other bytes")}});
  CHECK(tree.path.string().starts_with(stack.own.string()));
  CHECK(base::read_file(tree.path / "x") == "twelve bytes");
  CHECK(stack.open().find_tree(tree.digest));
}

TEST_CASE("lower: what is damaged there counts as absent and stays, one's own is taken instead") {
  Stack stack;
  cache::Object object;
  {
    auto site = stack.site();
    object = put(site, "right bytes");
  }
  overwrite(object.path, "wrong bytes");
  const auto before = stack.picture();
  auto cache = stack.open();
  CHECK_FALSE(cache.find(object.digest));
  base::SilentObserver observer;
  const auto report = cache.verify(false, observer);
  REQUIRE(report.damaged.size() == 1);
  CHECK(report.damaged.front().path == object.path);
  CHECK(stack.picture() == before);
  CHECK(put(cache, "right bytes").path.string().starts_with(stack.own.string()));
  CHECK(cache.find(object.digest));
}

TEST_CASE("lower: a cache that is not there, is none, or is the own one, is said and not used") {
  Stack stack;
  fs::create_directory(stack.home / "empty");
  cache::Cache cache(stack.own,
                     stack.home / "state",
                     stack.clock,
                     {{stack.home / "missing", stack.home / "empty", stack.own}, false});
  REQUIRE(cache.lower().size() == 3);
  for (const cache::LowerCache& lower : cache.lower())
    CHECK_FALSE(lower.problem.empty());
  CHECK_FALSE(cache.find(base::sha256_of("nothing")));
  CHECK_FALSE(fs::exists(stack.home / "missing"));
  CHECK(fs::is_empty(stack.home / "empty"));
}
