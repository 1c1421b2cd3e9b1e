// The manifest and the metadata of crates: what is written, and what strangers may have written.
#include <sabath/base/error.hpp>
#include <sabath/exchange/run_crate.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <random>

using namespace sabath;
using exchange::CrateGroup;
using exchange::read_manifest;
using exchange::stated_members;
using nlohmann::json;

namespace {

const std::string hex(64, 'a');

/// Changes a text at random places.
std::string mutated(std::string text, std::mt19937& random) {
  constexpr std::string_view pieces = "{}[]\",:0@#%/\\.\nabc -\x01";
  for (int edit = 0; edit < 3; ++edit) {
    const std::size_t at = random() % text.size();
    const std::size_t kind = random() % 3;
    if (kind == 0) text[at] = pieces[random() % pieces.size()];
    if (kind == 1) text.erase(at, 1 + random() % 8);
    if (kind == 2) text.insert(at, 1, pieces[random() % pieces.size()]);
    if (text.empty()) text = "x";
  }
  return text;
}

}  // namespace

TEST_CASE("crate: a manifest is read as it was written, and refused where it is not one") {
  const base::Digest digest = base::sha256_of("x");
  const std::string text = exchange::write_manifest({{"run/b c", 1, digest}, {"run/a", 1, digest}});
  CHECK(text == digest.hex + "  run/a\n" + digest.hex + "  run/b c\n");
  const auto members = read_manifest(text);
  CHECK(members.size() == 2);
  CHECK(members.at("run/b c") == digest);
  CHECK(read_manifest("").empty());
  for (const std::string& bad : {hex + "  a",
                                 hex + " a\n",
                                 std::string("short  a\n"),
                                 std::string(64, 'z') + "  a\n",
                                 hex + "  ../a\n",
                                 hex + "  /a\n",
                                 hex + "  \n",
                                 hex + "  a\n" + hex + "  a\n",
                                 std::string("\n")}) {
    CAPTURE(bad);
    CHECK_THROWS_AS(read_manifest(bad), base::Error);
  }
}

TEST_CASE("crate: what metadata state of files") {
  const auto members = stated_members(R"({"@graph": [
    {"@id": "./", "@type": "Dataset"},
    {"@id": "a%20b", "@type": "File", "contentSize": "3", "sha256": ")" +
                                      hex + R"("},
    {"@id": "c", "@type": ["File", "SoftwareSourceCode"], "contentSize": 4, "sha256": "none"},
    {"@id": "https://example.org/x", "@type": "File"}, {"@id": "#d", "@type": "File"},
    {"@type": "File"}, "text", null]})");
  REQUIRE(members.size() == 2);
  CHECK(members[0].path == "a b");
  CHECK(members[0].size_bytes == 3);
  CHECK(members[0].digest->hex == hex);
  CHECK(members[1].size_bytes == 4);
  CHECK(members[1].has_digest);
  CHECK_FALSE(members[1].digest);
  CHECK(stated_members("{}").empty());
  CHECK(stated_members("[]").empty());
  CHECK(stated_members(R"({"@graph": "x"})").empty());
  CHECK_THROWS_AS(stated_members("no JSON"), base::Error);
}

TEST_CASE("crate: mutated manifests and metadata give members or an error") {
  std::mt19937 random(11);  // NOLINT(cert-msc32-c,cert-msc51-cpp)
  const std::string manifest = hex + "  run/a\n" + hex + "  run/b\n";
  const std::string metadata =
      R"({"@graph":[{"@id":"a","@type":"File","contentSize":"3","sha256":")" + hex + R"("}]})";
  int read = 0;
  for (int round = 0; round < 3000; ++round) {
    try {
      for (const auto& [path, digest] : read_manifest(mutated(manifest, random)))
        CHECK(path.find("..") == std::string::npos);
      stated_members(mutated(metadata, random));
      ++read;
    } catch (const base::Error&) {
    }
  }
  CHECK(read > 0);
}

TEST_CASE("crate: a group names its parts and licences") {
  CrateGroup group;
  group.name = "study";
  group.runs = {"a", "b"};
  group.licenses = {"MIT", "as the authors say"};
  group.published = "2026-11-27T10:00:00.000Z";
  group.members = {{"runs/a.crate.zip", 3, base::sha256_of("a")},
                   {"runs/b.crate.zip", 3, base::sha256_of("b")}};
  const json root = json::parse(exchange::group_crate(group));
  const json& dataset = root["@graph"][1];
  CHECK(dataset["hasPart"].size() == 2);
  CHECK(dataset["license"].size() == 2);
  CHECK(dataset["license"][0]["@id"] == "https://spdx.org/licenses/MIT");
  CHECK(dataset["datePublished"] == "2026-11-27T10:00:00.000+00:00");
  CHECK(exchange::group_crate(group) == root.dump(2) + "\n");
  CHECK(exchange::group_page(group).find("- b\n") != std::string::npos);
}
