// What ships in catalog/: every document is right, and no two have one name.
#include "schema_checker.hpp"

#include <sabath/base/file.hpp>
#include <sabath/spec/asset.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <set>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

struct Shipped {
  fs::path path{};
  std::string text{};
  spec::Asset asset{};
};

std::vector<Shipped> shipped() {
  std::vector<Shipped> documents;
  for (const auto& entry :
       fs::recursive_directory_iterator(fs::path(SABATH_SOURCE_DIR) / "catalog")) {
    const fs::path folder = entry.path().parent_path().filename();
    const bool is_asset = folder != "schedulers" && folder != "tools";
    if (!entry.is_regular_file() || !is_asset) continue;
    Shipped document{entry.path(), base::read_file(entry.path()), {}};
    INFO(document.path);
    REQUIRE(document.path.extension() == ".json");
    document.asset = spec::parse_asset(document.text, document.path.string());
    documents.push_back(std::move(document));
  }
  return documents;
}

std::vector<spec::AssetFile> all_files(const spec::Asset& asset) {
  std::vector<spec::AssetFile> files = asset.files;
  files.insert(files.end(), asset.manifest.begin(), asset.manifest.end());
  return files;
}

}  // namespace

TEST_CASE("catalog: every document that ships is right, and its schema agrees") {
  test::SchemaChecker schema("asset");
  for (const Shipped& document : shipped()) {
    INFO(document.path);
    CHECK(schema.problems(nlohmann::json::parse(document.text)) == std::vector<std::string>{});
  }
}

TEST_CASE("catalog: a document has the name of its file, and lies in the folder of its kind") {
  std::set<std::pair<std::string, std::string>> names;
  for (const Shipped& document : shipped()) {
    INFO(document.path);
    CHECK(document.path.stem() == document.asset.name);
    CHECK(document.path.parent_path().filename() ==
          std::string(to_string(document.asset.kind)) + "s");
    CHECK(names.emplace(to_string(document.asset.kind), document.asset.name).second);
  }
  CHECK(names.size() >= 20);
}

TEST_CASE("catalog: what ships says what it is, where it is from, and how it is had") {
  for (const Shipped& document : shipped()) {
    INFO(document.path);
    const spec::Asset& asset = document.asset;
    CHECK_FALSE(asset.title.empty());
    CHECK_FALSE(asset.description.empty());
    CHECK_FALSE(asset.keywords.empty());
    if (asset.generate) continue;
    if (asset.code || asset.kind != spec::AssetKind::model) CHECK_FALSE(asset.homepage.empty());
    for (const spec::AssetFile& file : all_files(asset)) {
      for (const std::string& source : file.sources)
        CHECK_FALSE(source.starts_with("file:"));
    }
    if (asset.access.policy == "login") CHECK_FALSE(asset.access.steps.empty());
  }
}
