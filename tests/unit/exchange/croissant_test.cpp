#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/licences.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

using namespace sabath;
using exchange::CroissantOrigin;
using exchange::ImportedAsset;
using exchange::read_croissant;
using exchange::write_croissant;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const CroissantOrigin at_web{"https://data.example.org/sets/a/", false, false, {}};
const CroissantOrigin here{"file:///data/a/", true, false, {}};

json document() {
  return json::parse(R"({
    "@context": {"@vocab": "https://schema.org/", "sc": "https://schema.org/",
                 "cr": "http://mlcommons.org/croissant/", "dct": "http://purl.org/dc/terms/"},
    "@type": "sc:Dataset", "name": "My Data 1", "description": "numbers",
    "conformsTo": "http://mlcommons.org/croissant/1.0", "license": "cc-by-4.0",
    "url": "https://example.org/", "version": "1.0.0", "keywords": ["a", "b", "a"],
    "distribution": []})");
}

json with(const std::string& distribution) {
  json root = document();
  root["distribution"] = json::parse(distribution);
  return root;
}

ImportedAsset read(const json& root, const CroissantOrigin& origin = at_web) {
  return read_croissant(root.dump(), "c.json", origin);
}

bool has_note(const ImportedAsset& imported, const std::string& part) {
  return std::ranges::any_of(imported.notes, [&](const std::string& note) {
    return note.find(part) != std::string::npos;
  });
}

std::string canonical(const spec::Asset& asset) {
  return base::canonical_json(json::parse(spec::to_json(asset).dump()));
}

fs::path fixtures() {
  const char* named = std::getenv("SABATH_FIXTURES");  // NOLINT(concurrency-mt-unsafe)
  return named != nullptr ? fs::path(named) : fs::path(SABATH_SOURCE_DIR) / "../shared/fixtures";
}

const std::string sha(64, 'a');

}  // namespace

TEST_CASE("croissant: a data set is described") {
  const ImportedAsset imported = read(
      with(R"([{"@type":"cr:FileObject","@id":"a.csv","contentUrl":"https://example.org/x/a.csv",)"
           R"("contentSize":"12 B","sha256":")" +
           sha + R"("}])"));
  const spec::Asset& asset = imported.asset;
  CHECK(asset.name == "my-data-1");
  CHECK(asset.title == "My Data 1");
  CHECK(asset.license == "CC-BY-4.0");
  CHECK(asset.keywords == std::vector<std::string>{"a", "b"});
  REQUIRE(asset.files.size() == 1);
  CHECK(asset.files[0].path == "a.csv");
  CHECK(asset.files[0].sources == std::vector<std::string>{"https://example.org/x/a.csv"});
  CHECK(asset.files[0].digests.at(0).hex == sha);
  CHECK_FALSE(asset.files[0].size_bytes);  // a wrong size would fail a right file
}

TEST_CASE("croissant: a digest counts by its form") {
  const auto digests = [](const std::string& terms, const CroissantOrigin& origin) {
    return read(with(R"([{"@type":"cr:FileObject","@id":"a","contentUrl":"https://e.org/a",)" +
                     terms + "}]"),
                origin)
        .asset.files.at(0)
        .digests;
  };
  CHECK(digests(R"("sha256":"https://github.com/mlcommons/croissant/issues/80")", at_web).empty());
  CHECK(digests(R"("sha256":"d41d8cd98f00b204e9800998ecf8427e")", at_web).empty());
  CHECK(digests(R"("md5":"1B2M2Y8AsgTpgAmY7PhCfg==")", at_web).at(0).hex ==
        "d41d8cd98f00b204e9800998ecf8427e");
  CroissantOrigin trusting = at_web;
  trusting.trusts_form = true;
  const auto found = digests(R"("sha256":"d41d8cd98f00b204e9800998ecf8427e")", trusting);
  CHECK(found.at(0).algorithm == base::DigestAlgorithm::md5);
}

TEST_CASE("croissant: a size is a hint where there is no digest") {
  const auto size = [](const std::string& text) {
    return read(with(R"([{"@type":"cr:FileObject","@id":"a","contentUrl":"https://e.org/a",)"
                     R"("contentSize":")" +
                     text + R"("}])"))
        .asset.files.at(0)
        .size_bytes;
  };
  CHECK(size("1024") == 1024U);
  CHECK(size("4.698 MB") == 4698000U);
  CHECK(size("2 KiB") == 2048U);
  CHECK(size("1.5 TiB") == 1649267441664U);
  CHECK_FALSE(size(" B"));
  CHECK_FALSE(size("4.6985 B"));
  CHECK_FALSE(size("about 3 MB"));
}

