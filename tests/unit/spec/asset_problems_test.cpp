#include "problem_text.hpp"

#include <sabath/spec/asset.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using nlohmann::ordered_json;
using test::Problem;
using test::problem_of;

namespace {

ordered_json small_asset() {
  return ordered_json::parse(R"({
    "schema": 1, "kind": "dataset", "name": "mini",
    "files": [{"path": "b.tar", "sources": ["https://host/b.tar"]}]
  })");
}

template <class Change>
Problem after(Change change) {
  auto document = small_asset();
  change(document);
  return problem_of([&] { spec::parse_asset(document.dump(), "a.json"); });
}

}  // namespace

TEST_CASE("asset: the small one is right") {
  CHECK_NOTHROW(spec::parse_asset(small_asset().dump(), "a.json"));
}

TEST_CASE("asset: misspelt keys and unknown kinds suggest the nearest") {
  const auto key = after([](auto& d) { d["files"][0]["source"] = 1; });
  CHECK(key.text == "a.json:/files/0/source: unknown key 'source'");
  CHECK(key.hint == "did you mean 'sources'?");
  CHECK(after([](auto& d) { d["kind"] = "datset"; }).hint == "did you mean 'dataset'?");
}

TEST_CASE("asset: names and paths that try to leave are refused") {
  CHECK(after([](auto& d) { d["name"] = "../x"; }).says("a.json:/name: '../x' is not a name"));
  for (const char* path : {"../x", "/etc/passwd", "a/../../b", ""}) {
    CHECK(after([&](auto& d) {
            d["files"][0]["path"] = path;
          }).says("a.json:/files/0/path: '" + std::string(path) + "' is not a relative path"));
  }
}

TEST_CASE("asset: digests have the length of their algorithm") {
  CHECK(after([](auto& d) { d["files"][0]["digest"]["sha256"] = std::string(63, 'a'); }).text ==
        "a.json:/files/0/digest/sha256: a sha256 digest has 64 hexadecimal digits, this has 63");
  CHECK(after([](auto& d) {
          d["files"][0]["digest"]["md5"] = std::string(32, 'g');
        }).says("a md5 digest has 32 hexadecimal digits, this has other characters"));
  CHECK(after([](auto& d) { d["files"][0]["digest"]["sha265"] = "a"; }).hint ==
        "did you mean 'sha256'?");
}

TEST_CASE("asset: sources are URLs with a scheme") {
  for (const char* url : {"host/b.tar", "/data/b.tar", "://x", "https:", "1a:b", "https://a b"}) {
    CHECK(after([&](auto& d) {
            d["files"][0]["sources"] = {"https://ok/", url};
          }).says("a.json:/files/0/sources/1: '" + std::string(url) + "' is not a URL"));
  }
  CHECK(after([](auto& d) {
          d["files"][0].erase("sources");
        }).says("a.json:/files/0: \"sources\" are missing: URLs to fetch it from"));
}

TEST_CASE("asset: bytes come from one place") {
  CHECK(after([](auto& d) {
          d["generate"] = {{"recipe", "r"}, {"stage", "s"}};
        }).says("a.json:/generate: an asset has either \"files\" or \"generate\", not both"));
  CHECK(after([](auto& d) { d.erase("files"); }).says("a.json:/: a dataset needs \"files\""));
  CHECK(after([](auto& d) {
          d["files"] = ordered_json::array();
        }).says("a.json:/files: must not be empty"));
  CHECK(after([](auto& d) {
          d["files"].push_back(d["files"][0]);
        }).says("a.json:/files/1: two files have the path 'b.tar'"));
  CHECK(after([](auto& d) {
          d["generate"] = {{"recipe", "r"}};
        }).says("a.json:/generate: 'stage' is missing"));
}

TEST_CASE("asset: access is open or tells how to log in") {
  CHECK(after([](auto& d) {
          d["access"]["policy"] = "closed";
        }).says("a.json:/access/policy: 'closed' is not one of open, login"));
  CHECK(after([](auto& d) {
          d["access"]["policy"] = "login";
        }).says("a.json:/access: policy 'login' needs \"steps\""));
}

