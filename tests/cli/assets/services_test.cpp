// hf: and doi: against stand-ins that answer as the services' documentation says.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string commit(40, 'c');

Reply document(const json& value) {
  return {200, {{"Content-Type", "application/json"}}, value.dump()};
}

/// A data set org/set of one large and one small file, on two pages.
class Hub {
 public:
  explicit Hub(FaultServer& server) : server_(server) {
    const std::string api = "/api/datasets/org/set";
    server.always(api + "/revision/main", document({{"sha", commit}, {"id", "org/set"}}));
    const std::string tree = api + "/tree/" + commit + "?recursive=true";
    const json large = {
        {"type", "file"},
        {"oid", std::string(40, '1')},
        {"size", 5},
        {"path", "data/large one.bin"},
        {"lfs",
         {{"oid", sabath::base::sha256_of("large").hex}, {"size", 5}, {"pointerSize", 120}}}};
    server.always(api + "/tree/" + commit + "/data", document(json::array({large})));
    Reply first = document(
        json::array({{{"type", "directory"}, {"oid", "0"}, {"size", 0}, {"path", "data"}}, large}));
    first.headers.emplace_back("Link", "<" + server.url(tree + "&cursor=x") + ">; rel=\"next\"");
    server.always(tree, first);
    server.always(tree + "&cursor=x",
                  document(json::array({{{"type", "file"},
                                         {"oid", std::string(40, '2')},
                                         {"size", 5},
                                         {"path", "README.md"}}})));
    server.put(resolved("data/large%20one.bin"), "large");
    server.put(resolved("README.md"), "hello");
  }
  static std::string resolved(const std::string& path) {
    return "/datasets/org/set/resolve/" + commit + "/" + path;
  }

 private:
  FaultServer& server_;
};

fs::path tree_of(const Answer& answer) {
  return json::parse(last_line(answer.output))["fetched"][0]["path"].get<std::string>();
}

void configure(Sabath& sabath, const json& endpoints) {
  const fs::path folder = sabath.folder() / "config";
  fs::create_directories(folder);
  write_text(folder / "config.json", json{{"schema", 1}, {"endpoints", endpoints}}.dump());
  sabath.environment()["SABATH_CONFIG"] = folder.string();
}

}  // namespace

TEST_CASE("cli: a data set of a hub is listed page by page, pinned to its commit, and verified") {
  Sabath sabath;
  FaultServer server;
  const Hub hub(server);
  sabath.environment()["HF_ENDPOINT"] = server.url("/");
  const Answer answer = sabath({"--json", "fetch", "hf://datasets/org/set"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "data/large one.bin") == "large");
  CHECK(text_of(tree_of(answer) / "README.md") == "hello");
  CHECK_THAT(answer.output, Contains("is commit " + commit));
  const std::size_t requests = server.requests().size();
  CHECK(sabath({"fetch", "hf://datasets/org/set", "--offline"}).status == 0);
  CHECK(server.requests().size() == requests);
}