TEST_CASE("croissant: archives, members, mirrors and relative addresses") {
  const ImportedAsset imported = read(with(R"([
    {"@type":"cr:FileObject","@id":"z","contentUrl":["https://a.org/d.zip","https://b.org/d.zip"],
     "encodingFormat":"application/zip"},
    {"@type":"cr:FileObject","@id":"m","containedIn":{"@id":"z"},"contentUrl":"in/m.csv"},
    {"@type":"cr:FileSet","@id":"s","containedIn":[{"@id":"t"}],"includes":"*.jpg"},
    {"@type":"sc:FileObject","@id":"t","contentUrl":"data/t.tar.gz","encodingFormat":"application/gzip"},
    {"@type":"cr:FileObject","@id":"up","contentUrl":"../secret"},
    {"@type":"cr:FileObject","@id":"none"}])"));
  const auto& files = imported.asset.files;
  REQUIRE(files.size() == 2);
  CHECK(files[0].unpack == "zip");
  CHECK(files[0].sources.size() == 2);
  CHECK(files[1].path == "data/t.tar.gz");
  CHECK(files[1].unpack == "tar");
  CHECK(files[1].sources.at(0) == "https://data.example.org/sets/a/data/t.tar.gz");
  CHECK(has_note(imported, "leads out"));
  CHECK(has_note(imported, "no contentUrl"));
}

TEST_CASE("croissant: two files of one name stay apart") {
  const auto files = read(with(R"([
    {"@type":"cr:FileObject","@id":"one","contentUrl":"https://a.org/1/d.csv"},
    {"@type":"cr:FileObject","@id":"two","contentUrl":"https://a.org/2/d.csv"}])"))
                         .asset.files;
  CHECK(files.at(0).path == "d.csv");
  CHECK(files.at(1).path == "two/d.csv");
}

TEST_CASE("croissant: repositories") {
  const auto list = [](const std::string& url) {
    return read(with(
        R"([{"@type":"cr:FileObject","@id":"repo","encodingFormat":"git+https","contentUrl":")" +
        url + R"("}])"));
  };
  CHECK(list("https://huggingface.co/datasets/o/n/tree/refs%2Fconvert%2Fparquet").asset.list ==
        "hf://datasets/o/n@refs%2Fconvert%2Fparquet");
  CHECK(list("https://github.com/o/n/tree/" + std::string(40, 'b')).asset.list ==
        "git+https://github.com/o/n.git@" + std::string(40, 'b'));
  const ImportedAsset moving = list("https://github.com/o/n");
  CHECK(moving.asset.list.empty());
  CHECK_FALSE(moving.asset.withdrawn.empty());
  CHECK(has_note(moving, "without a commit"));
}

TEST_CASE("croissant: files of this machine and private addresses are a stranger's no more") {
  for (const char* url : {"file:///etc/passwd",
                          "http://localhost/a",
                          "http://127.0.0.1:8000/a",
                          "http://2130706433/a",
                          "http://0x7f.1/a",
                          "https://10.1.2.3/a",
                          "http://192.168.0.1/a",
                          "http://169.254.169.254/latest/meta-data",
                          "http://%31%32%37.0.0.1/a",
                          "http://local%68ost/a",
                          "http:/127.0.0.1/a",
                          "http:///127.0.0.1/a",
                          "http://[fe80::1%25lo]/a",
                          "http://\xE2\x91\xA0\xE2\x91\xA1\xE2\x91\xA6.0.0.1/a",
                          "http://[::1]/a",
                          "http://[fd00::1]/a",
                          "http://user@127.1/a",
                          "git+file:///home/x.git",
                          "FILE:///etc/passwd"}) {
    CAPTURE(url);
    const json root =
        with(R"([{"@type":"cr:FileObject","@id":"a","contentUrl":")" + std::string(url) + R"("}])");
    CHECK_THROWS_AS(read(root), base::Error);
    CHECK_NOTHROW(read(root, here));
    json patched = document();
    patched["sabath:asset"] = {{"withdrawn", nullptr},
                               {"files", {{{"path", "a"}, {"sources", {url}}}}}};
    CHECK_THROWS_AS(read(patched), base::Error);
  }
}

