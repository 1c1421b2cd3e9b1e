// Environments that are ready in a cache beneath the own one.
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::error_of;

namespace {

const spec::EnvironmentSpec scripts{{}, {test::source_layer("make")}};

/// The workshop's own cache is the lower one of another store.
struct Shop : test::EnvWorkshop {
  Shop() { write("code/Makefile", test::script_makefile()); }
  env::EnvironmentStore upper() {
    env::StoreOptions more = options;
    // As people write paths: prefixes know theirs without the detour.
    more.lower = {home / "none", cache() / ".." / "cache" / "envs"};
    return {own(), processes, clock, more};
  }
  fs::path own() const { return home / "own" / "envs"; }
};

}  // namespace

TEST_CASE("lower cache: what is ready there is used, shown and never changed") {
  Shop shop;
  const auto built = shop.build(scripts);
  auto upper = shop.upper();
  CHECK(upper.find(scripts, shop.recipe()) == built);
  CHECK(upper.build(scripts, shop.recipe(), shop.observer) == built);
  CHECK_FALSE(fs::exists(shop.own()));
  const std::string key = built.key().hex;
  CHECK(upper.show(key.substr(0, 12)).prefix == *built.prefix());
  CHECK(upper.list().empty());
  CHECK(error_of([&] { upper.remove(key); }).kind() == base::ErrorKind::not_found);
  CHECK(upper.garbage({}, shop.clock.now() + std::chrono::hours(1)).empty());
  CHECK(fs::exists(*built.prefix()));
}

TEST_CASE("lower cache: the own one goes before it") {
  Shop shop;
  const auto above = shop.upper().build(scripts, shop.recipe(), shop.observer);
  const auto below = shop.build(scripts);
  REQUIRE(above.prefix() != below.prefix());
  CHECK(shop.upper().find(scripts, shop.recipe()) == above);
  CHECK(shop.upper().show(above.key().hex).prefix == *above.prefix());
}

TEST_CASE("lower cache: what others can write there is told, and built here") {
  Shop shop;
  const auto built = shop.build(scripts);
  fs::permissions(shop.cache() / "envs", fs::perms::others_write, fs::perm_options::add);
  CHECK_FALSE(shop.upper().find(scripts, shop.recipe()));
  const auto own = shop.upper().build(scripts, shop.recipe(), shop.observer);
  CHECK(own.prefix()->starts_with(shop.own().string()));
  CHECK(test::any_contains(shop.observer.warnings,
                           "environment layer 'code': is ready in another cache and not used: " +
                               (shop.cache() / "envs").string() + ": can be written by everybody"));
}

TEST_CASE("lower cache: a failed or half build there is none") {
  Shop shop;
  shop.write("code/Makefile", test::script_makefile("@test -e " + (shop.home / "go").string()));
  CHECK_THROWS_AS(shop.build(scripts), base::Error);
  base::write_file_atomically(shop.home / "go", "");
  CHECK(shop.upper()
            .build(scripts, shop.recipe(), shop.observer)
            .prefix()
            ->starts_with(shop.own().string()));
}
