#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/exchange/asset_names.hpp>
#include <sabath/exchange/upstream.hpp>
#include <sabath/spec/recipe.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>

using namespace sabath;
using exchange::ImportedAsset;
using exchange::read_upstream;
using exchange::UpstreamDocument;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const UpstreamDocument data{"Data_1", R"({"name": "data one", "fragments": [
    {"id": "main", "url": "https://example.org/d/set.tar", "type": "archive", "size": 12,
     "checksum": {"md5": "d41d8cd98f00b204e9800998ecf8427e",
                  "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "crc": "1"}},
    {"id": "page", "url": "https://github.com/o/r/blob/main/a/in.yaml", "type": "file"},
    {"id": "raw", "url": "https://github.com/o/r/raw/master/b/in.yaml", "type": "file"}]})"};

const UpstreamDocument model{"MyModel", R"({"name": "My Model", "abstract": "a", "description": "b",
    "homepage": "https://example.org/", "references": ["https://doi.org/10.1/x", "https://example.org/paper"],
    "requirements": {"python": ">=3.8", "pip": ["numpy", "netcdf4=1.5.3"], "system_modules": ["cuda/11.8.0"]},
    "env_vars": {"A": "$CUDA_HOME"},
    "git": {"origin": "https://github.com/o/r", "PnetCDF": "https://github.com/p/q.git"},
    "forks": [{"git": ["https://github.com/f/r.git"]}],
    "run": {"Data_1": ["sed 's!{dataset.main}!x!' {source}/a.py > ${HOME}", "python a.py {dataset.main.dir} {dataset}"],
            "other": ["echo {dataset.raw}"]}})"};

const ImportedAsset& asset(const exchange::UpstreamImport& import, const std::string& name) {
  const auto found = std::ranges::find_if(
      import.assets, [&](const ImportedAsset& one) { return one.asset.name == name; });
  REQUIRE(found != import.assets.end());
  return *found;
}

bool has_note(const ImportedAsset& imported, const std::string& part) {
  return std::ranges::any_of(imported.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

}  // namespace

TEST_CASE("upstream: fragments become files") {
  const auto import = read_upstream({data});
  const ImportedAsset& imported = asset(import, "data_1");
  CHECK(imported.asset.title == "data one");
  CHECK(spec::former_names(imported.asset) == std::vector<std::string>{"Data_1", "data one"});
  const auto& files = imported.asset.files;
  REQUIRE(files.size() == 3);
  CHECK(files[0].unpack == "tar");
  CHECK(files[0].size_bytes == 12U);
  CHECK(files[0].digests.size() == 2);
  CHECK(files[1].sources.at(0) == "https://raw.githubusercontent.com/o/r/main/a/in.yaml");
  CHECK(files[1].path == "in.yaml");
  CHECK(files[2].path == "raw/in.yaml");
  CHECK(has_note(imported, "is a web page"));
  CHECK(has_note(imported, "the branch 'master', which moves"));
  CHECK(has_note(imported, "checksum 'crc' is not one"));
}

TEST_CASE("upstream: a list of files keeps its limit") {
  const auto import =
      read_upstream({{"l", R"({"name":"l","fragments":[{"id":"a","url":"https://e.org/l.txt",
      "type":"file_list","limit":3}]})"}});
  CHECK(import.assets.at(0).asset.list == "https://e.org/l.txt");
  CHECK(import.assets.at(0).asset.limit == 3U);
}

TEST_CASE(
    "upstream: a model without a commit is open, and one with a commit has its code as data") {
  const auto open = read_upstream({data, model});
  const spec::Asset& described = asset(open, "mymodel").asset;
  CHECK_FALSE(described.code->open.empty());
  CHECK(described.identifier == "10.1/x");
  CHECK(described.description == "a\n\nb");
  CHECK(has_note(asset(open, "mymodel"), "netcdf4=1.5.3"));
  CHECK(has_note(asset(open, "mymodel"), "PnetCDF"));
  CHECK(json::parse(described.extensions.at("x-upstream"))["requirements"] ==
        json{"netcdf4=1.5.3"});
  const std::string commit(40, 'c');
  const auto pinned = read_upstream({data, model}, commit);
  CHECK(asset(pinned, "mymodel").asset.code->commit == commit);
  CHECK(asset(pinned, "mymodel-source").asset.list == "git+https://github.com/o/r@" + commit);
}