TEST_CASE("croissant: what is no data set is refused") {
  for (const char* text : {R"({"@context":{},"@type":"sc:Person","name":"x"})",
                           R"({"@type":"sc:Dataset","name":"x"})",
                           R"({"@context":{},"@type":"sc:Dataset"})",
                           R"({"@context":{},"@type":"sc:Dataset","name":"a","name":"b"})",
                           R"([])",
                           "not JSON"})
    CHECK_THROWS_AS(read_croissant(text, "c.json", at_web), base::Error);
  std::string deep = R"({"@context":{},"@type":"sc:Dataset","name":"a","x":)";
  for (int i = 0; i < 100'000; ++i)
    deep += "[";
  CHECK_THROWS_AS(read_croissant(deep, "c.json", at_web), base::Error);
}

TEST_CASE("croissant: a context is never fetched, and prefixes mean the same") {
  json root =
      json::parse(R"({"@context": ["https://elsewhere.example.org/context", {"titel": "sc:name"}],
    "@type": "https://schema.org/Dataset", "titel": "x", "sc:description": "d", "http://schema.org/url": "https://e.org/",
    "schema:distribution": [{"@type": "ml:FileObject", "@id": "a", "sc:contentUrl": "https://e.org/a", "ml:md5":
    "d41d8cd98f00b204e9800998ecf8427e"}]})");
  const ImportedAsset imported = read(root);
  CHECK(imported.asset.name == "x");
  CHECK(imported.asset.description == "d");
  CHECK(imported.asset.homepage == "https://e.org/");
  CHECK(imported.asset.files.at(0).digests.size() == 1);
  CHECK(has_note(imported, "is not fetched"));
}

TEST_CASE("croissant: an export of what was imported keeps every term") {
  json root = with(
      R"([{"@type":"cr:FileObject","@id":"a.csv","contentUrl":"data/a.csv","name":"a","description":"x"},
                       {"@type":"cr:FileSet","@id":"s","includes":"*"}])");
  root["recordSet"] = json::parse(R"([{"@type":"cr:RecordSet","@id":"r","data":[{"a":1.5}]}])");
  root["creator"] = {{"@type", "sc:Person"}, {"name", "Ada"}};
  spec::Asset asset = read(root).asset;
  CHECK(json::parse(write_croissant(asset)) == root);
  asset.license = "MIT";
  json changed = root;
  changed["license"] = "https://spdx.org/licenses/MIT";
  CHECK(json::parse(write_croissant(asset)) == changed);
}

TEST_CASE("croissant: an import of an export is the asset, for the whole catalog") {
  std::size_t count = 0;
  for (const char* folder : {"catalog/datasets", "catalog/models"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(SABATH_SOURCE_DIR) / folder)) {
      CAPTURE(entry.path());
      const spec::Asset asset =
          spec::parse_asset(base::read_file(entry.path()), entry.path().string());
      const std::string written = write_croissant(asset);
      CHECK(written == write_croissant(asset));
      const spec::Asset again = read_croissant(written, "c.json", at_web).asset;
      CHECK(canonical(again) == canonical(asset));
      ++count;
    }
  }
  CHECK(count > 20);
}

TEST_CASE("croissant: what a complete document needs is named, and a draft says it") {
  spec::Asset asset = spec::parse_asset(
      R"({"schema":1,"kind":"dataset","name":"x","files":[{"path":"a","sources":["https://e.org/a"]}]})",
      "a.json");
  const auto missing = exchange::missing_for_croissant(asset);
  CHECK(missing.size() == 6);
  CHECK(json::parse(write_croissant(asset))["sabath:draft"].size() == 6);
  asset = spec::parse_asset(
      R"({"schema":1,"kind":"dataset","name":"x","description":"d","license":"MIT","homepage":"https://e.org/","x-creator":"Ada",
          "x-datePublished":"2026-01-01","files":[{"path":"a","sources":["https://e.org/a"],"digest":{"sha256":")" +
          sha + R"("}}]})",
      "a.json");
  CHECK(exchange::missing_for_croissant(asset).empty());
  CHECK_FALSE(json::parse(write_croissant(asset)).contains("sabath:draft"));
}

