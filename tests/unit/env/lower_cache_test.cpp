// Environments that are ready in a cache beneath the own one.
#include "env/layers/layer_builder.hpp"
#include "env/store/prefix_checks.hpp"
#include "env_workshop.hpp"
#include "support/child_process.hpp"

#include <catch2/catch.hpp>

#include <filesystem>

#include <unistd.h>

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

/// A layer with one file, of which something is expected; counts how often it is looked for.
class Expecting final : public env::EnvironmentLayer {
 public:
  spec::LayerKind kind() const override { return spec::LayerKind::pip; }
  std::string_view description() const override { return "one file"; }
  std::map<std::string, std::string> resolve(const env::LayerContext&) override { return {}; }
  bool has_prefix() const override { return true; }
  std::map<std::string, std::string> build(const env::LayerBuild& build) override {
    base::write_file_atomically(build.prefix / "a", "");
    return {};
  }
  std::vector<std::string> expectations(const env::LayerContext&) override { return {expected}; }
  std::map<std::string, std::string> check_expectations(const env::LayerBuild& build) override {
    ++checks;
    base::write_file_atomically(build.work / "scratch", "");
    base::write_file_atomically(build.log, expected);
    if (fs::exists(build.prefix / expected)) return {};
    throw base::Error(base::ErrorKind::environment, "no " + expected);
  }
  std::string expected = "a";
  int checks = 0;
};

/// Such a layer and who builds it.
struct Expectant {
  explicit Expectant(const fs::path& root) : place(root) {}
  env::ResolvedLayer wanted() {
    const env::LayerContext context{spec, {}, before};
    return {context,
            layer,
            {spec::LayerKind::pip, "files", {}, env::layer_key(spec::LayerKind::pip, {})}};
  }
  std::string build(env::AfterFailure after = env::AfterFailure::refuse) {
    return env::LayerBuilder(place, clock, options).build(wanted(), observer, {}, after);
  }
  bool is_found() {
    return env::LayerBuilder(place, clock, options).find_checked(wanted()).has_value();
  }
  /// Is the build refused after so many checks?
  bool is_refused_after(int checks, env::AfterFailure after = env::AfterFailure::refuse) {
    const std::string message = test::error_of([&] { build(after); }).what();
    return test::contains(message, "no b") && layer.checks == checks;
  }

  fs::path place;
  env::StoreOptions options{};
  Expecting layer{};
  spec::LayerSpec spec{spec::LayerKind::pip, "files"};
  std::vector<spec::BuiltLayer> before{};
  base::SystemClock clock{};
  test::RecordingObserver observer{};
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

TEST_CASE("lower cache: who may not write there checks what is ready once, and keeps that") {
  const test::TempHome home;
  fs::permissions(home.path(), fs::perms(0755));
  const fs::path state = home / "state";
  base::make_directories(state);
  fs::permissions(state, fs::perms::all);
  Expectant below(home / "cache" / "envs");
  const std::string prefix = below.build();
  CHECK(below.layer.checks == 1);
  below.layer.expected = "b";
  CHECK(below.is_refused_after(2));

  const int status = test::status_as_ordinary_user([&] {
    if (::access(prefix.c_str(), W_OK) == 0 || ::access(below.place.c_str(), W_OK) == 0) return 7;
    Expectant above(home / "none" / "envs");
    above.options.lower = {below.place};
    above.options.state_directory = state;
    if (above.build() != prefix || above.layer.checks != 0) return 1;  // passed below
    above.layer.expected = "b";
    if (!above.is_refused_after(0)) return 2;  // failed below
    if (!above.is_refused_after(1, env::AfterFailure::retry)) return 3;
    above.layer.expected = ".";
    if (above.is_found() || above.build() != prefix || above.layer.checks != 2) return 4;
    if (!above.is_found() || above.build() != prefix || above.layer.checks != 2) return 5;
    return fs::exists(home / "none") ? 6 : 0;
  });
  if (WEXITSTATUS(status) == 7) {
    WARN("only root can be another user: not tested");
    return;
  }
  CHECK(status == 0);
  CHECK(env::KeyFolder(fs::path(prefix).parent_path().parent_path()).attempts().size() == 1);
}

TEST_CASE("lower cache: an own check that passed goes before a failure that is kept there") {
  const test::TempHome home;
  fs::permissions(home.path(), fs::perms(0755));
  const fs::path state = home / "state";
  base::make_directories(state);
  const env::AttemptFolder attempt{home / "envs/pip/0123/abcd"};
  base::make_directories(attempt.path);
  const env::Expectations expected({"import a"});
  const auto keep = [&](const char* result, const fs::path& own) {
    env::PrefixChecks(attempt, own)
        .keep(expected,
              {.state = result, .expected = expected.lines, .checked = "2026-01-01T00:00:00Z"});
  };
  keep("failed", {});
  const env::PrefixChecks checks(attempt, state);
  CHECK_FALSE(checks.find(expected)->has_passed());
  // As if it could not be written beside the prefix.
  fs::rename(attempt.path / "checks", home / "aside");
  keep("passed", {});
  base::make_directories(state / "checks");
  fs::rename(attempt.path / "checks", state / "checks" / "0123-abcd");
  fs::rename(home / "aside", attempt.path / "checks");
  CHECK(checks.find(expected)->has_passed());
}
