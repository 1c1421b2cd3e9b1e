// `sabath compare SELECTION --by`: runs of our own in groups.
#include "support/answers.hpp"

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
  std::vector<std::string> words{"compare", "recipe=noisy"};
  words.insert(words.end(), further.begin(), further.end());
  return answered(sabath, words);
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
  CHECK_THAT(refused["reason"].get<std::string>(),
             Contains("parameter rate differs, which affects the result; group by it, or --across "
                      "rate compares them nevertheless"));
  CHECK(refused["groups"].size() == 2);
  CHECK(refused["groups"][0]["runs"] == 2);
  const Answer sides = sabath({"compare", "recipe=noisy,rate=1", "recipe=noisy,rate=2"});
  CHECK(sides.status == 4);
  CHECK_THAT(sides.output,
             Contains("recipe=noisy,rate=1: 2 runs") && Contains("recipe=noisy,rate=2: 2 runs"));
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
  CHECK(sabath({"compare", "recipe=nothing", "--by", "host"}).status == 2);
  const json failed = answered(sabath, {"compare", "recipe=noisy,state=failed", "--by", "host"});
  CHECK(failed["status"] == 3);
  CHECK(failed["recipe"] == "noisy");
  const json sides =
      answered(sabath, {"compare", "recipe=noisy,state=failed", "recipe=noisy,state=ok"});
  CHECK(sides["status"] == 3);
  CHECK(sides["recipe"] == "noisy");
  CHECK_THAT(sides["reason"].get<std::string>(), Contains("no run of A is complete"));
  CHECK(sabath({"compare", "@last", "@last", "--by", "host"}).status == 2);
  // An item that only the records have.
  CHECK(compared(sabath, {"--by", "host.cpu.architecture"})["groups"].size() == 1);
}

