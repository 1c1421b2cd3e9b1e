#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <unistd.h>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

const spec::EnvironmentSpec scripts{{}, {test::source_layer("make")}};

struct Shop : test::EnvWorkshop {
  Shop() { write("code/Makefile", test::script_makefile()); }
};

void let_others_write(const fs::path& path, fs::perms who = fs::perms::others_write) {
  fs::permissions(path, who, fs::perm_options::add);
}

}  // namespace

TEST_CASE(
    "trust: an environment that somebody else can write is refused, with who, what and the "
    "remedy") {
  Shop shop;
  const auto built = shop.build(scripts);
  env::check_trusted(built);
  const fs::path prefix = *built.prefix();
  fs::path open;
  std::string who = "everybody";
  SECTION("a program") {
    open = prefix / "bin/hello";
  }
  SECTION("a folder in it") {
    open = prefix / "bin";
  }
  SECTION("the prefix") {
    open = prefix;
  }
  SECTION("a folder above it") {
    open = shop.cache() / "envs";
  }
  let_others_write(open);

  // Every file is looked at before something of the prefix is executed: by a run, or by a layer
  // that stands on it.
  spec::EnvironmentSpec more = scripts;
  more.layers.push_back(test::host_layer({"hello"}));
  std::vector<std::function<void()>> uses{[&] { env::check_trusted(built); },
                                          [&] { shop.build(more); },
                                          [&] { shop.find(more); },
                                          [&] { shop.store().lock(more, shop.recipe()); }};
  const bool is_within = open.string().starts_with(prefix.string() + "/");
  if (!is_within) {
    uses.emplace_back([&] { shop.find(scripts); });
    uses.emplace_back([&] { shop.build(scripts); });
  }
  for (const auto& use : uses) {
    const auto error = error_of(use);
    CHECK(error.kind() == base::ErrorKind::environment);
    CHECK(contains(error.what(),
                   "environment layer 'code': " + open.string() + ": can be written by everybody"));
    CHECK(contains(error.hint(), "chmod go-w"));
    CHECK(contains(error.hint(), "sabath env rm"));
  }
  const auto entry = shop.store().list().at(0);
  CHECK(entry.state == "untrusted");
  CHECK(contains(entry.problem, open.string()));
  CHECK(contains(entry.problem, who));

  fs::permissions(open, fs::perms::others_write, fs::perm_options::remove);
  CHECK(shop.find(scripts) == built);
}

TEST_CASE("trust: the right of a group to write is no better") {
  Shop shop;
  const fs::path prefix = *shop.build(scripts).prefix();
  let_others_write(prefix / "bin/hello", fs::perms::group_write);
  const auto built = shop.build(scripts);
  CHECK(
      contains(error_of([&] { env::check_trusted(built); }).what(), "can be written by its group"));
}

TEST_CASE("trust: nothing is built in a cache that others can write") {
  Shop shop;
  base::make_directories(shop.cache());
  fs::permissions(shop.cache(), fs::perms::all);
  const auto error = error_of([&] { shop.build(scripts); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), shop.cache().string() + ": can be written by everybody"));
  CHECK(shop.attempts().empty());
}

TEST_CASE("trust: what belongs to another user is refused unless that user is trusted") {
  if (::geteuid() != 0) {
    WARN("not root: cannot give files away");
    return;
  }
  Shop shop;
  const auto built = shop.build(scripts);
  REQUIRE(::lchown((fs::path(*built.prefix()) / "bin/hello").c_str(), 12345, 12345) == 0);
  const auto error = error_of([&] { env::check_trusted(built); });
  CHECK(contains(error.what(), "belongs to user 12345"));
  env::check_trusted(built, {}, {{12345}, {}});
  shop.options.trust.owners = {12345};
  CHECK(shop.find(scripts) == built);
}

TEST_CASE("trust: a group that is trusted may write around a prefix and never in it") {
  if (::geteuid() != 0) {
    WARN("not root: cannot give files away");
    return;
  }
  Shop shop;
  const auto built = shop.build(scripts);
  const fs::path key = fs::path(*built.prefix()).parent_path().parent_path();
  REQUIRE(::chown(key.c_str(), 0, 12345) == 0);
  let_others_write(key, fs::perms::group_write);
  CHECK(contains(error_of([&] {
                   env::check_trusted(built, {}, {{}, {54321}});
                 }).what(),
                 key.string() + ": can be written by its group"));
  env::check_trusted(built, {}, {{}, {12345}});
  const fs::path program = fs::path(*built.prefix()) / "bin/hello";
  REQUIRE(::chown(program.c_str(), 0, 12345) == 0);
  let_others_write(program, fs::perms::group_write);
  CHECK(contains(error_of([&] {
                   env::check_trusted(built, {}, {{}, {12345}});
                 }).what(),
                 program.string() + ": can be written by its group"));
}

TEST_CASE("trust: a prefix that was removed is told as that, not as one that others can write") {
  Shop shop;
  const auto built = shop.build(scripts);
  CHECK_FALSE(env::why_removed(built));
  base::remove_tree(*built.prefix());
  const auto error = error_of([&] { env::check_trusted(built); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(std::string(error.what()) ==
        "environment layer 'code': " + *built.prefix() + ": was removed since it was ready");
  CHECK_FALSE(contains(error.hint(), "chmod"));
}
