// The first minutes: a command without a recipe, a recipe drafted of it, the tutorial.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <fstream>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* script = R"(import argparse, os, sys
p = argparse.ArgumentParser()
p.add_argument("--lr", type=float, default=0.1)
p.add_argument("--out", default="")
a = p.parse_args()
print("seed", os.environ["SABATH_SEED"])
print("a word of trouble", file=sys.stderr)
for step in range(3):
    print(f"loss: {a.lr / (step + 1)}")
    with open(os.environ["SABATH_METRICS"], "a") as file:
        file.write('{"step": %d, "accuracy": %f}\n' % (step, a.lr * step))
if a.out:
    open(a.out, "w").write("weights")
)";

/// A folder with a script, where the user is.
struct Project {
  Sabath sabath{};
  fs::path folder = sabath.folder() / "project";

  Project() {
    fs::create_directories(folder);
    write_text(folder / "train.py", script);
  }
  Answer operator()(std::vector<std::string> words) const {
    words.insert(words.begin(), {"env", "-C", folder.string(), SABATH_PROGRAM});
    return sabath.program(words);
  }
  Answer run(std::vector<std::string> words) const {
    words.insert(words.begin(), {"run", "--seed", "7", "--"});
    return (*this)(words);
  }
  std::string newest_id() const { return sabath.run_directories().back().filename().string(); }
};

}  // namespace