TEST_CASE("cli: runs of one seed hold a rung in all steps and outputs or they do not hold it") {
  const Sabath sabath;
  const std::string parameters =
      R"("parameters": {"threads": {"type": "int", "default": 1, "affects": "execution"}},
         "metrics": {"loss": {"better": "lower"}})";
  const auto made = [&](const std::string& name, const std::string& command) {
    const std::string recipe =
        sabath.shell_recipe(name, command, "{" + parameters + "}", R"({"outputs": ["w.txt"]})");
    for (const char* threads : {"threads=1", "threads=2", "threads=2"})
      REQUIRE(sabath({"run", recipe, "--seed", "1", "--set", threads}).status == 0);
    return "recipe=" + name;
  };
  // The last value is the same in all.
  const std::string last = R"(echo "{{\"step\": 2, \"loss\": 1}}" >> $SABATH_METRICS; )";
  const std::string step =
      R"(echo "{{\"step\": 1, \"loss\": {param.threads}}}" >> $SABATH_METRICS; )";
  const std::string steps = made("steps", step + last + "echo w > {output}/w.txt");
  const std::string outputs = made("outputs", last + "echo w{param.threads} > {output}/w.txt");
  const std::string equal = made("equal", last + "echo w > {output}/w.txt");
  for (const std::string& selection : {steps, outputs}) {
    const Answer by = sabath({"compare", selection, "--by", "threads"});
    INFO(by.output + by.errors);
    CHECK(by.status == 1);
    CHECK_THAT(by.output, Contains("compared whole") && !Contains("--require"));
    const Answer sides = sabath({"compare", selection + ",threads=1", selection + ",threads=2"});
    CHECK(sides.status == 1);
  }
  const Answer by = sabath({"compare", equal, "--by", "threads", "--require", "bitwise"});
  INFO(by.output + by.errors);
  CHECK(by.status == 0);
  CHECK_THAT(by.output, Contains("bitwise in all steps and outputs of") && Contains("2 others"));
  // What is gone is not known to agree.
  std::filesystem::remove_all(sabath.run_directories().back());
  CHECK(sabath({"compare", equal, "--by", "threads", "--require", "bitwise"}).status != 0);
  // A metric that is missing does not hide outputs that differ.
  const std::string missing =
      made("missing",
           R"([ {param.threads} = 2 ] || )" + last + "echo w{param.threads} > {output}/w.txt");
  CHECK(sabath({"compare", missing, "--by", "threads"}).status == 1);
}

TEST_CASE("cli: of recipes that say other things of one definition the strictest counts") {
  const auto compare = [](const std::string& first, const std::string& second) {
    const Sabath sabath;
    const auto recipe = [&](const std::string& margin) {
      return sabath.shell_recipe(
          "varied",
          R"(echo "{{\"step\": 1, \"loss\": 1.0{seed}}}" >> $SABATH_METRICS)",
          R"({"metrics": {"loss": {"unit": "1", "better": "lower", "margin": )" + margin + "}}}");
    };
    REQUIRE(sabath({"run", recipe(first), "--seeds", "1..4", "--tag", "first"}).status == 0);
    REQUIRE(sabath({"run", recipe(second), "--seeds", "5..8", "--tag", "second"}).status == 0);
    json result = json::parse(sabath({"compare", "tag=first", "tag=second", "--json"}).output);
    REQUIRE(result["runs"] == 8);
    return result;
  };
  CHECK(compare("0.5", "0.6")["result"] == "PASS");
  // Whichever document has the lesser digest.
  for (const auto& [first, second] :
       {std::pair{"0.5", "1e-9"}, std::pair{"1e-9", "0.5"}, std::pair{"0.501", "1e-9"}}) {
    const json result = compare(first, second);
    CHECK(result["result"] != "PASS");
    CHECK_THAT(result["notes"][0].get<std::string>(),
               Contains("other margins of loss") && Contains("the smallest counts"));
  }
}

TEST_CASE("cli: a parameter affects the result where one of the recipes says so") {
  for (const bool turned : {false, true}) {
    const Sabath sabath;
    const auto run_as = [&](const std::string& affects, const char* seed, const char* set) {
      const std::string recipe =
          sabath.shell_recipe("varied",
                              R"(echo "{{\"step\": 1, \"loss\": 1.0{seed}}}" >> $SABATH_METRICS)",
                              R"({"parameters": {"n": {"type": "int", "default": 1, "affects": ")" +
                                  affects + R"("}}, "metrics": {"loss": {"better": "lower"}}})");
      REQUIRE(sabath({"run", recipe, "--seed", seed, "--set", set}).status == 0);
    };
    run_as(turned ? "result" : "execution", "1", "n=1");
    run_as(turned ? "execution" : "result", "2", "n=2");
    const Answer answer = sabath({"compare", "recipe=varied", "--by", "seed"});
    CHECK(answer.status == 4);
    CHECK_THAT(answer.output, Contains("parameter n differs"));
  }
}

