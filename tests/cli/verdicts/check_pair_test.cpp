// What `sabath check` names: the pair of runs that failed, the nearest entry, and its own runs.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A recipe whose loss is what its script says, so that the code can change.
class Losses {
 public:
  explicit Losses(const std::string& further = "{}") {
    recipe = sabath.shell_recipe("losses",
                                 "sh {recipe}/go.sh {seed} {param.dropout} {param.epochs}",
                                 R"({"parameters": {"dropout": {"type": "float", "default": 0},
                                     "epochs": {"type": "int", "default": 2}},
                                     "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.5}}})",
                                 further);
    says("echo 1.$1");
  }
  /// From now on the loss is what this command prints.
  void says(const std::string& command) const {
    write_text(fs::path(recipe) / "go.sh",
               "echo \"{\\\"step\\\": 1, \\\"loss\\\": $(" + command + ")}\" >> $SABATH_METRICS\n");
  }
  void run(const std::vector<std::string>& further) const {
    std::vector<std::string> words{"run", recipe};
    words.insert(words.end(), further.begin(), further.end());
    done(sabath, words);
  }
  void accept(const std::string& selection) const {
    done(sabath, {"baseline", "propose", selection, "-o", file()});
    done(sabath, {"baseline", "accept", file(), "--by", "anna"});
  }
  json check(std::vector<std::string> further) const {
    further.insert(further.begin(), {"check", recipe, "--baseline", file()});
    return answered(sabath, further);
  }
  std::string file() const { return (sabath.folder() / "baseline.json").string(); }
  std::string run_of_seed(const std::string& selection, int seed) const {
    const json runs =
        answered(sabath, {"list", "runs", selection + ",seed=" + std::to_string(seed)})["runs"];
    REQUIRE(runs.size() == 1);
    return runs[0]["id"];
  }

  Sabath sabath{};
  std::string recipe{};
};

std::string why_of(const json& report) {
  for (const auto& note : report["groups"][0]["notes"]) {
    const std::string text = note;
    if (text.starts_with("why: ")) return text;
  }
  return "";
}

}  // namespace

TEST_CASE("check: why names the run that failed, and the baseline's run of its seed") {
  const Losses losses;
  losses.run({"--seeds", "1..3", "--tag", "good"});
  losses.accept("tag=good");
  const std::string reference = losses.run_of_seed("tag=good", 1);
  losses.says("[ $1 = 1 ] && echo 5 || echo 1.$1");  // of seed 1 alone
  const json report = losses.check({"--seeds", "1..3", "--require", "tolerance", "--tag", "now"});
  CHECK(report["verdict"] == "FAIL");
  const std::string failed = losses.run_of_seed("tag=now", 1);
  CHECK_THAT(why_of(report), Contains("why: sabath explain " + reference + " " + failed));
  CHECK_THAT(report["reason"].get<std::string>(), Contains(failed));
}

TEST_CASE("check: of a test over many runs why names the one that lies furthest off") {
  const Losses losses;
  losses.run({"--seeds", "1..6", "--tag", "good"});
  losses.accept("tag=good");
  losses.says("[ $1 = 12 ] && echo 9 || echo 8.$1");
  const json report = losses.check({"--seeds", "11..14", "--tag", "now"});
  CHECK(report["verdict"] == "FAIL");
  CHECK_THAT(why_of(report), Contains(" " + losses.run_of_seed("tag=now", 12) + ","));
}

TEST_CASE("baseline: a proposal counts runs of one seed once, and says so") {
  const Losses losses;
  losses.run({"--seed", "1", "--repeat", "4", "--tag", "good"});
  losses.run({"--seeds", "2..4", "--tag", "good"});
  const Answer proposed = losses.sabath({"baseline", "propose", "tag=good", "-o", losses.file()});
  INFO(proposed.output);
  CHECK(proposed.status == 0);
  CHECK_THAT(proposed.output,
             Contains("4 seed(s) are too few for a prediction interval, which wants 5") &&
                 Contains("7 runs have 4 seeds") && !Contains("lies apart"));
  losses.run({"--seeds", "5..6", "--tag", "good"});
  losses.accept("tag=good");
  CHECK(losses.check({"--seed", "7"})["groups"].size() == 1);
}

TEST_CASE("check: NOT-COMPARABLE names the nearest entry and what differs from it") {
  const Losses losses;
  losses.run({"--seeds", "1..2", "--sweep", "dropout=0.5,0", "--tag", "good"});
  losses.run({"--seeds", "1..2", "--set", "epochs=100", "--tag", "good"});
  losses.accept("tag=good");
  const auto reason = [&](const std::vector<std::string>& further) {
    std::vector<std::string> words{"--seed", "1"};
    words.insert(words.end(), further.begin(), further.end());
    const json report = losses.check(words);
    CHECK(report["verdict"] == "NOT-COMPARABLE");
    return report["reason"].get<std::string>();
  };
  // One parameter from the entry of dropout 0, two from that of 0.5; 2 is closer to 3 than 100 is.
  const std::string nearest = reason({"--set", "epochs=3"});
  CHECK_THAT(nearest, Contains("parameter epochs is 3, of the baseline 2;"));
  CHECK_THAT(nearest, !Contains("dropout"));
  CHECK_THAT(nearest, Contains("its nearest entry of 2 runs such as losses-"));
  CHECK_THAT(nearest, Contains("accepted by anna on "));
  CHECK_THAT(reason({"--set", "epochs=90"}), Contains("epochs is 90, of the baseline 100;"));
  CHECK_THAT(reason({"--set", "dropout=0.4"}), Contains("dropout is 0.4, of the baseline 0.5;"));
}

TEST_CASE("check: runs that the baseline was made of are told") {
  const Losses losses;
  losses.run({"--seeds", "1..6", "--tag", "good"});
  losses.accept("tag=good");
  const json own =
      answered(losses.sabath, {"check", "tag=good,seed=1", "--baseline", losses.file()});
  CHECK_THAT(own["groups"][0]["notes"].dump(),
             Contains("1 of 1 run: the baseline was made of it, so that agreement proves nothing"));
  const json other = losses.check({"--seed", "9"});
  CHECK_THAT(other["groups"][0]["notes"].dump(), !Contains("was made of"));
}

TEST_CASE("baseline: a proposal names the parameters of each entry, and each note once") {
  const Losses losses;
  losses.run({"--seeds", "1..2", "--sweep", "dropout=0,0.25,0.5", "--tag", "good"});
  const Answer answer =
      done(losses.sabath, {"baseline", "propose", "tag=good", "-o", losses.file()});
  INFO(answer.output);
  for (const char* dropout : {"dropout=0\n", "dropout=0.25\n", "dropout=0.5\n"})
    CHECK_THAT(answer.output, Contains(dropout));
  CHECK_THAT(answer.output, !Contains("epochs="));  // the same in all
  const std::string note = "are too few for a prediction interval";
  const auto first = answer.output.find(note);
  REQUIRE(first != std::string::npos);
  CHECK(answer.output.find(note, first + 1) == std::string::npos);
}
