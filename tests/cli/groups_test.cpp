// `sabath compare SELECTION --by`: runs of our own in groups.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A loss that depends on `rate` and, a little, on the seed; `threads` only affects the execution.
std::string noisy_recipe(const Sabath& sabath) {
  return sabath.shell_recipe(
      "noisy",
      R"(echo "{{\"step\": 1, \"loss\": {param.rate}.0{seed}}}" >> $SABATH_METRICS)",
      R"({"parameters": {"rate": {"type": "int", "default": 1},
                         "threads": {"type": "int", "default": 1, "affects": "execution"}},
          "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5}}})");
}

void run(const Sabath& sabath, const std::vector<std::string>& further) {
  std::vector<std::string> words{"run", noisy_recipe(sabath)};
  words.insert(words.end(), further.begin(), further.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
}

json compared(const Sabath& sabath, const std::vector<std::string>& further) {
  std::vector<std::string> words{"compare", "recipe=noisy", "--json"};
  words.insert(words.end(), further.begin(), further.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  json result = json::parse(answer.output);
  result["status"] = answer.status;
  return result;
}

}  // namespace

TEST_CASE("cli: groups of seeds are held against the recipe's margin") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..3", "--set", "threads=1"});
  run(sabath, {"--seeds", "4..6", "--set", "threads=2"});
  const json same = compared(sabath, {"--by", "threads"});
  CHECK(same["status"] == 0);
  CHECK(same["groups"].size() == 2);
  CHECK(same["required"] == "equivalence of groups");
  CHECK(same["metrics"][0]["verdict"] == "PASS");
  CHECK_THAT(same["notes"][0].get<std::string>(), Contains("seed (6)"));
  // One group: its spread, and no verdict.
  CHECK(compared(sabath, {})["status"] == 3);
  const json bitwise = compared(sabath, {"--by", "threads", "--require", "bitwise"});
  CHECK(bitwise["status"] == 1);
  CHECK(bitwise["required"] == "bitwise, by --require");
}

TEST_CASE("cli: a parameter that affects the result must be what is grouped by") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..2", "--set", "rate=1"});
  run(sabath, {"--seeds", "1..2", "--set", "rate=2"});
  const json refused = compared(sabath, {"--by", "seed"});
  CHECK(refused["status"] == 4);
  CHECK_THAT(refused["reason"].get<std::string>(), Contains("parameter rate differs"));
  CHECK(compared(sabath, {"--by", "seed", "--across", "rate"})["status"] != 4);
  const json by_rate = compared(sabath, {"--by", "rate"});
  CHECK(by_rate["status"] == 1);
  CHECK(by_rate["metrics"][0]["split"]["factors"][0]["eta_squared"].get<double>() > 0.99);
  const json both = compared(sabath, {"--by", "rate,seed"});
  CHECK(both["groups"].size() == 4);
  CHECK(both["metrics"][0]["split"]["factors"].size() == 2);
}

TEST_CASE("cli: runs that are not complete, keys that no run has, and selections of nothing") {
  const Sabath sabath;
  run(sabath, {"--seed", "1"});
  run(sabath, {"--seed", "1"});
  const std::string failing = sabath.shell_recipe("noisy", "exit 3");
  CHECK(sabath({"run", failing}).status == 1);
  const json equal = compared(sabath, {"--by", "host"});
  CHECK(equal["runs"] == 2);
  CHECK(equal["left_out"][0]["reason"] == "failed");
  CHECK(equal["status"] == 3);  // one host is one group
  const Answer unknown = sabath({"compare", "recipe=noisy", "--by", "thread"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.errors, Contains("none of the runs has that") && Contains("'threads'"));
  CHECK(sabath({"compare", "recipe=nothing", "--by", "host"}).status == 10);
  CHECK(sabath({"compare", "recipe=noisy,state=failed", "--by", "host"}).status == 3);
  CHECK(sabath({"compare", "@last", "@last", "--by", "host"}).status == 2);
  // An item that only the records have.
  CHECK(compared(sabath, {"--by", "host.cpu.architecture"})["groups"].size() == 1);
}
