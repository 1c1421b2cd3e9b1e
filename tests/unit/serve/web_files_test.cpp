#include "serve/web_files.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>

using namespace sabath;
namespace fs = std::filesystem;

TEST_CASE("web files: what is served is what lies in the tree") {
  const fs::path tree = fs::path(SABATH_SOURCE_DIR) / "src/serve/web";
  std::set<std::string> served;
  for (const serve::WebFile& file : serve::web_files()) {
    CAPTURE(file.name);
    CHECK(base::read_file(tree / file.name) == file.bytes);
    served.insert(std::string(file.name));
  }
  std::set<std::string> found;
  for (const auto& entry : fs::recursive_directory_iterator(tree)) {
    if (entry.is_regular_file()) found.insert(fs::relative(entry.path(), tree).string());
  }
  CHECK(served == found);
}

TEST_CASE("web files: vendored files have the digests that their origin states") {
  const fs::path vendor = fs::path(SABATH_SOURCE_DIR) / "src/serve/web/vendor";
  std::size_t checked = 0;
  for (const auto& folder : fs::directory_iterator(vendor)) {
    const auto origin = nlohmann::json::parse(base::read_file(folder.path() / "origin.json"));
    CHECK(folder.path().filename().string() ==
          origin["name"].get<std::string>() + "-" + origin["version"].get<std::string>());
    CHECK(origin["integrity"].get<std::string>().starts_with("sha512-"));
    std::set<std::string> named{"origin.json"};
    for (const auto& [name, digest] : origin["files"].items()) {
      CHECK(base::sha256_of(base::read_file(folder.path() / name)).text() == digest);
      named.insert(name);
      ++checked;
    }
    for (const auto& file : fs::directory_iterator(folder.path()))
      CHECK(named.contains(file.path().filename().string()));
    CHECK(named.contains("LICENSE"));
  }
  CHECK(checked > 0);
}

TEST_CASE("web files: the shell names all modules, so that none waits for another") {
  const auto shell = std::ranges::find(serve::web_files(), "index.html", &serve::WebFile::name);
  REQUIRE(shell != serve::web_files().end());
  for (const serve::WebFile& file : serve::web_files()) {
    const bool is_module = file.name.ends_with(".esm.js") ||
                           (file.name.ends_with(".js") && !file.name.starts_with("vendor/"));
    CAPTURE(file.name);
    if (is_module)
      CHECK(shell->bytes.find("{web}/" + std::string(file.name)) != std::string_view::npos);
  }
}

TEST_CASE("web files: pages parse no markup and name no other host") {
  for (const serve::WebFile& file : serve::web_files()) {
    if (file.name.starts_with("vendor/")) continue;
    CAPTURE(file.name);
    for (const char* word : {"innerHTML",
                             "outerHTML",
                             "insertAdjacentHTML",
                             "document.write",
                             "eval(",
                             "document.cookie",
                             "localStorage",
                             "https://",
                             "style="}) {
      CAPTURE(word);
      CHECK(file.bytes.find(word) == std::string_view::npos);
    }
  }
}
