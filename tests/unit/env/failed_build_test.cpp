#include "env_workshop.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <thread>

namespace fs = std::filesystem;
using namespace sabath;
using sabath::test::any_contains;
using sabath::test::contains;
using sabath::test::error_of;

namespace {

const spec::EnvironmentSpec scripts{{}, {test::source_layer("make")}};

struct Shop : test::EnvWorkshop {
  explicit Shop(const std::string& compile) {
    write("code/Makefile", test::script_makefile(compile));
  }
};

}  // namespace

TEST_CASE("failed build: the message has the end of the log and the path of the rest") {
  Shop shop(
      "@for i in $$(seq 40); do echo line $$i; done; printf 'bad \\033[31mthing\\n' >&2; exit 7");
  const auto error = error_of([&] { shop.build(scripts); });
  const std::string message = error.what();
  CAPTURE(message);
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(message.starts_with("environment layer 'code': the build failed while compiling"));
  CHECK(contains(message, "exited with status 2"));
  CHECK(contains(message, "line 40"));
  CHECK(contains(message, "bad \\x1b[31mthing"));
  CHECK_FALSE(contains(message, "line 12\n"));
  const fs::path log = shop.attempts().at(0) / "build.log";
  CHECK(contains(message, log.string()));
  CHECK(contains(error.hint(), log.string()));
  CHECK(contains(base::read_file(log), "line 1\n"));
}

TEST_CASE("failed build: is a recorded state, and is tried again when that is asked for") {
  Shop shop("@if [ -e $(FLAG) ]; then echo fine; else exit 1; fi");
  spec::EnvironmentSpec spec = scripts;
  spec.layers[0].options["FLAG"] = (shop.home / "flag").string();
  CHECK_THROWS_AS(shop.build(spec), base::Error);
  CHECK_FALSE(shop.find(spec).has_value());
  const auto failed = shop.store().list();
  REQUIRE(failed.size() == 1);
  CHECK(failed[0].state == "failed");
  CHECK(contains(failed[0].problem, "the build failed while compiling"));
  CHECK_FALSE(contains(failed[0].problem, "\n"));
  CHECK(fs::exists(failed[0].log));

  base::write_file_atomically(shop.home / "flag", "");
  const auto refused = error_of([&] { shop.build(spec); });
  CHECK(refused.kind() == base::ErrorKind::environment);
  CHECK(contains(refused.what(), "is repeated only on request: environment layer 'code': the"));
  const std::string end = "; the end of " + failed[0].log.string() + ":\n";
  const std::string what = refused.what();
  CHECK(contains(what, end));
  CHECK(what.find("; the end of ") == what.rfind("; the end of "));
  CHECK(contains(refused.hint(), "--retry"));
  CHECK(shop.store().list().at(0).state == "failed");

  shop.store().build(spec, shop.recipe(), shop.observer, {}, env::AfterFailure::retry);
  CHECK(any_contains(shop.observer.notes, "trying again what failed at"));
  CHECK(shop.store().list().at(0).state == "ready");
  CHECK(shop.attempts().size() == 1);
}

TEST_CASE("failed build: a build that installs nothing is not ready") {
  test::EnvWorkshop shop;
  shop.write("code/Makefile", "all:\ninstall:\n");
  const auto error = error_of([&] { shop.build(scripts); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), "the build installed nothing"));
  CHECK(contains(error.hint(), "PREFIX"));
}

TEST_CASE("failed build: one that says nothing for too long, or takes too long, is ended",
          "[long]") {
  Shop shop("@while :; do $(SAY); sleep 0.2; done");
  spec::EnvironmentSpec spec = scripts;
  std::string reason;
  SECTION("silent") {
    spec.layers[0].options["SAY"] = ":";
    shop.options.limits.silence = std::chrono::seconds(1);
    reason = "wrote nothing";
  }
  SECTION("slow") {
    spec.layers[0].options["SAY"] = "echo still here";
    shop.options.limits.wall = std::chrono::seconds(1);
    reason = "ran past its limit";
  }
  const auto start = shop.clock.steady();
  const auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), reason));
  CHECK(shop.clock.steady() - start < std::chrono::seconds(20));
  CHECK(shop.store().list().at(0).state == "failed");
}

TEST_CASE("failed build: an interrupted one leaves nothing and is no failure") {
  Shop shop("@echo started; sleep 60");
  std::stop_source stop;
  std::jthread user([&] {
    while (shop.attempts().empty() || !fs::exists(shop.attempts()[0] / "build.log"))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    stop.request_stop();
  });
  const auto error = error_of(
      [&] { shop.store().build(scripts, shop.recipe(), shop.observer, stop.get_token()); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(shop.attempts().empty());
  CHECK(shop.store().list().empty());
}

TEST_CASE("failed build: a missing compiler is named, with the remedy, before anything is built") {
  test::EnvWorkshop shop;
  shop.write("code/CMakeLists.txt", "project(x)");
  shop.options.environment = {{"PATH", "/nowhere"}};
  spec::EnvironmentSpec spec{{}, {test::source_layer("cmake", {"c++", "fortran"})}};
  const auto error = error_of([&] { shop.build(spec); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(
      contains(error.what(), "environment layer 'code': c++ compiler not found: none of c++, g++"));
  CHECK(contains(error.what(), "fortran compiler not found: none of gfortran"));
  CHECK(contains(error.hint(), "apt install g++ gfortran cmake make"));
  CHECK_FALSE(fs::exists(shop.cache()));

  shop.options.environment["CXX"] = "my-compiler -O2";
  CHECK(contains(error_of([&] { shop.build(spec); }).what(), "CXX is 'my-compiler -O2'"));
}

TEST_CASE("failed build: a missing cmake or make is named") {
  const std::string build = GENERATE("cmake", "make");
  test::EnvWorkshop shop;
  shop.write("code/CMakeLists.txt", "");
  shop.options.environment = {{"PATH", "/nowhere"}};
  const auto error = error_of([&] { shop.build({{}, {test::source_layer(build)}}); });
  CHECK(error.kind() == base::ErrorKind::environment);
  CHECK(contains(error.what(), build + " not found on PATH"));
  CHECK(contains(error.hint(), "apt install " + build));
  // Nothing was built that would have to be asked for again.
  CHECK(shop.store().list().empty());
}

TEST_CASE(
    "failed build: what a document asks for in a wrong way is refused before anything is built") {
  Shop shop("true");
  spec::EnvironmentSpec spec = scripts;
  base::ErrorKind kind = base::ErrorKind::usage;
  std::string part;
  SECTION("another build system") {
    spec.layers[0].build = "bazel";
    part = "cannot build with 'bazel'";
  }
  SECTION("an option that is sabath's") {
    spec.layers[0].options["prefix"] = "/usr";
    part = "the option 'prefix' is reserved";
  }
  SECTION("a folder that is not there") {
    spec.layers[0].path = "{recipe}/cold";
    kind = base::ErrorKind::not_found;
    part = "no such folder";
  }
  SECTION("an unknown placeholder") {
    spec.layers[0].path = "{recipes}/code";
    part = "recipes";
  }
  SECTION("a folder outside of the recipe") {
    fs::create_directory_symlink("/etc", shop.recipe() / "etc");
    spec.layers[0].path = "{recipe}/etc";
    part = "lies outside of the recipe";
  }
  const auto error = error_of([&] { shop.build(spec); });
  CAPTURE(error.what());
  CHECK(error.kind() == kind);
  CHECK(contains(error.what(), part));
  CHECK_FALSE(error.hint().empty());
  CHECK_FALSE(fs::exists(shop.cache()));
}
