#include <sabath/base/file.hpp>
#include <sabath/drafts/command_recipe.hpp>
#include <sabath/spec/recipe.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

struct Folder {
  base::TempDir place{fs::temp_directory_path()};
  void write(const std::string& name, const std::string& text) const {
    base::make_directories((place.path() / name).parent_path());
    base::write_file_atomically(place.path() / name, text);
  }
  drafts::CommandRecipe recipe(const std::vector<std::string>& words) const {
    return drafts::command_recipe(words, place.path());
  }
  base::Digest definition(const std::vector<std::string>& words) const {
    return spec::parse_recipe(recipe(words).document, "test").definition_digest();
  }
};

}  // namespace

TEST_CASE("the recipe of a command has its words and the scripts that they name") {
  const Folder folder;
  folder.write("src/Train Me.py", "print(1)\n");
  folder.write("conf.yaml", "a: 1\n");
  const auto recipe = folder.recipe({"python", "src/Train Me.py", "--config=conf.yaml", "{x}"});
  CHECK(recipe.name == "train-me");
  const spec::Recipe parsed = spec::parse_recipe(recipe.document, "test");
  CHECK(parsed.stages.front().run.back() == "{{x}}");
  REQUIRE(parsed.parameters.size() == 3);
  CHECK(parsed.fixed == std::vector<std::string>{"words", "script", "script2"});
  CHECK(parsed.seed_environment == std::vector<std::string>{"SABATH_SEED"});
}

TEST_CASE("another word, or another script, is another definition") {
  const Folder folder;
  folder.write("a.py", "1\n");
  const base::Digest first = folder.definition({"python", "a.py", "1"});
  CHECK(first == folder.definition({"python", "a.py", "1"}));
  CHECK(first != folder.definition({"python", "a.py", "2"}));
  folder.write("a.py", "2\n");
  CHECK(first != folder.definition({"python", "a.py", "1"}));
}

TEST_CASE("what a command writes, and data, are not its definition") {
  const Folder folder;
  folder.write("a.py", "1\n");
  const std::vector<std::string> words{
      "python", "a.py", "--out", "o.json", "d.csv", "--save=s.toml"};
  const base::Digest before = folder.definition(words);
  for (const char* const name : {"o.json", "d.csv", "s.toml"})
    folder.write(name, "1\n");
  CHECK(folder.definition(words) == before);
}

TEST_CASE("sources are kept, but not environments, hidden folders and results") {
  const Folder folder;
  folder.write("a.py", "1\n");
  folder.write("lib/b.py", "1\n");
  folder.write(".hidden/c.py", "1\n");
  folder.write("venv/pyvenv.cfg", "");
  folder.write("venv/lib/d.py", "1\n");
  folder.write("result.json", "{}");
  const auto recipe = folder.recipe({"python", "-m", "lib.b"});
  CHECK(recipe.sources == std::vector<fs::path>{"a.py", "lib/b.py"});
  CHECK(recipe.name == "b");
  const base::TempDir to(fs::temp_directory_path());
  drafts::write_command_recipe(recipe, folder.place.path(), to.path());
  CHECK(base::read_file(to.path() / "code/lib/b.py") == "1\n");
}
