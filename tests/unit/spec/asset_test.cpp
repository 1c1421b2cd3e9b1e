#include "full_values.hpp"
#include "problem_text.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/asset.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;

TEST_CASE("asset: a description is read into its parts") {
  const auto asset = spec::parse_asset(R"({
    "schema": 1, "kind": "dataset", "name": "mini", "version": "2019.05",
    "files": [{"path": "a/b.tar", "size": 5943306240,
               "digest": {"md5": "D41D8CD98F00B204E9800998ECF8427E"},
               "sources": ["https://host/b.tar", "file:/data/b.tar"], "unpack": "tar", "unpacked_size": 4096}],
    "scripts": [{"name": "to-hdf5", "command": ["{asset}/to_hdf5", "--threads", "{arg.threads}"]}]
  })",
                                       "mini.json");
  CHECK(asset.kind == spec::AssetKind::dataset);
  CHECK(asset.version == "2019.05");
  CHECK(asset.access == spec::Access{});
  REQUIRE(asset.files.size() == 1);
  const spec::AssetFile& file = asset.files.front();
  CHECK(file.size_bytes == 5943306240U);
  CHECK(file.digests.front().text() == "md5:d41d8cd98f00b204e9800998ecf8427e");
  CHECK(file.sources == std::vector<std::string>{"https://host/b.tar", "file:/data/b.tar"});
  CHECK(file.unpack == "tar");
  CHECK(file.unpacked_bytes == 4096);
  CHECK(asset.scripts.front().command.back() == "{arg.threads}");
}

TEST_CASE("asset: everything that can be said comes back from JSON as it was") {
  const spec::Asset asset = test::full_asset();
  CHECK(spec::parse_asset(base::pretty_json(to_json(asset)), "full.json") == asset);
}

TEST_CASE("asset: open code and further members come back, and code is open or has a commit") {
  spec::Asset asset = test::full_asset();
  asset.code = spec::CodeSource{"https://host/code.git", {}, {}, "no commit is stated"};
  asset.extensions = {{"x-more", R"({"a":[1]})"},
                      {"x-upstream", R"({"file":"Old","name":"Older"})"}};
  CHECK(spec::parse_asset(base::pretty_json(to_json(asset)), "open.json") == asset);
  CHECK(spec::former_names(asset) == std::vector<std::string>{"Old", "Older"});
  asset.code->commit = std::string(40, 'a');
  CHECK_THROWS(spec::parse_asset(base::pretty_json(to_json(asset)), "both.json"));
  asset.code->commit.clear();
  asset.code->open.clear();
  CHECK_THROWS(spec::parse_asset(base::pretty_json(to_json(asset)), "neither.json"));
}

TEST_CASE("asset: little comes back from JSON as it was") {
  spec::Asset model;
  model.kind = spec::AssetKind::model;
  model.name = "mlp";
  CHECK(spec::parse_asset(base::pretty_json(to_json(model)), "mlp.json") == model);
  spec::Asset computed;
  computed.name = "thermals";
  computed.generate = spec::Generator{"supercell", "simulate"};
  CHECK(spec::parse_asset(base::pretty_json(to_json(computed)), "thermals.json") == computed);
}

TEST_CASE("asset: parameters of a model keep any value") {
  const auto asset = spec::parse_asset(
      R"({"schema": 1, "kind": "model", "name": "m", "parameters": {"n": 5.0, "l": [1, {"b": null}]}})",
      "m.json");
  CHECK(asset.parameters.at("n") == "5.0");
  CHECK(asset.parameters.at("l") == R"([1,{"b":null}])");
}

TEST_CASE("asset: the description of withdrawn data outlives them") {
  CHECK_NOTHROW(spec::parse_asset(
      R"({"schema": 1, "kind": "dataset", "name": "gone", "withdrawn": "the licence ended"})",
      "gone.json"));
}

TEST_CASE("asset: a file behind a login may have no source") {
  CHECK_NOTHROW(spec::parse_asset(
      R"({"schema": 1, "kind": "dataset", "name": "closed",
          "access": {"policy": "login", "steps": ["ask"], "credential": "them"},
          "files": [{"path": "x"}]})",
      "closed.json"));
}

TEST_CASE("asset: many files come from a list or a manifest") {
  const auto listed = spec::parse_asset(
      R"({"schema": 1, "kind": "dataset", "name": "m", "list": "s3://bucket/maps/", "limit": 100})",
      "m.json");
  CHECK(listed.list == "s3://bucket/maps/");
  CHECK(listed.limit == 100U);
  CHECK(spec::parse_asset(base::pretty_json(to_json(listed)), "m.json") == listed);
  const auto counted = spec::parse_asset(
      R"({"schema": 1, "kind": "dataset", "name": "m", "base": "https://h/", "manifest": [
          {"path": "a/1", "size": 7, "digest": {"md5": "d41d8cd98f00b204e9800998ecf8427e"}},
          {"path": "a/2", "sources": ["ftp://other/2"]}]})",
      "m.json");
  REQUIRE(counted.manifest.size() == 2);
  CHECK(counted.manifest[0].size_bytes == 7U);
  CHECK(counted.manifest[1].sources.front() == "ftp://other/2");
  CHECK(counted.base == "https://h/");
  CHECK(spec::parse_asset(base::pretty_json(to_json(counted)), "m.json") == counted);
}

TEST_CASE("asset: what is unpacked has a path of its own") {
  const auto path_of = [](const char* path, const char* unpack) {
    return spec::unpacked_path({path, {}, {}, {}, unpack});
  };
  CHECK(path_of("labels.gz", "gz") == "labels");
  CHECK(path_of("a/labels.xz", "xz") == "a/labels");
  CHECK(path_of("labels.bin", "gz") == "labels.bin");
  CHECK(path_of("a/.gz", "gz") == "a/.gz");
  CHECK(path_of("labels.gz", "") == "labels.gz");
  CHECK(path_of("train/a.tar", "tar").ends_with("train"));
  CHECK(path_of("a.zip", "zip").empty());
}