TEST_CASE("first: a command without a recipe is recorded, and shown as it runs") {
  const Project project;
  const Answer answer = project.run({"python3", "train.py", "--lr", "0.5"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.output, Contains("seed 7\n") && Contains("loss: 0.5\n"));
  CHECK_THAT(answer.errors, Contains("a word of trouble") && Contains("ok"));
  CHECK_THAT(answer.output, !Contains("again:"));  // stdout is the command's own
  const json record = json::parse(project.sabath.newest());
  CHECK(record["recipe_name"] == "train");
  CHECK(record["parameters"]["words"] == "python3 train.py --lr 0.5");
  CHECK_THAT(record["parameters"]["script"].get<std::string>(), Contains("train.py "));
  CHECK_THAT(record["reproduce"].get<std::string>(),
             Contains("-C " + project.folder.string()) &&
                 Contains("run --seed 7 -- python3 train.py --lr 0.5"));
  const std::string id = project.newest_id();
  CHECK_THAT(done(project.sabath, {"logs", id}).output, Contains("loss: 0.5"));
  CHECK_THAT(done(project.sabath, {"show", id}).output, Contains("accuracy"));
  CHECK_THAT(done(project.sabath, {"list", "runs"}).output, Contains(id));
}

TEST_CASE("first: different commands do not compare, and the reason names words or script") {
  const Project project;
  REQUIRE(project.run({"python3", "train.py", "--lr", "0.5"}).status == 0);
  REQUIRE(project.run({"python3", "train.py", "--lr", "0.6"}).status == 0);
  const Answer words = project.sabath({"compare", "@last~1", "@last"});
  CHECK(words.status == 4);
  CHECK_THAT(words.output, Contains("NOT-COMPARABLE") && Contains("parameter words differs"));
  REQUIRE(project.run({"python3", "train.py", "--lr", "0.6"}).status == 0);
  const Answer same = project.sabath({"compare", "@last~1", "@last"});
  CHECK(same.status == 3);  // no recipe says which metrics are results
  CHECK_THAT(same.output, Contains("command/accuracy is equal to the bit"));
  std::ofstream(project.folder / "train.py", std::ios::app) << "# edited\n";
  REQUIRE(project.run({"python3", "train.py", "--lr", "0.6"}).status == 0);
  const Answer edited = project.sabath({"compare", "@last~1", "@last"});
  CHECK(edited.status == 4);
  CHECK_THAT(edited.output, Contains("parameter script differs"));
}

TEST_CASE("first: a file that a command writes does not define it") {
  const Project project;
  for (int i = 0; i < 2; ++i)
    REQUIRE(project.run({"python3", "train.py", "--out", "w.json"}).status == 0);
  CHECK_THAT(project.sabath({"compare", "@last~1", "@last"}).output,
             Contains("command/accuracy is equal to the bit"));
}

TEST_CASE("first: a run of a command is repeated in its folder, or says why not") {
  const Project project;
  REQUIRE(project.run({"python3", "train.py"}).status == 0);
  const std::string id = project.newest_id();
  const Answer again = project.sabath({"repro", id});
  INFO(again.output + again.errors);
  CHECK(again.status == 3);
  CHECK_THAT(again.output, Contains("command/accuracy is equal to the bit"));
  std::ofstream(project.folder / "train.py", std::ios::app) << "# edited\n";
  const Answer edited = project.sabath({"repro", id});
  CHECK(edited.status == 11);
  CHECK_THAT(edited.errors, Contains("train.py: is not what it was"));
  fs::remove_all(project.folder);
  const Answer gone = project.sabath({"repro", id});
  CHECK(gone.status == 10);
  CHECK_THAT(gone.errors, Contains("the folder is gone"));
}

TEST_CASE("first: words after -- that are no command are refused, each with a hint") {
  const Project project;
  const Answer none = project.run({"no-such-program"});
  CHECK(none.status == 10);
  CHECK_THAT(none.errors, Contains("command not found"));
  const Answer bare = project.run({"train.py"});
  CHECK(bare.status == 10);
  CHECK_THAT(bare.errors, Contains("sabath run -- python train.py"));
  const Answer recipe = project.run({"digits"});
  CHECK(recipe.status == 2);
  CHECK_THAT(recipe.errors, Contains("is a recipe") && Contains("sabath run digits"));
  const Answer set = project({"run", "--set", "a=1", "--", "true"});
  CHECK(set.status == 2);
  CHECK_THAT(set.errors, Contains("needs a recipe"));
  const Answer bound = project({"run", "python3", "train.py"});
  CHECK(bound.status == 2);
  CHECK_THAT(bound.errors, Contains("sabath run -- python3"));
  CHECK(project.sabath.count_runs() == 0);
}

TEST_CASE("first: a command that fails, reads the terminal, has braces, or leaves a process") {
  const Project project;
  const Answer failed = project.run({"sh", "-c", "echo gone; exit 3"});
  CHECK(failed.status == 1);
  CHECK_THAT(failed.output, Contains("gone"));
  const Answer asking = project.run({"sh", "-c", "read word || echo nothing to read"});
  CHECK(asking.status == 0);
  CHECK_THAT(asking.output, Contains("nothing to read"));
  const Answer braces = project.run({"echo", "{seed}", "[a,b]", ""});
  CHECK(braces.status == 0);
  CHECK_THAT(braces.output, Contains("{seed} [a,b] \n"));
  const Answer forks = project.run({"sh", "-c", "sleep 987 & echo left"});
  CHECK(forks.status == 0);
  CHECK(processes_with("987").empty());
}

TEST_CASE("first: init makes a recipe of a run, which is valid and runs") {
  const Project project;
  REQUIRE(project.run({"python3", "train.py", "--lr", "0.25"}).status == 0);
  const Answer made = project({"init", "@last", "--to", "mine"});
  INFO(made.output + made.errors);
  REQUIRE(made.status == 0);
  CHECK_THAT(made.output, Contains("guessed: metric loss"));
  const json document = json::parse(text_of(project.folder / "mine/recipe.json"));
  CHECK(document["parameters"]["lr"]["default"] == 0.25);
  CHECK(document["metrics"]["loss"]["from"] == "key_value");
  CHECK(document["metrics"]["accuracy"]["better"] == "higher");
  CHECK_THAT(text_of(project.folder / "mine/README.md"), Contains("## Guessed"));
  CHECK(project({"validate", "mine"}).status == 0);
  CHECK(project({"run", "./mine", "--dry-run"}).status == 0);
  const Answer again = project({"init", "@last", "--to", "mine"});
  CHECK(again.status == 2);
  CHECK_THAT(again.errors, Contains("overwrites nothing"));
  CHECK(project({"run", "./mine", "--seed", "1", "--set", "lr=1"}).status == 0);
  const json record = json::parse(project.sabath.newest());
  CHECK(record["recipe_name"] == "train");
}

TEST_CASE("first: init answers plainly where no recipe can be made") {
  const Project project;
  const auto refused = [&](const std::vector<std::string>& words, int status, const char* part) {
    const Answer answer = project(words);
    CHECK(answer.status == status);
    CHECK_THAT(answer.errors, Contains(part));
  };
  fs::create_directories(project.folder / "empty");
  refused({"init", "empty"}, 10, "has no script");
  write_text(project.folder / "bad.py", "def f(:\n");
  refused({"init", "bad.py"}, 2, "line 1");
  write_text(project.folder / "empty/note.ipynb", "{}");
  refused({"init", "empty/note.ipynb"}, 2, "nbconvert");
  refused({"init", "empty"}, 10, "nbconvert");
  refused({"init", "nowhere"}, 10, "nowhere");
  CHECK(project({"init", "--json"}).status == 0);  // train.py of this folder
  CHECK(fs::exists(project.folder / "train-recipe/code/train.py"));
}

TEST_CASE("first: the tutorial executes what it shows, and leaves nothing") {
  const Project project;
  const Answer answer = project({"learn"});
  INFO(answer.output + answer.errors);
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.output,
             Contains("$ sabath run --seed 1 -- python3 train.py --rate 0.1") &&
                 Contains("NOT-COMPARABLE") && Contains("recipe train in train-recipe") &&
                 Contains("sabath help compare"));
  const auto begin = answer.output.find('/', answer.output.find("own: "));
  const fs::path place = answer.output.substr(begin, answer.output.find('\n') - begin);
  CHECK_FALSE(fs::exists(place));
  CHECK(project.sabath.count_runs() == 0);
}
