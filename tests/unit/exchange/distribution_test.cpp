// Files, archives and repositories of Croissant documents.
#include <sabath/exchange/croissant.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>

using namespace sabath;
using exchange::CroissantOrigin;
using exchange::ImportedAsset;
using nlohmann::json;

namespace {

ImportedAsset read_files(const std::string& distribution, const CroissantOrigin& origin) {
  json root = json::parse(R"({"@context": {"cr": "http://mlcommons.org/croissant/"},
    "@type": "sc:Dataset", "name": "d", "license": "MIT"})");
  root["distribution"] = json::parse(distribution);
  return exchange::read_croissant(root.dump(), "c.json", origin);
}

bool has_note(const ImportedAsset& imported, const std::string& part) {
  return std::ranges::any_of(imported.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

CroissantOrigin here() {
  CroissantOrigin origin;
  origin.folder_url = "file:///data/a/";
  origin.is_local = true;
  return origin;
}

}  // namespace

TEST_CASE("croissant: an archive is recognised by its bytes where nothing else says it") {
  CroissantOrigin origin = here();
  origin.local_packing = [](const std::string& path) {
    static const std::map<std::string, std::string> kinds{
        {"plain", "zip"}, {"named.gz", "tar"}, {"typed", "tar"}, {"text", ""}};
    return kinds.at(path);
  };
  const auto unpacked = [&](const std::string& path, const std::string& type) {
    const auto imported = read_files(
        R"([{"@type":"cr:FileObject","@id":"f","contentUrl":")" + path + R"(","encodingFormat":")" +
            type +
            R"("},{"@type":"cr:FileSet","@id":"s","containedIn":{"@id":"f"},"includes":"*"}])",
        origin);
    return imported.asset.files.at(0).unpack;
  };
  CHECK(unpacked("plain", "application/octet-stream") == "zip");
  CHECK(unpacked("typed", "application/gzip") == "tar");
  CHECK(unpacked("text", "text/plain").empty());
  CHECK(unpacked("named.gz", "application/gzip") == "gz");
}

TEST_CASE("croissant: the first bytes of archives") {
  using exchange::packing_of_bytes;
  CHECK(packing_of_bytes("PK\x03\x04....") == "zip");
  CHECK(packing_of_bytes("\x1f\x8b\x08") == "gz");
  CHECK(packing_of_bytes("BZh91AY") == "bz2");
  CHECK(packing_of_bytes(std::string("\xFD"
                                     "7zXZ\0..",
                                     8)) == "xz");
  CHECK(packing_of_bytes("\x28\xB5\x2F\xFD.") == "zst");
  std::string tar(512, '\0');
  tar.replace(257, 5, "ustar");
  CHECK(packing_of_bytes(tar) == "tar");
  CHECK(packing_of_bytes(tar.substr(0, 200)).empty());
  CHECK(packing_of_bytes("a,b\n").empty());
  CHECK(packing_of_bytes("").empty());
}

TEST_CASE("croissant: a repository beside files becomes a second asset") {
  const auto imported = read_files(
      R"([{"@type":"cr:FileObject","@id":"r","encodingFormat":"git+https","contentUrl":"https://huggingface.co/datasets/o/n"},
          {"@type":"cr:FileObject","@id":"a.csv","contentUrl":"https://example.org/a.csv"}])",
      {});
  REQUIRE(imported.asset.files.size() == 1);
  CHECK(imported.asset.list.empty());
  REQUIRE(imported.repository);
  CHECK(imported.repository->name == "d-repository");
  CHECK(imported.repository->list == "hf://datasets/o/n");
  CHECK(imported.repository->files.empty());
  CHECK(imported.repository->license == "MIT");
  CHECK(has_note(imported, "becomes a second asset"));
}

TEST_CASE("croissant: what a file set leaves out of a folder or of an archive") {
  CroissantOrigin origin = here();
  origin.local_files = [](const std::string& pattern) {
    if (pattern == "*.csv") return std::vector<std::string>{"a.csv", "b.csv"};
    return std::vector<std::string>{"b.csv"};
  };
  const auto local = read_files(
      R"([{"@type":"cr:FileSet","@id":"s","includes":"*.csv","excludes":"b*"}])", origin);
  REQUIRE(local.asset.files.size() == 1);
  CHECK(local.asset.files[0].path == "a.csv");
  const auto archive = [&](const std::string& includes) {
    return read_files(
        R"([{"@type":"cr:FileObject","@id":"z","contentUrl":"https://example.org/z.zip"},
            {"@type":"cr:FileSet","@id":"s","containedIn":{"@id":"z"},"includes":")" +
            includes + R"("}])",
        {});
  };
  CHECK(has_note(archive("*.csv"), "all of it is fetched"));
  CHECK_FALSE(has_note(archive("**/*"), "all of it is fetched"));
}
