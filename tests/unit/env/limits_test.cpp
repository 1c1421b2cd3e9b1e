// Limits that a site settles reach each program that works on a layer.
#include "env/container_images/image_tools.hpp"
#include "env/tools/git.hpp"
#include "pip_workshop.hpp"

#include <catch2/catch.hpp>

#include <optional>

using namespace sabath;

namespace {

using Limit = std::optional<std::chrono::nanoseconds>;

/// Starts what it is asked to start, and remembers the limits of what was asked for last.
class Listener final : public base::ProcessRunner {
 public:
  base::ProcessResult run(const base::Command& command, std::stop_token stop) override {
    for (const std::string& word : command.argv) {
      if (word != about) continue;
      wall = command.deadline;
      silence = command.silence_deadline;
    }
    return real_.run(command, stop);
  }
  std::string about{};
  Limit wall{};
  Limit silence{};

 private:
  base::SystemProcessRunner real_{};
};

const env::BuildLimits settled{std::chrono::seconds(77), std::chrono::seconds(55), 0};

}  // namespace

TEST_CASE("limits: pip has an hour and a quarter of one, or what is settled") {
  test::PipWorkshop shop;
  shop.package("apple", "1.0");
  Listener listener;
  listener.about = "--dry-run";
  const auto lock = [&] {
    env::EnvironmentStore store(shop.cache() / "envs", listener, shop.clock, shop.options);
    store.lock_packages(
        test::PipWorkshop::asks_for({"apple"}), shop.recipe(), std::nullopt, {}, shop.observer);
  };
  lock();
  CHECK(listener.wall == Limit(std::chrono::hours(1)));
  CHECK(listener.silence == Limit(std::chrono::minutes(15)));
  shop.options.limits = settled;
  lock();
  CHECK(listener.wall == Limit(std::chrono::seconds(77)));
  CHECK(listener.silence == Limit(std::chrono::seconds(55)));
}

TEST_CASE("limits: git has two hours and a server two minutes, or what is settled") {
  test::EnvWorkshop shop;
  base::make_directories(shop.home / "work");
  Listener listener;
  listener.about = "ls-remote";
  const spec::LayerSpec layer = test::source_layer("make");
  const std::vector<spec::BuiltLayer> before;
  const env::LayerContext context{layer, shop.recipe(), before, shop.options.environment};
  const auto ask = [&](const env::BuildLimits& limits) {
    const env::LockRequest request{context, shop.home / "work", shop.observer, {}, {}, limits};
    env::Git git(request, listener, shop.options.environment);
    // Nobody listens at port 1.
    CHECK_THROWS_AS(git.resolve("http://127.0.0.1:1/code.git", "main"), base::Error);
  };
  ask({});
  CHECK(listener.wall == Limit(std::chrono::hours(2)));
  CHECK(listener.silence == Limit(std::chrono::minutes(2)));
  ask(settled);
  CHECK(listener.wall == Limit(std::chrono::seconds(77)));
  CHECK(listener.silence == Limit(std::chrono::seconds(55)));
}

TEST_CASE("limits: tools of containers have four hours and may be silent, or what is settled") {
  Listener listener;
  listener.about = "true";
  env::ImageTools(listener, base::current_environment(), "here", {}).run({"true"});
  CHECK(listener.wall == Limit(std::chrono::hours(4)));
  CHECK_FALSE(listener.silence);
  env::ImageTools(listener, base::current_environment(), "here", {}, {}, settled).run({"true"});
  CHECK(listener.wall == Limit(std::chrono::seconds(77)));
  CHECK(listener.silence == Limit(std::chrono::seconds(55)));
}
