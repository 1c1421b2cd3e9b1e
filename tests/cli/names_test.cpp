// Names that a user types and that do not exist: an error with the nearest one, in every command.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// Two runs that no verdict compares: `hidden` affects the result.
class TwoWidths {
 public:
  TwoWidths() {
    const std::string recipe = sabath.shell_recipe(
        "widths",
        R"(echo "{{\"step\": 1, \"val_mse\": {param.hidden}.0{seed}}}" >> $SABATH_METRICS)",
        R"({"parameters": {"hidden": {"type": "int", "default": 32}, "lr": {"type": "float", "default": 0.001}},
            "metrics": {"val_mse": {"unit": "1", "better": "lower"}}})");
    done(sabath, {"run", recipe, "--seeds", "1..2"});
    done(sabath, {"run", recipe, "--seeds", "1..2", "--set", "hidden=64"});
  }

  /// Refused with status 2, with these words in the error and this guess as hint.
  void refuses(const std::vector<std::string>& words,
               const std::string& problem,
               const std::string& guess) const {
    const Answer answer = sabath(words);
    INFO(Catch::Detail::stringify(words) << "\n" << answer.output << answer.errors);
    CHECK(answer.status == 2);
    CHECK(answer.output.empty());
    CHECK_THAT(answer.errors, Contains(problem));
    CHECK_THAT(answer.errors, Contains(guess));
  }

  const Sabath sabath{};
};

}  // namespace

TEST_CASE("cli: a parameter that no recipe and no run has is an error in every selection") {
  const TwoWidths runs;
  const std::string problem = "no parameter or metric is called 'hiden'";
  const std::string guess = "did you mean 'hidden'?";
  const std::string wrong = "recipe=widths,hiden=32";
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"list", "runs", wrong},
                                             {"compare", wrong},
                                             {"compare", wrong, "@last"},
                                             {"compare", "@last", wrong},
                                             {"compare", "@last~1", "@last", "--envelope", wrong},
                                             {"report", wrong, "-o", "x.html"},
                                             {"check", wrong},
                                             {"baseline", "propose", wrong, "-o", "b.json"},
                                             {"explain", wrong, "@last"},
                                             {"repro", wrong},
                                             {"collect", wrong},
                                             {"logs", wrong},
                                             {"show", wrong},
                                             {"status", wrong},
                                             {"wait", wrong},
                                             {"cancel", wrong}}) {
    runs.refuses(words, problem, guess);
  }
  // What a shipped recipe has is a name, though no run has it.
  CHECK(runs.sabath({"list", "runs", "hidden=99"}).status == 0);
  CHECK(runs.sabath({"list", "runs", "epochs=1"}).status == 0);
}

TEST_CASE("cli: seeds that are no numbers, operators and states that do not exist are errors") {
  const TwoWidths runs;
  runs.refuses({"list", "runs", "seed=abc"}, "'abc' is not a seed", "seed=1");
  runs.refuses({"list", "runs", "lr=~0.001"}, "the operator '=~' is not supported", "lr=VALUE");
  runs.refuses({"compare", "lr=>0.001"}, "the operator '=>' is not supported", "lr=VALUE");
  runs.refuses({"list", "runs", "status=okay"}, "'okay' is not a state", "did you mean 'ok'?");
}

TEST_CASE("cli: recipes, studies, stages and facets that a selection cannot name are errors") {
  const TwoWidths runs;
  runs.refuses({"list", "runs", "recipe=width"}, "no recipe is called 'width'", "'widths'?");
  runs.refuses({"list", "runs", "recipe=m3"}, "no recipe is called 'm3'", "sabath list recipes");
  runs.refuses({"logs", "@last", "--stage", "go2"}, "no stage 'go2'", "did you mean 'go'?");
  runs.refuses({"list", "runs", "study=xx"}, "no study is called 'xx'", "sabath list studies");
  runs.refuses({"list", "runs", "study=widths-stud"},
               "no study is called 'widths-stud'",
               "did you mean 'widths-study-");
  runs.refuses({"list", "runs", "determinism.OPENBLAS_CORETYP=1"},
               "'determinism.OPENBLAS_CORETYP' is not a parameter, and facets cannot be terms",
               "sabath help selections");
  CHECK(runs.sabath({"list", "runs", "recipe=supercell"}).status == 0);
  CHECK(runs.sabath({"list", "runs", "study=widths-*"}).status == 0);
}

