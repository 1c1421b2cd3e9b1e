#include "cache_home.hpp"
#include "support/recording_observer.hpp"
#include "tar_file.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::CacheHome;
using test::entries_in;
using test::error_of;
using test::overwrite;
using test::put;
using test::tar_of;

namespace fs = std::filesystem;

namespace {

const std::vector<test::TarEntry> small_archive{{"code/run.sh", "#!/bin/sh\n", 0755, {}},
                                                {"data/a.txt", "alpha", 0644, {}},
                                                {"data/link", "", 0777, "a.txt"}};

cache::Tree unpack(cache::Cache& cache, const std::vector<test::TarEntry>& entries) {
  base::SilentObserver observer;
  return cache.publish_archives({{put(cache, tar_of(entries)), "tar", {}, {}}}, {}, observer);
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  ::lstat(path.c_str(), &status);
  return status.st_mode & 07777U;
}

std::size_t trees_in(const CacheHome& home) {
  const std::size_t all = entries_in(home.root() / "trees");
  return fs::exists(home.root() / "trees/from") ? all - 1 : all;
}

}  // namespace

TEST_CASE("cache: an archive becomes a read-only tree with its manifest") {
  CacheHome home;
  auto cache = home.open();
  const auto tree = unpack(cache, small_archive);
  CHECK(tree.files == 3);
  CHECK(tree.size_bytes == 15);
  CHECK(tree.path == home.root() / "trees" / tree.digest.hex);
  CHECK(base::read_file(tree.path / "data/link") == "alpha");
  CHECK(base::digest_file(tree.path / ".sabath-tree.json") == tree.digest);
  CHECK(mode_of(tree.path) == 0555U);
  CHECK(mode_of(tree.path / "data") == 0555U);
  CHECK(mode_of(tree.path / "data/a.txt") == 0444U);
  CHECK(mode_of(tree.path / "code/run.sh") == 0555U);
  CHECK(mode_of(tree.path / ".sabath-tree.json") == 0444U);
  CHECK(entries_in(home.root() / "partial") == 0);
  const auto found = home.open().find_tree(tree.digest);
  REQUIRE(found);
  CHECK(found->files == 3);
  CHECK(found->size_bytes == 15);
}

TEST_CASE("cache: an archive is unpacked once") {
  CacheHome home;
  auto cache = home.open();
  const auto first = unpack(cache, small_archive);
  struct stat before {};
  REQUIRE(::stat(first.path.c_str(), &before) == 0);
  const auto archive = put(cache, tar_of(small_archive));
  base::SilentObserver observer;
  fs::permissions(archive.path, fs::perms::owner_write, fs::perm_options::add);
  fs::resize_file(archive.path, 0);  // reading it again would fail
  const auto second = cache.publish_archives({{archive, "tar", {}, {}}}, {}, observer);
  struct stat after {};
  REQUIRE(::stat(second.path.c_str(), &after) == 0);
  CHECK(first.digest == second.digest);
  CHECK(before.st_ino == after.st_ino);
}

TEST_CASE("cache: equal files make equal trees, however they came") {
  CacheHome home;
  auto cache = home.open();
  const auto unpacked =
      unpack(cache, {{"b.txt", "beta", 0644, {}}, {"a/x.txt", "alpha", 0644, {}}});
  const auto gathered =
      cache.publish_tree({{"a/x.txt", put(cache, "alpha")}, {"b.txt", put(cache, "beta")}});
  CHECK(unpacked.digest == gathered.digest);
  CHECK(trees_in(home) == 1);
}

TEST_CASE("cache: a damaged tree is absent, set aside, and made again") {
  CacheHome home;
  auto cache = home.open();
  const auto tree = unpack(cache, small_archive);
  const fs::path file = tree.path / "data/a.txt";
  fs::permissions(tree.path / "data", fs::perms::owner_all);
  const auto damage = GENERATE(0, 1, 2, 3, 4, 5, 6);
  if (damage == 0) overwrite(file, "ALPHA");
  if (damage == 1) fs::remove(file);
  if (damage == 2) base::write_file_atomically(tree.path / "data/__pycache__", "stranger");
  if (damage == 3) ::chmod(file.c_str(), 0555);
  if (damage == 4) overwrite(tree.path / ".sabath-tree.json", "{}");
  if (damage == 5) {
    fs::permissions(tree.path, fs::perms::owner_all);
    fs::remove(tree.path / ".sabath-tree.json");
  }
  if (damage == 6) {
    fs::remove(tree.path / "data/link");
    fs::create_symlink("../code/run.sh", tree.path / "data/link");
  }
  const auto report = test::verify_one(cache, tree.digest, false);
  CHECK(report.trees == 1);
  CHECK(report.damaged.size() == 1);
  CHECK_FALSE(cache.find_tree(tree.digest));
  CHECK_FALSE(fs::exists(tree.path));
  CHECK(entries_in(home.root() / "damaged") == 1);
  CHECK(unpack(cache, small_archive).digest == tree.digest);
  CHECK(base::read_file(file) == "alpha");
}

TEST_CASE("cache: who found a tree right does not hash it again, others do") {
  CacheHome home;
  auto cache = home.open();
  const auto tree = unpack(cache, small_archive);
  CHECK(test::verify_one(home.open(), tree.digest, false).bytes_hashed == 0);
  auto stranger = home.open_as_stranger();
  CHECK(test::verify_one(stranger, tree.digest, false).bytes_hashed == 15);
  CHECK(test::verify_one(stranger, tree.digest, false).bytes_hashed == 0);
}

