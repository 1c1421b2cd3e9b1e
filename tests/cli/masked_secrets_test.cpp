// What sabath writes about a run shows no secret, also where the run's own code does.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <sys/stat.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// The files beneath the home that have `text`, apart from those of `but`.
std::string files_with(const Sabath& sabath, const std::string& text, const std::string& but) {
  return sabath.program({"grep", "-rl", "--exclude=" + but, text, sabath.home().string()}).output;
}

}  // namespace

TEST_CASE("cli: secrets that sabath knows are masked in what the code prints, and counted") {
  Sabath sabath;
  sabath.environment()["WANDB_API_KEY"] = "0a1b2c3d4e5f60718293";
  const auto configuration = sabath.home() / "config";
  fs::create_directories(configuration);
  write_text(
      configuration / "credentials.json",
      R"({"schema": 1, "credentials": [{"host": "h.example.org", "bearer": "b3ar3r-of-ada"}]})");
  ::chmod((configuration / "credentials.json").c_str(), 0600);
  sabath.environment()["SABATH_CONFIG"] = configuration.string();
  write_text(sabath.folder() / "answer", "b3ar3r-of-ada\n");
  const bool fails = GENERATE(false, true);
  const std::string recipe = sabath.shell_recipe(
      "leaky",
      "echo key $WANDB_API_KEY, $WANDB_API_KEY; cat " + (sabath.folder() / "answer").string() +
          " >&2; "
          "echo step=1 loss=0.5; exit " +
          std::string(fails ? "3" : "0"),
      R"({"metrics": {"loss": {"from": {"kind": "key_value"}}}})");
  const Answer answer = sabath({"run", recipe});
  INFO(answer.output + answer.errors);
  CHECK((answer.status == 0) == !fails);
  const json record = json::parse(sabath.newest());
  CHECK(record["masked"] == 3);
  CHECK(record["metrics"][0]["last"] == 0.5);
  const fs::path stage = sabath.run_directories().back() / "attempts/1/go";
  CHECK(text_of(stage / "stdout.log") ==
        "key ********************, ********************\nstep=1 loss=0.5\n");
  CHECK(text_of(stage / "stderr.log") == "*************\n");
  CHECK(files_with(sabath, "0a1b2c3d4e5f60718293", "none") == "");
  CHECK(files_with(sabath, "b3ar3r-of-ada", "credentials.json") == "");
  CHECK((answer.output + answer.errors).find("b3ar3r") == std::string::npos);
}

TEST_CASE(
    "cli: a run that could only be repeated with a secret is refused before anything is made") {
  Sabath sabath;
  const std::string token = "ghp_0123456789abcdefghijklmnop";
  const std::string further = R"({"parameters": {"key": {"type": "string", "default": "none"},
                                                 "db_password": {"type": "string", "default": ""}}})";
  const std::string good = sabath.shell_recipe("good", "echo {param.key}", further);
  const std::string bad = sabath.shell_recipe("bad", "curl -H 'PRIVATE-TOKEN: " + token + "' x");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", good, "--set", "key=" + token},
                                             {"run", good, "--set", "db_password=hunter22a"},
                                             {"run", good, "--sweep", "key=a," + token},
                                             {"run", good, "--dry-run", "--set", "key=" + token},
                                             {"run", good, "--tag", token},
                                             {"run", good, "--sweep", "key=a,b", "--tag", token},
                                             {"run", good, "--dry-run", "--tag", token},
                                             {"run", bad}}) {
    const Answer answer = sabath(arguments);
    INFO(answer.output + answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("looks like a secret") && Contains("environment variable"));
    CHECK_THAT(answer.output + answer.errors, !Contains(token) && !Contains("hunter22a"));
  }
  CHECK(sabath.count_runs() == 0);
  CHECK(sabath({"run", good}).status == 0);
}
