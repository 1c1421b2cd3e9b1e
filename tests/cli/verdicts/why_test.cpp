// `sabath compare` of two selections, perturbed runs and their envelope, and `sabath explain`.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

/// A loss that depends on the seed, on `mode`, and on the fifth digit on how it is perturbed.
std::string recipe(const Sabath& sabath) {
  return sabath.shell_recipe(
      "why",
      R"(shift=0; [ {param.mode} = odd ] && shift=5
         echo "{{\"step\": 1, \"loss\": 1.{seed}0${{shift}}{param.perturb_1ulp}}}" >> $SABATH_METRICS)",
      R"({"parameters": {"mode": {"type": "string", "default": "even", "affects": "execution"},
                         "threads": {"type": "int", "default": 1, "affects": "execution"},
                         "rate": {"type": "int", "default": 1},
                         "perturb_1ulp": {"type": "int", "default": 0, "affects": "execution"}},
          "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 1.0}}})");
}

void run(const Sabath& sabath, const std::vector<std::string>& further) {
  std::vector<std::string> words{"run", recipe(sabath)};
  words.insert(words.end(), further.begin(), further.end());
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
}

}  // namespace

TEST_CASE("cli: two selections are compared as groups, from either side alike") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..4", "--tag", "x"});
  run(sabath, {"--seeds", "5..8", "--tag", "y", "--set", "threads=2"});
  const json forth = answered(sabath, {"compare", "tag=x", "tag=y"});
  CHECK(forth["status"] == 0);
  CHECK(forth["a"] == "tag=x");
  CHECK(forth["groups"].size() == 2);
  CHECK(forth["groups"][0]["runs"] == 4);
  CHECK(forth["metrics"][0]["statistics"]["tost_margin"] == 1.0);
  CHECK(forth["performance"][0]["name"] == "total time");
  CHECK_THAT(forth["notes"][0].get<std::string>(), Contains("nothing in common in: threads"));
  const json back = answered(sabath, {"compare", "tag=y", "tag=x"});
  CHECK(back["status"] == 0);
  CHECK(back["metrics"][0]["verdict"] == forth["metrics"][0]["verdict"]);
  const Answer text = sabath({"compare", "tag=x", "tag=y", "--statistics", "--reference", "a"});
  CHECK_THAT(text.output, Contains("tag=x: 4 runs (the reference)"));
  CHECK_THAT(text.output, Contains("Mann-Whitney U, exact"));
  CHECK_THAT(text.output, Contains("PERFORMANCE"));
  // One run against four is too few for a prediction interval, against itself it is nonsense.
  const json single = answered(sabath, {"compare", "@last", "tag=x"});
  CHECK(single["status"] == 3);
  CHECK_THAT(single["reason"].get<std::string>(), Contains("at least 5 references"));
  const Answer both = sabath({"compare", "@last", "tag=y"});
  CHECK(both.status == 2);
  CHECK_THAT(both.errors, Contains("is on both sides"));
  CHECK(sabath({"compare", "tag=x", "tag=none"}).status == 10);
}

TEST_CASE("cli: perturbed runs are made each in its own way and show an envelope") {
  const Sabath sabath;
  run(sabath, {"--seed", "1"});
  run(sabath, {"--seed", "1", "--perturb", "1ulp", "--repeat", "4", "--tag", "nudged"});
  run(sabath, {"--seed", "1", "--set", "threads=2"});
  run(sabath, {"--seed", "1", "--set", "mode=odd"});
  const json repeat = answered(sabath, {"compare", "@last~6", "@last~5"});
  CHECK(repeat["repetition"] == "replicate");  // it does not count as a repeat
  CHECK(repeat["differences"][0]["item"] == "perturb_1ulp");
  const json within =
      answered(sabath, {"compare", "@last~6", "@last~1", "--envelope", "tag=nudged"});
  CHECK(within["status"] == 0);
  CHECK(within["envelope_runs"] == 4);
  // The perturbed runs are up to 4e-4 away; this one is 5e-3, on either side.
  for (const auto& [a, b] : {std::pair("@last~6", "@last"), std::pair("@last", "@last~6")}) {
    const json outside = answered(sabath, {"compare", a, b, "--envelope", "tag=nudged"});
    CHECK(outside["status"] == 1);
    CHECK(outside["reference"] == (std::string(a) == "@last~6" ? "a" : "b"));
  }
  const Answer few = sabath({"compare", "@last~6", "@last", "--envelope", "@last~1"});
  CHECK(few.status == 2);
  CHECK_THAT(few.errors, Contains("at least 3"));
  CHECK_THAT(sabath({"run", recipe(sabath), "--perturb", "1ulp"}).errors, Contains("--seed"));
}