TEST_CASE("cache: a tree of objects takes no second copy of them and survives a move") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  const auto tree = cache.publish_tree({{"deep/er/a.txt", object}, {"b.txt", object}});
  CHECK(tree.files == 2);
  CHECK(tree.size_bytes == 10);
  CHECK(base::read_file(tree.path / "deep/er/a.txt") == "alpha");
  CHECK(base::read_file(tree.path / "b.txt") == "alpha");
  struct stat status {};
  REQUIRE(::stat(object.path.c_str(), &status) == 0);
  CHECK(status.st_nlink == 1);
  CHECK(cache.find_tree(tree.digest));
  fs::rename(home.root(), home / "moved");
  CHECK(base::read_file(home / "moved" / "trees" / tree.digest.hex / "deep/er/a.txt") == "alpha");
}

TEST_CASE("cache: a tree whose object was damaged is absent until both are made again") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  const auto tree = cache.publish_tree({{"a.txt", object}});
  if (!fs::is_symlink(tree.path / "a.txt")) {
    WARN("skipped: files share their blocks here, the tree does not depend on its objects");
    return;
  }
  overwrite(object.path, "ALPHA");
  CHECK_FALSE(cache.find_tree(tree.digest));
  CHECK(cache.publish_tree({{"a.txt", put(cache, "alpha")}}).digest == tree.digest);
  CHECK(cache.find_tree(tree.digest));
}

TEST_CASE("cache: paths that leave a tree, or are file and folder at once, are refused") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  const std::map<std::string, cache::Object> files =
      GENERATE_COPY(std::map<std::string, cache::Object>{{"../out", object}},
                    std::map<std::string, cache::Object>{{"/abs", object}},
                    std::map<std::string, cache::Object>{{"a//b", object}},
                    std::map<std::string, cache::Object>{{"", object}},
                    std::map<std::string, cache::Object>{{"a", object}, {"a/b", object}});
  const auto error = error_of([&] { cache.publish_tree(files); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::usage);
  CHECK(entries_in(home.root() / "trees") == 0);
}

TEST_CASE("cache: a tree of an object that is gone is not made") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "alpha");
  fs::remove(object.path);
  const auto error = error_of([&] { cache.publish_tree({{"a.txt", object}}); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::not_found);
  CHECK(entries_in(home.root() / "trees") == 0);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: an archive that would leave its folder, or is none, leaves nothing") {
  CacheHome home;
  auto cache = home.open();
  const auto entries = GENERATE(std::vector<test::TarEntry>{{"../evil", "x", 0644, {}}},
                                std::vector<test::TarEntry>{{"link", "", 0777, "../../evil"}},
                                std::vector<test::TarEntry>{{".sabath-tree.json", "x", 0644, {}}});
  const auto error = error_of([&] { unpack(cache, entries); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::integrity);
  base::SilentObserver observer;
  CHECK(error_of([&] {
    cache.publish_archives({{put(cache, "no archive"), "tar", {}, {}}}, {}, observer);
  }));
  CHECK(trees_in(home) == 0);
  CHECK(entries_in(home.root() / "partial") == 0);
}

TEST_CASE("cache: an unknown kind of archive is refused") {
  CacheHome home;
  auto cache = home.open();
  base::SilentObserver observer;
  const auto error = error_of([&] {
    cache.publish_archives({{put(cache, "x"), "rar", {}, {}}}, {}, observer);
  });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::usage);
}

TEST_CASE("cache: a tree of many files is durable and found too") {
  CacheHome home;
  auto cache = home.open();
  std::map<std::string, cache::Object> files;
  const auto object = put(cache, "alpha");
  for (int n = 0; n < 100; ++n)
    files["part-" + std::to_string(n) + ".txt"] = object;
  const auto tree = cache.publish_tree(files);
  CHECK(tree.files == 100);
  CHECK(cache.find_tree(tree.digest));
}

namespace {

cache::Tree tree_of_one_file(cache::Cache& cache, const std::string& content) {
  auto partial = cache.open_partial_tree(content);
  partial->open("file").write_at(0, base::as_bytes(content));
  partial->finish("file", "");
  return cache.publish(std::move(partial));
}

}  // namespace

TEST_CASE("cache: files are found in trees, whatever cannot be read or is of another size") {
  CacheHome home;
  auto cache = home.open();
  const std::set wanted{
      base::sha256_of("right"), base::sha256_of("shortened"), base::sha256_of("led elsewhere")};
  const auto right = tree_of_one_file(cache, "right");
  const auto shortened = tree_of_one_file(cache, "shortened");
  const auto led = tree_of_one_file(cache, "led elsewhere");
  const auto unreadable = tree_of_one_file(cache, "unreadable");
  test::overwrite(shortened.path / "file", "short");
  for (const auto& tree : {led, unreadable})
    fs::permissions(tree.path, fs::perms::owner_all);
  fs::remove(led.path / "file");
  fs::create_symlink(right.path / "file", led.path / "file");
  fs::remove(unreadable.path / ".sabath-tree.json");
  fs::create_directory(unreadable.path / ".sabath-tree.json");
  fs::remove_all(home.root() / "damaged");
  base::write_file_atomically(home.root() / "damaged", "in the way");
  const auto found = cache.files_in_trees(wanted);
  REQUIRE(found.size() == 1);
  CHECK(found.begin()->first == base::sha256_of("right"));
  CHECK(found.begin()->second == right.path / "file");
  fs::remove_all(home.root() / "trees");
  base::write_file_atomically(home.root() / "trees", "in the way");
  CHECK(cache.files_in_trees(wanted).empty());
}
