#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/exchange/croissant.hpp>
#include <sabath/exchange/document_kind.hpp>
#include <sabath/exchange/fair.hpp>
#include <sabath/exchange/jsonld.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

using namespace sabath;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string sha(64, 'a');

spec::Asset full() {
  return spec::parse_asset(
      R"({"schema":1,"kind":"dataset","name":"maps","version":"1.0","title":"Maps","description":"Maps of rain",
          "keywords":["rain"],"license":"CC-BY-4.0","citation":"Rain et al.","homepage":"https://example.org/","identifier":"10.5281/zenodo.1",
          "task":"forecast","x-creator":[{"name":"Ada"},"Bo"],"x-publisher":"An institute","x-datePublished":"2026-01-31",
          "files":[{"path":"a.h5","size":12,"sources":["https://example.org/a.h5"],"digest":{"sha256":")" +
          sha + R"("}}]})",
      "maps.json");
}

spec::Asset model() {
  return spec::parse_asset(
      R"({"schema":1,"kind":"model","name":"mlp","title":"An MLP","task":"forecast","framework":"keras","format":"h5","license":"MIT",
          "code":{"git":"https://example.org/m","commit":"0123456789abcdef0123456789abcdef01234567"},"parameters":{"width":3},
          "x-trainedOn":"maps"})",
      "mlp.json");
}

exchange::FairState answer_of(const spec::Asset& asset,
                              const std::string& metric,
                              const std::string& question) {
  const auto answers = exchange::fair_answers(asset);
  const auto found = std::ranges::find_if(answers, [&](const exchange::FairAnswer& one) {
    return one.metric == metric && one.question.find(question) != std::string::npos;
  });
  REQUIRE(found != answers.end());
  CHECK(found->remedy.empty() == (found->state != exchange::FairState::missing));
  return found->state;
}

}  // namespace

TEST_CASE("jsonld: a data set is one of schema.org, and sabath reads it again") {
  const std::string written = exchange::write_jsonld(full());
  const json root = json::parse(written);
  CHECK(root["@type"] == "Dataset");
  CHECK(root["@id"] == "https://doi.org/10.5281/zenodo.1");
  CHECK(root["license"] == "https://spdx.org/licenses/CC-BY-4.0");
  CHECK(root["distribution"][0]["sha256"] == sha);
  CHECK(root["creator"][0]["name"] == "Ada");
  CHECK(exchange::missing_for_jsonld(full()).empty());
  CHECK(exchange::kind_of_document(written, "m.json") == exchange::DocumentKind::jsonld);
  const spec::Asset again = exchange::read_croissant(written, "m.json", {}).asset;
  CHECK(again.name == "maps");
  CHECK(again.files.at(0).digests == full().files.at(0).digests);
}

TEST_CASE("jsonld: a model has the terms of FAIR4ML") {
  const json root = json::parse(exchange::write_jsonld(model()));
  CHECK(root["@type"] == "fair4ml:MLModel");
  CHECK(root["fair4ml:mlTask"] == "forecast");
  CHECK(root["fair4ml:trainedOn"] == "maps");
  CHECK(root["codeRepository"] == "https://example.org/m");
}

TEST_CASE("jsonld: every asset of the catalog can be written in each form") {
  for (const char* folder : {"catalog/datasets", "catalog/models"}) {
    for (const auto& entry : fs::directory_iterator(fs::path(SABATH_SOURCE_DIR) / folder)) {
      CAPTURE(entry.path());
      const spec::Asset asset =
          spec::parse_asset(base::read_file(entry.path()), entry.path().string());
      for (const auto write :
           {exchange::write_jsonld, exchange::write_datacite, exchange::write_hpcfair})
        CHECK(json::parse(write(asset)).is_object());
      CHECK_FALSE(exchange::fair_answers(asset).empty());
    }
  }
}

TEST_CASE("datacite: nothing is invented, and what is missing is named") {
  const json root = json::parse(exchange::write_datacite(full()));
  CHECK(root["identifiers"][0]["identifier"] == "10.5281/zenodo.1");
  CHECK(root["creators"].size() == 2);
  CHECK(root["publicationYear"] == 2026);
  CHECK(exchange::missing_for_datacite(full()).empty());
  spec::Asset bare;
  bare.name = "bare";
  CHECK(exchange::missing_for_datacite(bare).size() == 5);
  CHECK_FALSE(json::parse(exchange::write_datacite(bare)).contains("creators"));
}

TEST_CASE("hpcfair: keys go both ways, and others are kept") {
  const spec::Asset again =
      exchange::read_hpcfair(exchange::write_hpcfair(model()), "m.json").asset;
  CHECK(again.name == "mlp");
  CHECK(again.kind == spec::AssetKind::model);
  CHECK(again.framework == "keras");
  CHECK(again.license == "MIT");
  CHECK(again.parameters == model().parameters);
  const auto foreign = exchange::read_hpcfair(
      R"({"@context": {"hpc": "x"}, "@id": "http://example.org/DM000001", "@title": "My Model",
      "hpc:tags": {"Version": "1", "License": "Apache 2.0", "tasks": ["a", "b"]}, "hpc:modelFormat": "h5", "hpc:submitter": "Ada"})",
      "m.json");
  CHECK(foreign.asset.license == "Apache-2.0");
  CHECK(foreign.asset.task == "a, b");
  CHECK(json::parse(foreign.asset.extensions.at("x-hpcfair"))["hpc:submitter"] == "Ada");
  CHECK_THROWS_AS(exchange::read_hpcfair("{}", "m.json"), base::Error);
}

TEST_CASE("identifiers: well-formed ones are persistent") {
  using exchange::is_persistent_identifier;
  for (const char* text : {"10.5281/zenodo.1",
                           "doi:10.5281/zenodo.1",
                           "https://doi.org/10.1038/s41524-022-00803-w",
                           "ark:/13030/tf5p30086k",
                           "hdl:1721.1/123",
                           "ni:///sha-256;f4OxZX_x_FO5LcGBSKHWXfwtSx-j1ncoSt3SABJtkGk"})
    CHECK(is_persistent_identifier(text));
  for (const char* text :
       {"", "zenodo.1", "https://example.org/1", "10.1/x", "doi:11.5281/x", "ark:13/x"})
    CHECK_FALSE(is_persistent_identifier(text));
  CHECK(exchange::address_of_identifier("doi:10.5281/x") == "https://doi.org/10.5281/x");
}

TEST_CASE("fair: questions hold, are missing with a remedy, or do not apply") {
  using exchange::FairState;
  CHECK(answer_of(full(), "F1-02", "persistent") == FairState::holds);
  CHECK(answer_of(full(), "A2-01", "outlives") == FairState::not_applicable);
  spec::Asset asset = full();
  asset.license = "my own";
  asset.files[0].digests.clear();
  asset.identifier.clear();
  CHECK(answer_of(asset, "R1.1-01", "licence") == FairState::missing);
  CHECK(answer_of(asset, "F1-01", "digest") == FairState::missing);
  CHECK(answer_of(asset, "F1-02", "persistent") == FairState::missing);
  asset.withdrawn = "gone";
  CHECK(answer_of(asset, "A2-01", "outlives") == FairState::holds);
  CHECK(answer_of(asset, "F1-01", "digest") == FairState::not_applicable);
}