TEST_CASE("cli: whose reruns they are does not depend on the order, and other runs are refused") {
  const Sabath sabath;
  run(sabath, {"--seed", "1", "--tag", "plain"});
  run(sabath, {"--seed", "1", "--tag", "other"});
  run(sabath, {"--seed", "1", "--perturb", "1ulp", "--repeat", "3", "--tag", "nudged"});
  for (const auto& [a, b] :
       {std::pair("tag=plain", "tag=other"), std::pair("tag=other", "tag=plain")}) {
    const Answer tie = sabath({"compare", a, b, "--envelope", "tag=nudged"});
    CHECK(tie.status == 2);
    CHECK_THAT(tie.errors, Contains("--reference"));
    CHECK(sabath({"compare", a, b, "--envelope", "tag=nudged", "--reference", "b"}).status == 0);
  }
  for (int i = 0; i < 3; ++i)
    run(sabath, {"--seed", "1", "--set", "perturb_1ulp=7", "--tag", "same"});
  const Answer same =
      sabath({"compare", "tag=plain", "tag=other", "--envelope", "tag=same", "--reference", "a"});
  CHECK(same.status == 2);
  CHECK_THAT(same.errors, Contains("at least 3") && Contains("there are 1"));
  for (const char* number : {"1", "2", "3"})
    run(sabath,
        {"--seed",
         "1",
         "--set",
         std::string("perturb_1ulp=") + number,
         "--set",
         "threads=3",
         "--tag",
         "far"});
  const Answer far =
      sabath({"compare", "tag=plain", "tag=other", "--envelope", "tag=far", "--reference", "a"});
  CHECK(far.status == 2);
  CHECK_THAT(far.errors, Contains("parameters threads"));
  const Answer neither = sabath({"compare", "tag=plain", "tag=other", "--envelope", "tag=far"});
  CHECK(neither.status == 2);
  CHECK_THAT(neither.errors, Contains("are neither those of") && Contains("parameters threads"));
  CHECK(sabath({"run",
                recipe(sabath),
                "--seed",
                "1",
                "--perturb",
                "1ulp",
                "--sweep",
                "perturb_1ulp=8,9"})
            .status == 2);
  for (const auto& [option, value] :
       {std::pair("--rcp", "code"), std::pair("--envelope", "tag=far")})
    CHECK(sabath({"compare", "tag=plain", option, value}).status == 2);
  // Perturbed runs are no draws of their own.
  const json groups = answered(sabath, {"compare", "recipe=why"});
  CHECK(groups["runs"] == 2);
  CHECK(groups["left_out"][0]["reason"] == "perturbed");
  CHECK(groups["left_out"][0]["runs"] == 9);
  CHECK(answered(sabath, {"compare", "tag=nudged", "--by", "perturb_1ulp"})["runs"] == 3);
}

TEST_CASE("cli: explain makes hybrids and names the one change that matters, once") {
  const Sabath sabath;
  run(sabath, {"--seed", "1"});
  run(sabath, {"--seed", "1", "--set", "mode=odd", "--set", "threads=2", "--set", "rate=2"});
  const std::vector<std::string> words{"explain", "recipe=why,rate=1", "recipe=why,rate=2"};
  const json found = answered(sabath, words);
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == json{"parameter mode"});
  CHECK(found["changes"].size() == 3);
  CHECK(found["hybrids"][0]["verdict"] == "PASS");  // A again
  CHECK(found["hybrids"][1]["verdict"] == "FAIL");  // with all of B's
  std::size_t cause = 0;                            // what is named was made twice, and A, too
  std::size_t none = 0;
  for (const json& hybrid : found["hybrids"]) {
    if (hybrid["changes"] == found["cause"]) {
      CHECK(hybrid["verdict"] == "FAIL");
      ++cause;
    }
    if (hybrid["changes"].empty()) {
      CHECK(hybrid["verdict"] == "PASS");
      ++none;
    }
  }
  CHECK(cause == 2);
  CHECK(none == 2);
  const json again = answered(sabath, {"explain", found["a"], found["b"], "--budget", "0"});
  CHECK(again["status"] == 0);
  CHECK(again["cause"] == found["cause"]);
  for (const json& hybrid : again["hybrids"])
    CHECK(hybrid["reused"] == true);
  const Answer text = sabath({"explain", found["a"], found["b"]});
  CHECK_THAT(text.output, Contains("CAUSE") && Contains("parameter mode alone makes them differ"));
}

TEST_CASE("cli: explain says when there is nothing to explain, and when its budget is spent") {
  const Sabath sabath;
  run(sabath, {"--seed", "1"});
  run(sabath, {"--seed", "1", "--set", "threads=2"});
  const json same = answered(sabath, {"explain", "@last~1", "@last"});
  CHECK(same["status"] == 0);
  CHECK(same["hybrids"].empty());
  CHECK_THAT(same["reason"].get<std::string>(), Contains("nothing to explain"));
  run(sabath, {"--seed", "1", "--set", "mode=odd", "--set", "threads=2"});
  const json spent = answered(sabath, {"explain", "@last~2", "@last", "--budget", "2"});
  CHECK(spent["status"] == 3);
  CHECK_THAT(spent["reason"].get<std::string>(), Contains("budget of 2 runs is spent"));
  CHECK(sabath({"explain", "@last", "@last"}).status == 2);
}

