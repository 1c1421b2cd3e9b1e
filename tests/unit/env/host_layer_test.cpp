#include "conformance/layer_conformance.hpp"
#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

using namespace sabath;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

void write_program(const std::filesystem::path& path, const std::string& text) {
  base::make_directories(path.parent_path());
  base::write_file_atomically(path, "#!/bin/sh\n" + text, base::Durability::ordered_only, 0755);
}

}  // namespace

TEST_CASE("host layer: passes the conformance suite of layers") {
  test::EnvWorkshop shop;
  base::make_directories(shop.recipe());
  const auto layers = env::builtin_layers(shop.processes, shop.clock);
  test::check_layer_conformance({*layers.front(),
                                 test::host_layer({"sh", "ls"}),
                                 test::host_layer({"no-such-program"}),
                                 shop.recipe(),
                                 {{"PATH", base::current_environment().at("PATH")}}});
}

TEST_CASE("host layer: its key is the same for another user at another place") {
  test::EnvWorkshop shop;
  base::make_directories(shop.recipe());
  // With a version, and without, where its bytes count.
  write_program(shop.home / "bin/talker", "echo talker 1.2.3\n");
  write_program(shop.home / "bin/mute", "true\n");
  shop.options.environment["PATH"] = (shop.home / "bin").string() + ":/usr/bin:/bin";
  test::check_key_travels(
      {{}, {test::host_layer({"talker", "mute", "sh"})}}, shop.recipe(), shop.options);
}

TEST_CASE("host layer: a program is identified by the first line that it says of its version") {
  test::EnvWorkshop shop;
  write_program(shop.home / "bin/talker", "echo; echo 'talker 1.2.3  '; echo more\n");
  shop.options.environment["PATH"] = (shop.home / "bin").string() + ":/usr/bin:/bin";
  const auto lock = shop.store().lock({{}, {test::host_layer({"talker"})}}, shop.home.path());
  CHECK(lock.layers.at(0).facts.at("command.talker") == "talker 1.2.3");

  write_program(shop.home / "bin/talker", "echo 'talker 1.2.4'\n");
  const auto later = shop.store().lock({{}, {test::host_layer({"talker"})}}, shop.home.path());
  CHECK(later.layers.at(0).key != lock.layers.at(0).key);
}

TEST_CASE("host layer: a program that has no version is identified by its bytes") {
  test::EnvWorkshop shop;
  write_program(shop.home / "bin/mute", "exit 3\n");
  shop.options.environment["PATH"] = (shop.home / "bin").string();
  const auto lock = shop.store().lock({{}, {test::host_layer({"mute"})}}, shop.home.path());
  CHECK(lock.layers.at(0).facts.at("command.mute") ==
        base::digest_file(shop.home / "bin/mute").text());
}

TEST_CASE("host layer: all commands that are missing are named at once, with where was looked") {
  test::EnvWorkshop shop;
  shop.options.environment["PATH"] = "/nowhere";
  const auto error = error_of([&] {
    shop.store().lock({{}, {test::host_layer({"first-thing", "second-thing"})}}, shop.home.path());
  });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(std::string(error.what()) ==
        "environment layer 'host': not found on PATH: first-thing, second-thing");
  CHECK(contains(error.hint(), "/nowhere"));
}

TEST_CASE("host layer: has no prefix, and the platform is part of its key") {
  test::EnvWorkshop shop;
  const auto built = shop.build({{}, {test::host_layer({})}});
  CHECK(built.layers.at(0).prefix.empty());
  CHECK_FALSE(built.prefix().has_value());
  CHECK_FALSE(built.layers.at(0).lock.facts.at("platform.architecture").empty());
  CHECK_FALSE(built.layers.at(0).lock.facts.at("platform.libc").empty());
  CHECK(built.key().hex.size() == 64);
  CHECK(shop.find({{}, {test::host_layer({})}}) == built);
}