TEST_CASE("cli: show names the nearest recipe or asset") {
  const Sabath sabath;
  const Answer answer = sabath({"show", "supercel"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("no recipe, asset, run or study is called that"));
  CHECK_THAT(answer.errors, Contains("did you mean 'supercell'?"));
}

TEST_CASE("cli: a wrong key or metric is told before NOT-COMPARABLE") {
  const TwoWidths runs;
  const std::string all = "recipe=widths";
  CHECK(runs.sabath({"compare", all, "--by", "seed"}).status == 4);
  runs.refuses({"compare", all, "--by", "hiden"}, "--by hiden", "did you mean 'hidden'?");
  runs.refuses({"compare", all, "--by", "param.hiden"}, "--by", "did you mean 'param.hidden'?");
  runs.refuses({"compare", all, "--by", "host.cpu.modl"}, "--by", "'host.cpu.model'?");
  runs.refuses({"compare", all, "--by", "seed", "--across", "hiden"}, "--across", "'hidden'?");
  runs.refuses({"compare", all, "--by", "seed", "--margin", "val_mze=1"},
               "--margin val_mze: no metric has that name",
               "did you mean 'val_mse'?");
  runs.refuses({"compare", all + ",hidden=32", all + ",hidden=64", "--margin", "go/val_mze=1"},
               "--margin go/val_mze: no metric has that name",
               "did you mean 'go/val_mse'?");
  runs.refuses({"compare", all, "--by", "seed", "--margin", "val_mse=1,loss=2"},
               "--margin val_mse=1,loss: no metric has that name",
               "one --margin for each metric: --margin val_mse=1 --margin loss=X");
  const std::string file = (runs.sabath.folder() / "r.html").string();
  runs.refuses({"report", all, "--by", "hiden", "-o", file}, "--by hiden", "'hidden'?");
  runs.refuses({"report", all, "--across", "hiden", "-o", file}, "--across hiden", "'hidden'?");
  // Of runs that are all failed, too.
  const std::string failing = runs.sabath.shell_recipe("widths", "exit 3");
  CHECK(runs.sabath({"run", failing}).status == 1);
  runs.refuses({"compare", all + ",state=failed", "--by", "recpe"}, "--by recpe", "'recipe'?");
}

TEST_CASE("cli: a folder of --catalog that does not exist is an error in every command") {
  const Sabath sabath;
  const std::filesystem::path further = sabath.folder() / "further";
  std::filesystem::create_directories(further);
  const std::string wrong = (sabath.folder() / "furter").string();
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"list", "recipes"}, {"run", "supercell"}, {"show", "supercell"}, {"verify", "x"}}) {
    for (const std::string& typed : {wrong, wrong + "/"}) {
      std::vector<std::string> all{"--catalog", typed};
      all.insert(all.end(), words.begin(), words.end());
      const Answer answer = sabath(all);
      INFO(answer.errors);
      CHECK(answer.status == 2);
      CHECK_THAT(answer.errors, Contains("is not a folder"));
      CHECK_THAT(answer.errors, Contains("did you mean '" + further.string() + "'?"));
    }
  }
  CHECK(sabath({"--catalog", further.string() + "/", "list", "recipes"}).status == 0);
}

TEST_CASE("cli: in a home without runs an unknown name is a warning") {
  const Sabath sabath;
  const Answer answer = sabath({"list", "runs", "hiden=32"});
  CHECK(answer.status == 0);
  CHECK(answer.output == "no run matches\n");
  CHECK_THAT(answer.errors, Contains("no parameter or metric is called 'hiden'"));
  CHECK_THAT(sabath({"list", "runs", "study=xx"}).errors, Contains("no study is called 'xx'"));
  CHECK(sabath({"list", "runs", "study=xx"}).status == 0);
  CHECK(sabath({"list", "runs", "seed=abc"}).status == 2);
}

TEST_CASE("cli: a recipe and an asset of one name are both shown, or the one that is asked for") {
  const Sabath sabath;
  fs::create_directories(sabath.home() / "recipes/twin");
  sabath.asset("twin",
               R"({"schema": 1, "kind": "dataset", "name": "twin", "title": "the data of it",
                   "generate": {"recipe": "twin", "stage": "go"}})");
  write_text(sabath.home() / "recipes/twin/recipe.json",
             R"({"schema": 1, "name": "twin", "description": "the code of it",
                 "stages": [{"name": "go", "run": ["true"]}]})");
  const std::string both = sabath({"show", "twin"}).output;
  CHECK_THAT(both, Contains("the code of it") && Contains("the data of it"));
  const std::string one = sabath({"show", "asset:twin"}).output;
  CHECK_THAT(one, Contains("the data of it") && !Contains("the code of it"));
  CHECK_THAT(sabath({"show", "recipe:twin"}).output, !Contains("the data of it"));
  const json answer = json::parse(sabath({"show", "twin", "--json"}).output);
  CHECK(answer["recipe"]["description"] == "the code of it");
  CHECK(answer["asset"]["title"] == "the data of it");
  const Answer none = sabath({"show", "recipe:twix"});
  CHECK(none.status == 10);
  CHECK_THAT(none.errors, Contains("no recipe is called 'twix'") && Contains("did you mean"));
}
