// A recipe whose stages run in a container: real podman, an image of the test's own.

#include "support/packages/containers.hpp"

#include "support/errors.hpp"
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <memory>

using namespace sabath;
using test::contains;
namespace fs = std::filesystem;

namespace {

struct Yard {
  test::Sabath sabath{};
  test::Containers containers{sabath.folder() / "containers"};
  std::string image = containers.image("box:1", {"--text", "of the image\n"});
  std::string box = recipe("box", "cat /etc/text; cat /etc/text > {output}/made");

  Yard() {
    for (const auto& [name, value] : containers.variables())
      sabath.environment()[name] = value;
  }
  /// Of one stage "go" that runs a line of shell in the image.
  std::string recipe(const std::string& name,
                     const std::string& line,
                     const std::string& parallel = "none") {
    const nlohmann::json layer{
        {"kind", "container"}, {"name", "box"}, {"engines", {"podman"}}, {"image", image}};
    const nlohmann::json stage{{"name", "go"},
                               {"run", {"sh", "-c", line}},
                               {"outputs", {"made"}},
                               {"parallel", parallel},
                               {"resources", {{"tasks", 2}}}};
    const nlohmann::json document{{"schema", 1},
                                  {"name", name},
                                  {"environment", {{"layers", nlohmann::json::array({layer})}}},
                                  {"stages", nlohmann::json::array({stage})}};
    return sabath.recipe(name, document.dump(2));
  }
  test::Answer done(const std::vector<std::string>& arguments) const {
    const test::Answer answer = sabath(arguments);
    INFO(answer.output << answer.errors);
    CHECK(answer.status == 0);
    return answer;
  }
  bool is_empty() const {
    return containers.run({"podman", "ps", "--all", "--quiet"}).output.empty();
  }
};

}  // namespace

TEST_CASE("cli: a stage runs in a container, and what it made is recorded") {
  Yard yard;
  auto answer = yard.sabath({"run", yard.box});
  CHECK(answer.status == 13);
  CHECK(contains(answer.errors, "is not locked"));
  answer = yard.done({"env", "lock", yard.box});
  CHECK(contains(answer.output, "by skopeo"));
  CHECK(contains(yard.done({"env", "fetch", yard.box}).output, "3 file(s) are in the cache"));
  yard.containers.close_registry();
  yard.done({"run", yard.box});

  const fs::path made = yard.sabath.run_directories().back() / "outputs/go/made";
  CHECK(test::text_of(made) == "of the image\n");
  const std::string record = yard.sabath.newest();
  CHECK(contains(record, base::digest_file(made).text()));
  CHECK(contains(record, "\"engine\": \"podman\""));
  CHECK(contains(record, "\"lock_file\": \"sha256:"));
  const std::string shown = yard.done({"env", "show", yard.box}).output;
  CHECK(contains(shown, "engine.version"));
  CHECK(contains(shown, "podman version"));
  CHECK(contains(shown, "image.id"));
  CHECK(yard.done({"env", "exec", yard.box, "--", "cat", "/etc/text"}).output == "of the image\n");
  CHECK(yard.sabath({"env", "exec", yard.box, "--", "sh", "-c", "exit 9"}).status == 9);
  CHECK(yard.is_empty());
}

TEST_CASE("cli: a run in a container that is interrupted leaves nothing running") {
  Yard yard;
  const std::string deaf =
      yard.recipe("deaf", "trap '' TERM; echo > {output}/made; while :; do sleep 1; done");
  yard.done({"env", "lock", deaf});
  auto running = yard.sabath.start({"run", deaf});
  const auto has_begun = [&] {
    const auto runs = yard.sabath.run_directories();
    return !runs.empty() && fs::exists(runs.back() / "outputs/go/made");
  };
  REQUIRE(test::eventually(has_begun, std::chrono::seconds(100)));
  CHECK_FALSE(yard.is_empty());
  running.signal(2);
  CHECK(running.wait().status == 130);
  CHECK(contains(yard.sabath.newest(), "\"interrupted\""));
  CHECK(yard.is_empty());
}

TEST_CASE("cli: ranks in a container are refused before anything is planned") {
  Yard yard;
  const std::string ranks = yard.recipe("ranks", "echo > {output}/made", "torchrun");
  yard.done({"env", "lock", ranks});
  const auto answer = yard.sabath({"run", ranks});
  CHECK(answer.status == 2);
  CHECK(contains(answer.errors, "'parallel' cannot start ranks in a container"));
  CHECK(yard.sabath.run_directories().empty());
}

TEST_CASE("cli: why two containers differ is said in words") {
  Yard yard;
  yard.done({"env", "lock", yard.box});
  yard.done({"run", yard.box});
  yard.containers.image("box:1", {"--text", "newer\n"});
  yard.done({"env", "lock", yard.box});
  CHECK(contains(yard.done({"env", "show", "--why", "@last", yard.box}).output,
                 "layer 'box': image is 'sha256:"));
}
