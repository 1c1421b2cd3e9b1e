#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/drafts/recipe_draft.hpp>
#include <sabath/spec/recipe.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

using namespace sabath;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

constexpr const char* script = R"(import argparse, json
import helper
import a_package_of_nobody
p = argparse.ArgumentParser()
p.add_argument("--learning-rate", "-l", type=float, default=1, help="of {SGD}")
p.add_argument("--epochs", type=int)
p.add_argument("--seed", type=int, default=0)
p.add_argument("--mode", choices=["fast", "slow"], default="fast")
p.add_argument("--out", default="weights.npz")
a = p.parse_args()
print(f"step 1 loss: {0.5} accuracy={1}")
)";

spec::Recipe drafted(drafts::DraftRequest request, drafts::RecipeDraft& draft) {
  base::SystemProcessRunner processes;
  draft = drafts::draft_recipe(request, processes, {});
  return spec::parse_recipe(draft.document, "test");
}

bool guesses(const drafts::RecipeDraft& draft, const std::string& part) {
  return std::ranges::any_of(draft.guesses, [&](const std::string& guess) {
    return guess.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("a draft has the arguments of a script as parameters, and says what it guessed") {
  const base::TempDir folder(fs::temp_directory_path());
  base::write_file_atomically(folder.path() / "train.py", script);
  base::write_file_atomically(folder.path() / "helper.py", "import os\n");
  drafts::RecipeDraft draft;
  drafts::DraftRequest request;
  request.folder = folder.path();
  request.script = "train.py";
  const spec::Recipe recipe = drafted(request, draft);
  REQUIRE(recipe.parameter("learning_rate") != nullptr);
  CHECK(recipe.parameter("learning_rate")->type == spec::ParameterType::real);
  CHECK(recipe.parameter("mode")->type == spec::ParameterType::enumeration);
  CHECK(recipe.parameter("epochs") == nullptr);  // optional, and nobody gave it
  CHECK(recipe.parameter("seed") == nullptr);
  CHECK(recipe.stages.front().outputs == std::vector<std::string>{"weights.npz"});
  CHECK(recipe.metrics.size() == 2);
  CHECK(guesses(draft, "import a_package_of_nobody"));
  CHECK(guesses(draft, "--seed gets the seed"));
  CHECK(draft.sources == std::vector<fs::path>{"helper.py", "train.py"});

  request.arguments = {"--epochs", "3", "-l=0.5", "more"};
  request.log = "loss: 1\nmae=0.5\nepoch 3 held_out 0.25 after 1.5 s\n";
  const spec::Recipe of_run = drafted(request, draft);
  CHECK(of_run.parameter("epochs")->default_value == spec::ParameterValue(std::int64_t{3}));
  CHECK(of_run.parameter("learning_rate")->default_value == spec::ParameterValue(0.5));
  CHECK(of_run.stages.front().run.back() == "more");
  CHECK(of_run.metrics.size() == 3);  // loss, mae, held_out

  const fs::path to = folder.path() / "recipe";
  drafts::write_draft(draft, to);
  CHECK_THAT(base::read_file(to / "README.md"), Contains("- import a_package_of_nobody"));
  CHECK_THROWS_WITH(drafts::write_draft(draft, to), Contains("overwrites nothing"));
}

TEST_CASE("packages are pinned by the requirements, else by the active environment") {
  const base::TempDir folder(fs::temp_directory_path());
  base::write_file_atomically(folder.path() / "a.py", "import pip\nimport numpy\n");
  base::write_file_atomically(folder.path() / "requirements.txt", "numpy >= 1.2 # so\npip\n");
  drafts::RecipeDraft draft;
  drafts::DraftRequest request;
  request.folder = folder.path();
  request.script = "a.py";
  drafted(request, draft);
  CHECK_THAT(draft.document, Contains("numpy>=1.2"));
}

TEST_CASE("the script of a folder is found, or the error names what there is") {
  const base::TempDir folder(fs::temp_directory_path());
  const auto& place = folder.path();
  CHECK_THROWS_WITH(drafts::script_of_folder(place), Contains("has no script"));
  base::write_file_atomically(place / "b.py", "");
  CHECK(drafts::script_of_folder(place) == "b.py");
  base::write_file_atomically(place / "a.py", "");
  CHECK_THROWS_WITH(drafts::script_of_folder(place), Contains("several scripts: a.py, b.py"));
  base::write_file_atomically(place / "train.py", "");
  CHECK(drafts::script_of_folder(place) == "train.py");
  base::write_file_atomically(place / "recipe.json", "{}");
  CHECK_THROWS_WITH(drafts::script_of_folder(place), Contains("overwrites nothing"));
}
