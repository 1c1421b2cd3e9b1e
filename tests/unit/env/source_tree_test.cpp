#include "env/source/fetched_source.hpp"
#include "env_workshop.hpp"
#include "support/fake_clock.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/stat.h>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

/// A folder "tree" with two files.
struct Tree {
  test::TempHome home{};
  fs::path root = home / "tree";

  Tree() {
    write("main.c", "int main(void) { return 0; }\n");
    write("lib/a.h", "#pragma once\n");
  }
  void write(const std::string& name, const std::string& text, unsigned mode = 0644) const {
    base::make_directories((root / name).parent_path());
    base::write_file_atomically(root / name, text, base::Durability::ordered_only, mode);
  }
  std::string digest() const { return base::tree_digest(root, env::list_source(root)).hex; }
};

}  // namespace

TEST_CASE("source tree: bytes, names and executable bits make the digest, times do not") {
  const Tree tree;
  const std::string first = tree.digest();
  fs::last_write_time(tree.root / "main.c",
                      fs::file_time_type::clock::now() - std::chrono::hours(5));
  CHECK(tree.digest() == first);
  tree.write("main.c", "int main(void) { return 1; }\n");
  const std::string changed = tree.digest();
  CHECK(changed != first);
  tree.write("main.c", "int main(void) { return 0; }\n", 0755);
  CHECK(tree.digest() != first);
  tree.write("main.c", "int main(void) { return 0; }\n");
  CHECK(tree.digest() == first);
  fs::rename(tree.root / "lib/a.h", tree.root / "lib/b.h");
  CHECK(tree.digest() != first);
}

TEST_CASE("source tree: version control, compiled Python and build trees do not belong to it") {
  const Tree tree;
  const std::string first = tree.digest();
  tree.write(".git/HEAD", "ref: x\n");
  tree.write("lib/__pycache__/a.pyc", "x");
  tree.write("lib/.git", "gitdir: elsewhere\n");
  tree.write("out/CMakeCache.txt", "");
  tree.write("out/deep/main.o", "x");
  tree.write("CMakeCache.txt", "");
  tree.write("CMakeFiles/main.o", "x");
  CHECK(tree.digest() == first);
  tree.write("build/script.py", "print()\n");
  CHECK(tree.digest() != first);
}

TEST_CASE("source tree: links count by their target and stay inside") {
  const Tree tree;
  const std::string first = tree.digest();
  fs::create_symlink("main.c", tree.root / "link");
  const std::string linked = tree.digest();
  CHECK(linked != first);
  fs::remove(tree.root / "link");
  fs::create_symlink("lib/a.h", tree.root / "link");
  CHECK(tree.digest() != linked);
  fs::remove(tree.root / "link");

  tree.write("../secret", "x");
  fs::create_symlink("..", tree.root / "lib/up");
  const auto [name, target] = GENERATE(table<std::string, std::string>({
      {"absolute", "/etc/passwd"},
      {"above", "../secret"},
      {"dangling", "../nothing"},
      {"roundabout", "lib/up/../secret"},
  }));
  CAPTURE(name, target);
  fs::create_symlink(target, tree.root / name);
  const auto error = error_of([&] { env::list_source(tree.root); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), name + ": the link leads out of the source tree"));
}

TEST_CASE("source tree: a pipe in it is refused, a missing one is not found") {
  const Tree tree;
  REQUIRE(::mkfifo((tree.root / "pipe").c_str(), 0600) == 0);
  CHECK(error_of([&] { env::list_source(tree.root); }).kind() == base::ErrorKind::usage);
  CHECK(error_of([&] { env::list_source(tree.home / "none"); }).kind() ==
        base::ErrorKind::not_found);
}

TEST_CASE("source tree: a copy has the same digest and times, and can be written") {
  const Tree tree;
  tree.write("run.sh", "#!/bin/sh\n", 0555);
  fs::create_symlink("main.c", tree.root / "link");
  const auto files = env::list_source(tree.root);
  env::copy_source(tree.root, files, tree.home / "copy");
  CHECK(base::tree_digest(tree.home / "copy", env::list_source(tree.home / "copy")).hex ==
        tree.digest());
  CHECK(fs::last_write_time(tree.home / "copy/main.c") ==
        fs::last_write_time(tree.root / "main.c"));
  CHECK((fs::status(tree.home / "copy/run.sh").permissions() & fs::perms::owner_write) !=
        fs::perms::none);
}

TEST_CASE(
    "source tree: the digest of a big one is remembered until a file changes, dates set back or "
    "not") {
  const Tree tree;
  test::EnvWorkshop shop;
  test::FakeClock clock;
  clock.move(base::SystemClock().now() + std::chrono::hours(1) - clock.now());
  tree.write("big.dat", std::string(2U << 20U, 'a'));
  auto layer = test::source_layer("make");
  layer.path = "{recipe}/tree";
  const std::vector<spec::BuiltLayer> none;
  const env::LayerContext context{layer, tree.home.path(), none, {}};
  const auto digest = [&] {
    const auto layers = env::builtin_layers(shop.processes, clock, shop.home / "state");
    return layers.at(2)->resolve(context).at("source.tree");
  };
  const std::string first = digest();
  CHECK(first == "sha256:" + tree.digest());
  CHECK(contains(base::read_file(shop.home / "state/environments-memo.json"), first));
  CHECK(digest() == first);

  const auto time = fs::last_write_time(tree.root / "big.dat");
  tree.write("big.dat", std::string(2U << 20U, 'b'));
  fs::last_write_time(tree.root / "big.dat", time);
  CHECK(digest() == "sha256:" + tree.digest());
  CHECK(digest() != first);
}