TEST_CASE("cli: numbers of two units are told and not compared") {
  const Sabath sabath;
  for (const std::string unit : {"s", "ms"}) {
    const std::string recipe = sabath.shell_recipe(
        "in-" + unit,
        R"(echo "{{\"latency\": 1.0{seed}}}" >> $SABATH_METRICS)",
        R"({"metrics": {"latency": {"unit": ")" + unit + R"(", "margin": 5}}})");
    const Answer answer = sabath({"run", recipe, "--seeds", "1..3"});
    INFO(answer.output + answer.errors);
    REQUIRE(answer.status == 0);
  }
  const std::vector<std::string> sides{
      "compare", "recipe=in-s", "recipe=in-ms", "--across", "recipe"};
  const std::vector<std::string> by{"compare", "recipe=in-*", "--by", "recipe"};
  for (const std::vector<std::string>& words : {sides, by}) {
    const json found = answered(sabath, words);
    CHECK(found["status"] == 3);
    CHECK_THAT(found["reason"].get<std::string>(),
               Contains("the recipes have different units of it: 'ms' and 's'"));
    CHECK(found["metrics"][0]["unit"] == "");
    CHECK(found["recipe"] == "in-ms, in-s");
  }
}

TEST_CASE("cli: of imported runs no speed is told") {
  const Sabath sabath;
  const auto file = sabath.folder() / "table.csv";
  write_text(file, "g,m\nA,1\nA,1.5\nB,1\nB,2\n");
  const Answer imported =
      sabath({"import", file.string(), "--recipe", "t", "--metrics", "m", "--facets", "g"});
  REQUIRE(imported.status == 0);
  const Answer answer = sabath({"compare", "recipe=t,g=A", "recipe=t,g=B"});
  CHECK(answer.status == 3);
  CHECK_THAT(answer.output, !Contains("total time") && !Contains("PERFORMANCE"));
}

TEST_CASE("cli: repeats of a seed count once in groups") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..3", "--repeat", "3", "--set", "threads=1"});
  run(sabath, {"--seeds", "4..6", "--repeat", "3", "--set", "threads=2"});
  const json by = compared(sabath, {"--by", "threads"});
  REQUIRE(by["runs"] == 18);
  CHECK_THAT(by["reason"].get<std::string>(),
             Contains("n = 3 and 3") && Contains("runs of one seed count once"));
  const Answer sides = sabath({"compare", "recipe=noisy,threads=1", "recipe=noisy,threads=2"});
  CHECK_THAT(sides.output, Contains("A: 9 runs have 3 seeds, and count as 3 in all tests"));
  // Groups that are seeds have repeats alone.
  CHECK_THAT(compared(sabath, {"--by", "seed"})["reason"].get<std::string>(),
             !Contains("count once"));
}

TEST_CASE("cli: a margin that is asked for counts instead of the recipe's and is told") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..3", "--set", "threads=1"});
  run(sabath, {"--seeds", "4..6", "--set", "threads=2"});
  using Words = std::vector<std::string>;
  const auto by = [&](const Words& further) {
    Words words{"--by", "threads"};
    words.insert(words.end(), further.begin(), further.end());
    return compared(sabath, words);
  };
  CHECK(by({})["status"] == 0);  // the recipe's is 0.5
  for (const Words& margin : {Words{"--margin", "0.01"},
                              Words{"--margin", "loss=0.01"},
                              Words{"--margin", "go/loss=0.01"},
                              Words{"--margin", "0.5", "--margin", "loss=0.01"}}) {
    const json held = by(margin);
    CHECK(held["status"] == 1);
    CHECK_THAT(held["reason"].get<std::string>(),
               Contains("not within 0.01") && Contains("the margin is that of --margin"));
  }
  CHECK(by({"--margin", "0.4"})["status"] == 0);
  const Answer sides = sabath(
      {"compare", "recipe=noisy,threads=1", "recipe=noisy,threads=2", "--margin", "loss=0.01"});
  CHECK(sides.status == 1);
  CHECK_THAT(sides.output, Contains("the margin is that of --margin"));
  const auto refused = [&](const Words& further, const std::string& why) {
    Words words{"compare", "recipe=noisy", "--by", "threads"};
    words.insert(words.end(), further.begin(), further.end());
    const Answer answer = sabath(words);
    INFO(answer.output + answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(why));
  };
  refused({"--margin", "los=1"}, "did you mean 'loss'?");
  for (const char* margin : {"x", "-1", "=1", "nan", "inf", "loss=", ""})
    refused({"--margin", margin}, "is not a number of zero or more");
  refused({"--margin", "loss=1", "--margin", "loss=2"},
          "a margin for the same metric is given already");
  refused({"--margin", "1", "--require", "bitwise"},
          "--require and --margin: cannot be used together");
}