TEST_CASE("cli: --rcp keeps NOT-COMPARABLE, but for the batch size") {
  const Sabath sabath;
  const std::string converging = sabath.shell_recipe(
      "converging",
      R"(for e in 1 2 3 4; do echo "{{\"epoch\": $e, \"step\": $e, \"acc\": 0.$((e + e))}}"; done >> $SABATH_METRICS)",
      R"({"parameters": {"batch": {"type": "int", "default": 8}, "rate": {"type": "int", "default": 1}},
          "metrics": {"acc": {"unit": "1", "better": "higher", "target": 0.6}}})");
  const auto make = [&](const char* seeds, std::vector<std::string> further) {
    std::vector<std::string> words{"run", converging, "--seeds", seeds};
    words.insert(words.end(), further.begin(), further.end());
    REQUIRE(sabath(words).status == 0);
  };
  make("1..6", {"--tag", "reference"});
  make("7..9", {"--tag", "same"});
  make("7..9", {"--tag", "other", "--set", "rate=2"});
  make("11..16", {"--tag", "reference", "--set", "batch=16"});
  const json same = answered(sabath, {"compare", "tag=reference", "tag=same", "--rcp", "code"});
  CHECK(same["rcp"]["metric"] == "acc");
  CHECK(same["status"] != 4);
  const json other = answered(sabath, {"compare", "tag=reference", "tag=other", "--rcp", "code"});
  CHECK(other["status"] == 4);
  CHECK_THAT(other["reason"].get<std::string>(), Contains("rate"));
}

TEST_CASE("cli: --rcp takes no batch size that is not a whole number") {
  const Sabath sabath;
  const std::string size = GENERATE("32.7", "1e300", "Infinity");
  const std::string converging = sabath.shell_recipe(
      "converging",
      R"(echo '{{"epoch": 1, "acc": 0.9}}' >> $SABATH_METRICS; echo ':::MLLOG {{"key": "global_batch_size", "value": )" +
          size + R"(}}')",
      R"({"metrics": {"acc": {"unit": "1", "better": "higher", "target": 0.6}}})");
  REQUIRE(sabath({"run", converging, "--tag", "one"}).status == 0);
  REQUIRE(sabath({"run", converging, "--tag", "two"}).status == 0);
  const Answer answer = sabath({"compare", "tag=one", "tag=two", "--rcp", "code"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("has no batch size"));
}

TEST_CASE("cli: explain gives B's code A's values, although the defaults are others") {
  const Sabath sabath;
  const auto of = [&](const char* rate) {
    return sabath.shell_recipe(
        "defaults",
        R"(echo "{{\"step\": 1, \"loss\": {param.rate}}}" >> $SABATH_METRICS)",
        std::string(R"({"parameters": {"rate": {"type": "int", "default": )") + rate +
            R"(}}, "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  };
  for (const char* rate : {"1", "2"})
    REQUIRE(sabath({"run", of(rate), "--seed", "1", "--tag", std::string("rate") + rate}).status ==
            0);
  const json found = answered(sabath, {"explain", "tag=rate1,rate=1", "tag=rate2,rate=2"});
  CHECK(found["status"] == 0);
  CHECK(found["cause"] == json{"parameter rate"});
}

TEST_CASE("cli: total times of runs with stages from the cache are not counted") {
  const Sabath sabath;
  const std::string cached =
      sabath.recipe("cached", R"({"schema": 1, "name": "cached", "environment": {"layers": []},
    "stages": [
      {"name": "make", "cache": true, "run": {"shell": "echo {seed} > {output}/x"},
       "outputs": ["x"]},
      {"name": "go", "needs": ["make"], "run": ["cat", "{stage.make}/x"]}]})");
  for (const char* tag : {"first", "first", "second"}) {
    for (const char* seed : {"1", "2"})
      REQUIRE(sabath({"run", cached, "--seed", seed, "--tag", tag}).status == 0);
  }
  const json found = answered(sabath, {"compare", "tag=first", "tag=second"});
  CHECK_THAT(found["notes"].dump(), Contains("4 of 6 runs have stages from the cache"));
  CHECK_THAT(found["notes"].dump(), Contains("A: 4 runs have 2 seeds"));
}

TEST_CASE("cli: runs of two recipes are judged by the stricter of both, from either side alike") {
  const Sabath sabath;
  const auto of = [&](const std::string& name, const char* value, const char* tolerance) {
    return sabath.shell_recipe(
        name,
        std::string(R"(echo "{{\"step\": 1, \"loss\": )") + value + R"(}}" >> $SABATH_METRICS)",
        std::string(R"({"metrics": {"loss": {"unit": "1", "better": "lower")") + tolerance + "}}}");
  };
  REQUIRE(sabath({"run", of("strict", "1.0", ""), "--seed", "1"}).status == 0);
  REQUIRE(sabath({"run", of("loose", "1.5", R"(, "tolerance": {"relative": 0.9})"), "--seed", "1"})
              .status == 0);
  for (const auto& [a, b] :
       {std::pair("recipe=strict", "recipe=loose"), std::pair("recipe=loose", "recipe=strict")})
    CHECK(answered(sabath, {"compare", a, b, "--across", "recipe"})["result"] == "FAIL");
}