TEST_CASE("upstream: commands become a recipe that sabath reads") {
  const auto import = read_upstream({data, model}, std::string(40, 'c'));
  REQUIRE(import.recipes.size() == 1);
  const spec::Recipe recipe = spec::parse_recipe(import.recipes[0].document, "recipe.json");
  CHECK(recipe.stages.size() == 2);
  CHECK(recipe.parameter("experiment") != nullptr);
  const std::string text = json::parse(import.recipes[0].document)["stages"][0]["run"]["shell"];
  CHECK(text.find("sed 's!{dataset.data}/set!x!' {output}/source/a.py > ${{HOME}}") !=
        std::string::npos);
  CHECK(text.find("python a.py {dataset.data} {dataset.data}") != std::string::npos);
  CHECK(recipe.environment.layers.size() == 2);
}

TEST_CASE("upstream: a data set that is called like a model gets another name") {
  UpstreamDocument same = data;
  same.name = "MyModel";
  const auto import = read_upstream({same, model});
  CHECK(asset(import, "mymodel-data").asset.kind == spec::AssetKind::dataset);
  CHECK(asset(import, "mymodel").asset.kind == spec::AssetKind::model);
}

TEST_CASE("upstream: wrong documents are errors with their place") {
  for (const char* text :
       {R"({"name":"x","fragments":[]})",
        R"({"name":"x","fragments":[{"id":"a"}]})",
        R"({"name":"x","fragments":[{"id":"a","url":"https://e.org/a","type":"zip"}]})",
        R"({"name":"x","git":{}})",
        R"({"name":"x"})",
        R"({"fragments": )"})
    CHECK_THROWS_AS(read_upstream({{"x", text}}), base::Error);
}

TEST_CASE("upstream: all published documents are read") {
  const char* named = std::getenv("SABATH_FIXTURES");  // NOLINT(concurrency-mt-unsafe)
  const fs::path folder =
      (named != nullptr ? fs::path(named) : fs::path(SABATH_SOURCE_DIR) / "../shared/fixtures") /
      "upstream-sabath";
  if (!fs::is_directory(folder)) {
    WARN("skipped: no published documents at " << folder);
    return;
  }
  std::vector<UpstreamDocument> documents;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().extension() == ".json")
      documents.push_back({entry.path().stem(), base::read_file(entry.path())});
  const auto import = read_upstream(documents);
  CHECK(import.assets.size() == 12);
  CHECK(import.recipes.size() == 5);
  std::size_t with_digest = 0;
  std::size_t pages = 0;
  for (const ImportedAsset& one : import.assets) {
    for (const spec::AssetFile& file : one.asset.files)
      if (!file.digests.empty()) ++with_digest;
    for (const std::string& note : one.notes)
      if (note.find("is a web page") != std::string::npos) ++pages;
  }
  CHECK(with_digest == 3);
  CHECK(pages == 4);
  for (const auto& recipe : import.recipes)
    CHECK_NOTHROW(spec::parse_recipe(recipe.document, recipe.name));
}

TEST_CASE("upstream: mutated documents give assets or an error") {
  std::mt19937 random(3);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  constexpr std::string_view pieces = "{}[]\",:0@#%/\\.nulltrue-1e9";
  for (int round = 0; round < 2000; ++round) {
    UpstreamDocument changed = round % 2 == 0 ? data : model;
    for (int edit = 0; edit < 1 + round % 3; ++edit) {
      const std::size_t at = random() % changed.text.size();
      if (random() % 2 == 0) {
        changed.text[at] = pieces[random() % pieces.size()];
      } else {
        changed.text.erase(at, 1 + random() % 6);
      }
    }
    try {
      read_upstream({data, changed});
    } catch (const base::Error&) {
    }
  }
}

TEST_CASE("names of assets are made of any text") {
  using exchange::asset_name_of;
  CHECK(asset_name_of("My Data: 1") == "my-data-1");
  CHECK(asset_name_of("cosmoUniverse_2019_05_4parE") == "cosmouniverse_2019_05_4pare");
  CHECK(asset_name_of("..x--") == "x");
  CHECK(asset_name_of("日本") == "asset");
  CHECK(asset_name_of(std::string(100, 'a')).size() == 64);
}
