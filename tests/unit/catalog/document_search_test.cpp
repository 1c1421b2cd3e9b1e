#include "unit/catalog/catalog_home.hpp"

#include <sabath/spec/run_record.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using catalog::Catalog;
using Names = std::vector<std::string>;

namespace {

spec::Asset asset(const std::string& name, const std::string& description) {
  spec::Asset asset;
  asset.name = name;
  asset.version = "1";
  asset.title = "The data set " + name;
  asset.description = description;
  return asset;
}

/// A catalog with three data sets and a recipe.
class Library {
 public:
  Library() {
    catalog.put_asset(asset("thermals", "rising bubbles in the atmosphere"), "/a/thermals.json");
    catalog.put_asset(asset("cosmo", "halos of dark matter, one of them says thermals"),
                      "/a/cosmo.json");
    catalog.put_asset(asset("wetter", "Böen über São Paulo, it's NOT near; x-ray AND/OR (1*2)"),
                      "/a/wetter.json");
    spec::Recipe recipe;
    recipe.name = "supercell";
    recipe.description = "a surrogate of storms";
    recipe.datasets = {{"train", {{"thermals", {}}}}};
    recipe.metrics.emplace_back().name = "rollout_error";
    catalog.put_recipe(recipe, "/r/supercell/recipe.json");
  }
  Names found(std::string_view words) const { return test::names_of(catalog.search(words)); }

 private:
  test::CatalogHome home_;

 public:
  Catalog catalog{home_.file()};
};

}  // namespace

TEST_CASE("search: a name that is a word counts more than a text that has it") {
  const Library library;
  const Names names = library.found("thermals");
  REQUIRE(names.size() == 3);
  CHECK(names.front() == "thermals");
}

TEST_CASE("search: all words must be there, in any order, case and grammatical form") {
  const Library library;
  CHECK(library.found("matter DARK") == Names{"cosmo"});
  CHECK(library.found("bubble rise") == Names{"thermals"});
  CHECK(library.found("dark bubbles").empty());
  CHECK(library.found("rollout_error") == Names{"supercell"});
}

TEST_CASE("search: a final star stands for the rest of a word") {
  const Library library;
  CHECK(library.found("atmos*") == Names{"thermals"});
  CHECK(library.found("atmos").empty());
}

TEST_CASE("search: accents may be left out") {
  const Library library;
  CHECK(library.found("uber sao") == Names{"wetter"});
  CHECK(library.found("BÖEN") == Names{"wetter"});
}

TEST_CASE("search: what is an operator to SQLite is a word, or nothing") {
  const Library library;
  CHECK(library.found("AND OR") == Names{"wetter"});
  CHECK(library.found("it's NOT") == Names{"wetter"});
  CHECK(library.found("x-ray") == Names{"wetter"});
  CHECK(library.found("(1*2)") == Names{"wetter"});
  CHECK(library.found("dark AND bubbles").empty());
  CHECK(library.found("dark OR bubbles").empty());
  CHECK(library.found("name:cosmo").empty());
  CHECK(library.found("cosmo -dark") == Names{"cosmo"});
  CHECK(library.found("\"dark matter\"") == Names{"cosmo"});
}

TEST_CASE("search: odd words are harmless") {
  const Library library;
  const std::string words = GENERATE("\"",
                                     "\"\"\"",
                                     "(",
                                     ")",
                                     "*",
                                     "**",
                                     "\"*",
                                     "-*",
                                     "^",
                                     "NEAR(",
                                     "NEAR(a b, 3)",
                                     "{name}: x",
                                     "a + b",
                                     "';--",
                                     "\xff\xfe",
                                     "%",
                                     "\\",
                                     " \t\n",
                                     "");
  INFO(words);
  CHECK_NOTHROW(library.found(words));
  CHECK(library.found(words).size() < 4);
}

TEST_CASE("search: runs are found by id, tag, parameter and host, after the documents") {
  Library library;
  const spec::RunRecord record = test::numbered_record(1, "supercell");
  test::put(library.catalog, record);
  for (const char* words : {"ci", "epochs", "node1", "supercell-2026*"}) {
    INFO(words);
    CHECK(library.found(words) == Names{record.run_id});
  }
  CHECK(library.found("supercell") == Names{"supercell", record.run_id});
  const catalog::DocumentRow row = library.catalog.search("ci").front();
  CHECK(row.kind == "run");
  CHECK(row.version == "ok");
  CHECK(row.path == test::directory_of(record.run_id));
}

TEST_CASE("catalog: one path has one entry") {
  Library library;
  library.catalog.put_asset(asset("cosmo", "new words"), "/a/cosmo.json");
  CHECK(library.catalog.stats().documents == 4);
  CHECK(library.found("dark").empty());
  CHECK(library.found("new words") == Names{"cosmo"});
  const catalog::DocumentRow row = library.catalog.search("new words").front();
  CHECK(row.kind == "dataset");
  CHECK(row.version == "1");
  CHECK(row.title == "The data set cosmo");
  CHECK(row.path == "/a/cosmo.json");
}

TEST_CASE("catalog: only documents that were kept are found") {
  Library library;
  library.catalog.keep_only_documents({"/a/wetter.json", "/no/such.json", "/a/wetter.json"});
  CHECK(library.catalog.stats().documents == 1);
  CHECK(library.found("thermals").empty());
  CHECK(library.found("wetter") == Names{"wetter"});
  library.catalog.keep_only_documents({});
  CHECK(library.catalog.stats().documents == 0);
  CHECK(library.found("wetter").empty());
}