TEST_CASE("asset: scripts use only their own placeholders") {
  CHECK(after([](auto& d) {
          d["scripts"] = {{{"name", "s"}, {"command", {"{aset}/x", "{param.n}", "{arg.n}"}}}};
        }).lines() == 2);
  CHECK(after([](auto& d) {
          d["scripts"] = {{{"name", "s"}, {"command", {"{aset}/x"}}}};
        }).hint == "did you mean '{asset}'?");
  CHECK(after([](auto& d) {
          d["scripts"] = {{{"name", "s"}, {"command", ordered_json::array()}}};
        }).says("a.json:/scripts/0/command: names no program"));
  CHECK(after([](auto& d) {
          d["scripts"] = {{{"name", "s"}, {"command", {"x"}}}, {{"name", "s"}, {"command", {"x"}}}};
        }).says("a.json:/scripts/1: two scripts are called 's'"));
}

TEST_CASE("asset: code is pinned to a commit") {
  CHECK(after([](auto& d) {
          d["code"] = {{"git", "https://h/x"}, {"commit", "main"}};
        }).says("a.json:/code/commit: 'main' is not a commit of 40 hexadecimal digits"));
  CHECK(after([](auto& d) {
          d["code"] = {{"git", "x"}, {"commit", std::string(40, 'a')}, {"patches", {"../p"}}};
        }).lines() == 2);
}

TEST_CASE("asset: sizes are whole numbers of bytes") {
  CHECK(after([](auto& d) { d["files"][0]["size"] = -1; }).says("a.json:/files/0/size"));
  CHECK(after([](auto& d) { d["files"][0]["size"] = "5 GB"; }).says("a.json:/files/0/size"));
  CHECK(after([](auto& d) {
          d["files"][0]["unpack"] = "rar";
        }).says("'rar' is not one of tar, zip, gz"));
}

TEST_CASE("asset: a list or a manifest stands alone, and has files") {
  const auto many = [](auto change) {
    auto document = small_asset();
    document.erase("files");
    change(document);
    return problem_of([&] { spec::parse_asset(document.dump(), "a.json"); });
  };
  CHECK(after([](auto& d) {
          d["list"] = "https://h/l";
        }).says("a.json:/list: an asset has either \"files\" or \"list\", not both"));
  CHECK(many([](auto& d) {
          d["list"] = "l.txt";
        }).says("a.json:/list: 'l.txt' is not a URL with a scheme"));
  CHECK(many([](auto& d) {
          d["manifest"] = ordered_json::array();
        }).says("a.json:/manifest: must not be empty"));
  CHECK(many([](auto& d) {
          d["manifest"] = {{{"path", "x"}}};
        }).says("a.json:/manifest/0: \"sources\" are missing: URLs to fetch it from"));
  CHECK(many([](auto& d) {
          d["base"] = "https://h/";
          d["manifest"] = {{{"path", "x"}, {"unpack", "gz"}}};
        }).says("a.json:/manifest/0/unpack: unknown key 'unpack'"));
  CHECK(many([](auto& d) {
          d["list"] = "https://h/l";
          d["limit"] = 0;
        }).says("a.json:/limit: must be at least 1"));
}

TEST_CASE("asset: a base and a limit are of many files") {
  CHECK(after([](auto& d) { d["limit"] = 5; }).says("a.json:/limit: needs \"list\""));
  CHECK(after([](auto& d) { d["base"] = "https://h/"; }).says("a.json:/base: needs \"list\""));
}

TEST_CASE("asset: no path is both a file and a folder") {
  CHECK(after([](auto& d) {
          d["files"].push_back({{"path", "b.tar/x"}, {"sources", {"https://h/x"}}});
        }).says("a.json:/files/1: 'b.tar' is a file of this asset and cannot be a folder"));
  CHECK(after([](auto& d) {
          d["files"].push_back(
              {{"path", "b.tar.gz"}, {"unpack", "gz"}, {"sources", {"https://h/x"}}});
        }).says("a.json:/files/1: two files have the path 'b.tar'"));
}
