#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/home/documents.hpp>

#include <fstream>

using namespace sabath;
using home::BadDocument;
using home::Documents;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

/// Folders of documents: "own" comes before "shipped".
class Shelf {
 public:
  void put_asset(const std::string& file, const std::string& name, const std::string& title) {
    write(file,
          R"({"schema": 1, "kind": "dataset", "name": ")" + name +
              R"(", "version": "1", "title": ")" + title +
              R"(", "files": [{"path": "x", "sources": ["https://example.org/x"]}]})");
  }
  void put_recipe(const std::string& file, const std::string& name, const std::string& text) {
    write(file,
          R"({"schema": 1, "name": ")" + name + R"(", "description": ")" + text +
              R"(", "stages": [{"name": "one", "run": ["true"]}]})");
  }
  void write(const std::string& file, const std::string& text) {
    fs::create_directories((home_ / file).parent_path());
    std::ofstream(home_ / file) << text;
  }
  Documents documents() const {
    const std::vector<fs::path> folders{home_ / "own", home_ / "none", home_ / "shipped"};
    return {folders, folders};
  }
  fs::path operator/(const std::string& name) const { return home_ / name; }

 private:
  test::TempHome home_;
};

}  // namespace

TEST_CASE("documents: schedulers lie beside assets and are none") {
  Shelf shelf;
  shelf.put_asset("shipped/datasets/mnist.json", "mnist", "shipped");
  shelf.write("shipped/schedulers/slurm.json", "{}");
  std::vector<BadDocument> bad;
  CHECK(shelf.documents().assets(bad).size() == 1);
  CHECK(bad.empty());
}

TEST_CASE("documents: an asset in an earlier folder hides the same name in a later one") {
  Shelf shelf;
  shelf.put_asset("shipped/datasets/mnist.json", "mnist", "shipped");
  shelf.put_asset("shipped/datasets/cosmo.json", "cosmo", "shipped");
  const std::string file = GENERATE("own/mnist.json", "own/datasets/mnist.json", "own/mine.json");
  shelf.put_asset(file, "mnist", "own");
  CHECK(shelf.documents().asset("mnist").title == "own");
  CHECK(shelf.documents().asset("cosmo").title == "shipped");
  std::vector<BadDocument> bad;
  const auto assets = shelf.documents().assets(bad);
  REQUIRE(assets.size() == 2);
  CHECK(assets[0].asset.title == "own");
  CHECK(assets[0].path == shelf / file);
  CHECK(bad.empty());
}

TEST_CASE("documents: a recipe in an earlier folder hides the same name in a later one") {
  Shelf shelf;
  shelf.put_recipe("shipped/tiny/recipe.json", "tiny", "shipped");
  shelf.put_recipe("shipped/other/recipe.json", "other", "shipped");
  const std::string file = GENERATE("own/tiny/recipe.json", "own/mine/recipe.json");
  shelf.put_recipe(file, "tiny", "own");
  const spec::Recipe recipe = shelf.documents().recipe("tiny");
  CHECK(recipe.description == "own");
  CHECK(recipe.directory == fs::canonical(shelf / file).parent_path());
  CHECK(shelf.documents().recipe("other").description == "shipped");
  std::vector<BadDocument> bad;
  const auto recipes = shelf.documents().recipes(bad);
  REQUIRE(recipes.size() == 2);
  CHECK(recipes[0].recipe.description == "own");
}

TEST_CASE("documents: a recipe is found by its file, its folder, and either through a link") {
  Shelf shelf;
  shelf.put_recipe("elsewhere/mine/recipe.json", "tiny", "mine");
  fs::create_directory_symlink(shelf / "elsewhere", shelf / "link");
  for (const char* path : {"elsewhere/mine/recipe.json", "elsewhere/mine", "link/mine"}) {
    const spec::Recipe recipe = shelf.documents().recipe((shelf / path).string());
    CHECK(recipe.name == "tiny");
    CHECK(recipe.directory == fs::canonical(shelf / "elsewhere/mine"));
  }
}

TEST_CASE("documents: an unknown name suggests the nearest, or says what lists them") {
  Shelf shelf;
  shelf.put_asset("own/cosmo.json", "cosmo", "x");
  shelf.put_recipe("shipped/supercell/recipe.json", "supercell", "x");
  const Documents documents = shelf.documents();
  const base::Error asset = error_of([&] { documents.asset("cosmos"); });
  CHECK(asset.kind() == base::ErrorKind::not_found);
  CHECK(contains(asset.what(), "asset 'cosmos': not found"));
  CHECK(asset.hint() == "did you mean 'cosmo'?");
  const base::Error recipe = error_of([&] { documents.recipe("supercel"); });
  CHECK(recipe.kind() == base::ErrorKind::not_found);
  CHECK(recipe.hint() == "did you mean 'supercell'?");
  CHECK(contains(error_of([&] { documents.asset("zzzz"); }).hint(), "sabath list assets"));
  CHECK(contains(error_of([&] { documents.recipe("\x1b[m"); }).what(), "\\x1b[m"));
}

TEST_CASE("documents: a path that is not there is not found, and named") {
  const Shelf shelf;
  const base::Error error =
      error_of([&] { shelf.documents().recipe((shelf / "none/recipe.json").string()); });
  CHECK(error.kind() == base::ErrorKind::not_found);
  CHECK(contains(error.what(), (shelf / "none/recipe.json").string()));
}

TEST_CASE("documents: one that is wrong is told, and disturbs no other") {
  Shelf shelf;
  shelf.put_asset("own/cosmo.json", "cosmo", "x");
  shelf.write("own/broken.json", "{");
  shelf.write("own/notes.txt", "{");
  shelf.put_recipe("shipped/tiny/recipe.json", "tiny", "x");
  shelf.write("shipped/wrong/recipe.json", "{}");
  const Documents documents = shelf.documents();
  CHECK(documents.asset("cosmo").name == "cosmo");
  const base::Error error = error_of([&] { documents.asset("broken"); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "own/broken.json"));
  CHECK(error_of([&] { documents.recipe("wrong"); }).kind() == base::ErrorKind::usage);
  std::vector<BadDocument> bad;
  CHECK(documents.recipes(bad).size() == 1);
  REQUIRE(bad.size() == 1);
  CHECK(bad.front().path == shelf / "shipped/wrong/recipe.json");
  CHECK(contains(bad.front().problem, "shipped/wrong/recipe.json"));
}

TEST_CASE(
    "documents: links that lead nowhere or round, and folders named like files, are passed by") {
  Shelf shelf;
  shelf.put_asset("own/cosmo.json", "cosmo", "x");
  shelf.put_recipe("own/tiny/recipe.json", "tiny", "x");
  fs::create_symlink("nowhere", shelf / "own/dangling.json");
  fs::create_symlink("round.json", shelf / "own/round.json");
  fs::create_symlink("round", shelf / "own/round");
  fs::create_directory(shelf / "own/folder.json");
  std::vector<BadDocument> bad;
  CHECK(shelf.documents().assets(bad).size() == 1);
  CHECK(shelf.documents().recipes(bad).size() == 1);
  CHECK(shelf.documents().asset("cosmo").title == "x");
}