TEST_CASE("croissant: published documents") {
  const fs::path folder = fixtures() / "croissant";
  if (!fs::is_directory(folder)) {
    WARN("skipped: no published documents at " << folder);
    return;
  }
  std::size_t count = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    CAPTURE(entry.path());
    CroissantOrigin origin = here;
    origin.local_files = [](const std::string&) {
      return std::vector<std::string>{"data/Clap.mp3"};
    };
    const std::string text = base::read_file(entry.path());
    const ImportedAsset imported = read_croissant(text, entry.path().filename(), origin);
    CHECK(imported.asset.withdrawn.empty());
    CHECK(json::parse(write_croissant(imported.asset)) == json::parse(text));
    ++count;
  }
  CHECK(count == 12);
}

TEST_CASE("croissant: mutated documents give an asset or an error") {
  std::mt19937 random(7);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  const std::string text =
      with(R"([{"@type":"cr:FileObject","@id":"z","contentUrl":["https://a.org/d.zip"],
    "encodingFormat":"application/zip","sha256":"x","contentSize":"1 B"},{"@type":"cr:FileSet","@id":"s","containedIn":{"@id":"z"}},
    {"@type":"cr:FileObject","@id":"r","encodingFormat":"git+https","contentUrl":"https://huggingface.co/datasets/o/n"}])")
          .dump();
  constexpr std::string_view pieces = "{}[]\",:0@#%/\\.nulltrue-1e9";
  for (int round = 0; round < 2000; ++round) {
    std::string changed = text;
    for (int edit = 0; edit < 1 + round % 4; ++edit) {
      const std::size_t at = random() % changed.size();
      const std::size_t kind = random() % 3;
      if (kind == 0) changed[at] = pieces[random() % pieces.size()];
      if (kind == 1) changed.erase(at, 1 + random() % 8);
      if (kind == 2) changed.insert(at, 1, pieces[random() % pieces.size()]);
    }
    try {
      const ImportedAsset imported = read_croissant(changed, "c.json", at_web);
      CHECK_FALSE(write_croissant(imported.asset).empty());
    } catch (const base::Error&) {
    }
  }
}

TEST_CASE("licences: identifiers, addresses and spellings") {
  using exchange::spdx_id;
  for (const char* text : {"cc-by-4.0",
                           "CC BY 4.0",
                           "CC-BY-4.0",
                           "https://creativecommons.org/licenses/by/4.0/",
                           "http://creativecommons.org/licenses/by/4.0/deed.en",
                           "Creative Commons Attribution 4.0 International",
                           "https://spdx.org/licenses/CC-BY-4.0.html"})
    CHECK(spdx_id(text) == "CC-BY-4.0");
  CHECK(spdx_id("https://choosealicense.com/licenses/mit/") == "MIT");
  CHECK(spdx_id("https://opensource.org/licenses/MIT") == "MIT");
  CHECK(spdx_id("The MIT License") == "MIT");
  CHECK(spdx_id("Apache License, Version 2.0") == "Apache-2.0");
  CHECK(spdx_id("https://www.apache.org/licenses/LICENSE-2.0") == "Apache-2.0");
  CHECK(spdx_id("https://creativecommons.org/publicdomain/zero/1.0/") == "CC0-1.0");
  CHECK(spdx_id("cc-by-nc-sa-3.0") == "CC-BY-NC-SA-3.0");
  CHECK(spdx_id("Attribution-NonCommercial-ShareAlike 4.0 International") == "CC-BY-NC-SA-4.0");
  CHECK(spdx_id("afl-3.0") == "AFL-3.0");
  CHECK(spdx_id("odbl") == "ODbL-1.0");
  for (const char* text : {"", "None", "my own", "https://example.org/licenses/mit"})
    CHECK(spdx_id(text).empty());
}