TEST_CASE("cli: bytes of a hub that are not those of its listing are refused") {
  Sabath sabath;
  FaultServer server;
  const Hub hub(server);
  server.put(Hub::resolved("data/large%20one.bin"), "LARGE");
  sabath.environment()["HF_ENDPOINT"] = server.url("");
  const Answer answer = sabath({"fetch", "hf://datasets/org/set", "--retries", "0"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains(sabath::base::sha256_of("large").hex));
}

TEST_CASE("cli: one file of a hub, and only the files beneath a folder of it") {
  Sabath sabath;
  FaultServer server;
  const Hub hub(server);
  sabath.environment()["HF_ENDPOINT"] = server.url("");
  CHECK(sabath({"fetch", "hf://datasets/org/set/README.md", "-o", "there"}).status == 0);
  CHECK(text_of(sabath.folder() / "there/README.md") == "hello");
  CHECK(sabath({"fetch", "hf://datasets/org"}).status == 2);
}

TEST_CASE("cli: one file of a hub must have the digest that the hub publishes") {
  Sabath sabath;
  FaultServer server;
  const Hub hub(server);
  sabath.environment()["HF_ENDPOINT"] = server.url("");
  const std::string url = "hf://datasets/org/set/data/large one.bin";
  server.put(Hub::resolved("data/large%20one.bin"), "LARGE");
  const Answer wrong = sabath({"fetch", url, "--retries", "0"});
  CHECK(wrong.status == 11);
  CHECK_THAT(wrong.errors, Contains(sabath::base::sha256_of("large").hex));
  server.put(Hub::resolved("data/large%20one.bin"), "large");
  const Answer right = sabath({"fetch", url});
  INFO(right.errors);
  CHECK(right.status == 0);
}

TEST_CASE("cli: the token of a hub goes to the hub, and not to where it redirects") {
  Sabath sabath;
  FaultServer hub;
  FaultServer storage;
  storage.put("/blob", "hello");
  hub.always("/org/model/resolve/" + commit + "/weights.bin",
             {302, {{"Location", storage.url("/blob")}}, ""});
  sabath.environment()["HF_ENDPOINT"] = hub.url("");
  sabath.environment()["HF_TOKEN"] = "hf_s3cret";
  const Answer answer = sabath({"fetch", "hf://org/model@" + commit + "/weights.bin"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(hub.requests().back().header("authorization") == "Bearer hf_s3cret");
  for (const SeenRequest& request : storage.requests())
    CHECK(request.header("authorization").empty());
  CHECK(sabath.program({"grep", "-r", "-l", "hf_s3cret", sabath.home().string()}).status == 1);
}

TEST_CASE("cli: a record of Zenodo is its files, with their checksums") {
  Sabath sabath;
  FaultServer server;
  server.put("/files/a", "one");
  server.always("/api/records/42",
                document({{"id", 42},
                          {"files",
                           json::array({{{"key", "sub/a.txt"},
                                         {"size", 3},
                                         {"checksum", "md5:f97c5d29941bfb1b2fdab0874906ab82"},
                                         {"links", {{"self", server.url("/files/a")}}}}})}}));
  configure(sabath, {{"zenodo", server.url("")}});
  const Answer answer = sabath({"--json", "fetch", "doi:10.5281/zenodo.42"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "sub/a.txt") == "one");
  CHECK(sabath({"fetch", "doi:10.5281/zenodo.42#sub/a.txt"}).status == 0);
  server.put("/files/a", "two");
  const Answer wrong =
      sabath({"fetch", "doi:10.5281/zenodo.42#sub/a.txt", "--refresh", "--retries", "0"});
  CHECK(wrong.status == 11);
  CHECK_THAT(wrong.errors, Contains("f97c5d29941bfb1b2fdab0874906ab82"));
  const Answer missing = sabath({"fetch", "doi:10.5281/zenodo.42#b.txt"});
  CHECK(missing.status == 10);
  CHECK_THAT(missing.errors, Contains("has no file 'b.txt'"));
}

TEST_CASE("cli: a DOI is followed to its landing page, and the service there is asked") {
  Sabath sabath;
  FaultServer server;
  server.always(
      "/10.1234/ABC",
      {302, {{"Location", server.url("/dataset.xhtml?persistentId=doi:10.1234/ABC")}}, ""});
  server.always("/dataset.xhtml?persistentId=doi:10.1234/ABC", {200, {}, "<html>"});
  server.put("/api/access/datafile/7", "one");
  server.always(
      "/api/datasets/:persistentId/?persistentId=doi:10.1234/ABC",
      document({{"status", "OK"},
                {"data",
                 {{"latestVersion",
                   {{"files",
                     json::array({{{"directoryLabel", "d"},
                                   {"dataFile",
                                    {{"id", 7},
                                     {"filename", "x.txt"},
                                     {"filesize", 3},
                                     {"checksum",
                                      {{"type", "MD5"},
                                       {"value", "f97c5d29941bfb1b2fdab0874906ab82"}}}}}}})}}}}}}));
  server.always("/10.9999/other", {200, {}, "<html>"});
  configure(sabath, {{"doi", server.url("")}});
  const Answer answer = sabath({"--json", "fetch", "doi:10.1234/ABC"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "d/x.txt") == "one");
  const Answer other = sabath({"fetch", "doi:10.9999/other"});
  CHECK(other.status == 12);
  CHECK_THAT(other.errors, Contains("not a known service"));
}

TEST_CASE("cli: what is not a DOI is named, and asks nobody") {
  Sabath sabath;
  for (const std::string url : {"doi:../../etc/passwd", "doi:10.5281/../x", "doi:10.5281"}) {
    const Answer answer = sabath({"fetch", url});
    CAPTURE(answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("malformed DOI '" + url.substr(4) + "'"));
  }
}

TEST_CASE("cli: a service that answers something else is told so") {
  Sabath sabath;
  FaultServer server;
  server.always("/api/records/42", {200, {}, "<html>maintenance</html>"});
  configure(sabath, {{"zenodo", server.url("")}});
  const Answer answer = sabath({"fetch", "doi:10.5281/zenodo.42"});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("answered something unknown"));
}