TEST_CASE("cli: an accepted baseline of ten seeds says what counts as equal") {
  const Sabath sabath;
  const std::string recipe =
      sabath.shell_recipe("loose",
                          R"(echo "{{\"step\": 1, \"loss\": 1.0{seed}}}" >> $SABATH_METRICS)",
                          R"({"parameters": {"rate": {"type": "int", "default": 1}},
                              "metrics": {"loss": {"unit": "1", "better": "lower"}}})");
  const auto done = [&](const std::vector<std::string>& words) {
    const Answer answer = sabath(words);
    INFO(answer.output + answer.errors);
    REQUIRE(answer.status == 0);
  };
  const auto made = [&](const std::string& tag, const std::vector<std::string>& further) {
    std::vector<std::string> words{"run", recipe, "--tag", tag};
    words.insert(words.end(), further.begin(), further.end());
    done(words);
  };
  const auto accepted = [&](const std::string& selection, const std::string& name) {
    const std::string file = (sabath.folder() / name).string();
    done({"baseline", "propose", selection, "-o", file});
    done({"baseline", "accept", file, "--by", "anna"});
    return file;
  };
  made("x", {"--seeds", "11..15"});
  made("y", {"--seeds", "16..20"});
  const auto held = [&](const std::string& file, const std::string& a, const std::string& b) {
    const Answer answer = sabath({"compare", a, b, "--baseline", file, "--json"});
    INFO(answer.output + answer.errors);
    json result = json::parse(answer.output);
    result["status"] = answer.status;
    return result;
  };
  CHECK(sabath({"compare", "tag=x", "tag=y"}).status == 3);
  made("few", {"--seeds", "1..5", "--repeat", "2"});
  const json few = held(accepted("tag=few", "few.json"), "tag=x", "tag=y");
  CHECK(few["status"] == 3);
  CHECK_THAT(few["notes"].dump(), Contains("is of 5 seeds, and counts from 10 on"));
  made("good", {"--seeds", "1..10"});
  const std::string file = accepted("tag=good", "good.json");
  const json good = held(file, "tag=x", "tag=y");
  CHECK(good["status"] == 0);
  CHECK_THAT(good["reason"].get<std::string>(), Contains("the margin is that of the baseline"));
  CHECK(good["metrics"][0]["statistics"]["tost_margin"].get<double>() < 0.1);
  made("p", {"--seeds", "11..15", "--set", "rate=2"});
  made("q", {"--seeds", "16..20", "--set", "rate=2"});
  const json other = held(file, "tag=p", "tag=q");
  CHECK(other["status"] == 3);
  CHECK_THAT(other["notes"].dump(),
             Contains("no accepted entry for these runs") && Contains("rate is 2"));
  CHECK(sabath({"compare", "tag=x", "tag=y", "--baseline", "nowhere.json"}).status == 10);
}

TEST_CASE("cli: what is of two sides or of groups is refused of others") {
  const Sabath sabath;
  run(sabath, {"--seeds", "1..3"});
  const auto refused = [&](const std::vector<std::string>& further, const std::string& why) {
    std::vector<std::string> words{"compare"};
    words.insert(words.end(), further.begin(), further.end());
    const Answer answer = sabath(words);
    INFO(answer.output + answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(why));
  };
  refused({"@last", "@last"}, "is on both sides");
  refused({"@last", "@last~0"}, "is on both sides");
  for (const std::vector<std::string>& one :
       {std::vector<std::string>{"recipe=noisy"}, {"recipe=noisy", "--by", "seed"}}) {
    const auto with = [&](std::vector<std::string> further) {
      further.insert(further.begin(), one.begin(), one.end());
      return further;
    };
    refused(with({"--reference", "a"}), "--reference: compares two sides");
    refused(with({"--statistics"}), "--statistics: compares two sides");
    refused(with({"--rcp", "code"}), "--rcp: compares two sides");
    refused(with({"--envelope", "recipe=noisy"}), "--envelope: compares two sides");
  }
  refused({"@last", "@last~1", "--statistics"}, "--statistics: compares groups");
  refused({"@last", "@last~1", "--margin", "1"}, "--margin: compares groups");
  refused({"@last", "@last~1", "--baseline", "b.json"}, "--baseline: compares groups");
}
