// `sabath fetch --refresh` of assets of many files.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/nginx.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr int many = 20;

std::string target_of(int number) {
  return "/set/" + std::to_string(number);
}

/// An asset of many files of a server; number n has the text "n".
struct Case {
  Case() {
    for (int i = 0; i < many; ++i)
      server.put(target_of(i), std::to_string(i));
    list_urls(0, many);
    sabath.asset("many",
                 R"({"schema": 1, "kind": "dataset", "name": "many", "list": ")" +
                     server.url("/set/list") + R"("})");
  }

  /// The list says nothing of these files but where they are.
  void list_urls(int begin, int end) {
    std::string list;
    for (int i = begin; i < end; ++i)
      list += server.url(target_of(i)) + "\n";
    server.put("/set/list", list);
  }
  /// The list says what bytes the files have now.
  void list_digests() {
    std::string list;
    for (int i = 0; i < many; ++i) {
      const std::string text = server.whole(target_of(i)).body;
      list += sabath::base::sha256_of(text).hex + "  " + std::to_string(i) + "\n";
    }
    server.put("/set/list", list);
  }
  /// The requests that `refresh` made for files, in the order of their targets.
  std::vector<SeenRequest> refresh(const std::vector<std::string>& more = {}) {
    const std::size_t before = server.requests().size();
    std::vector<std::string> command{"fetch", "many", "--refresh"};
    command.insert(command.end(), more.begin(), more.end());
    answer = sabath(command);
    INFO(answer.errors);
    CHECK(answer.status == 0);
    auto requests = server.requests();
    requests.erase(requests.begin(), requests.begin() + static_cast<std::ptrdiff_t>(before));
    std::erase_if(requests,
                  [](const SeenRequest& request) { return request.target == "/set/list"; });
    return requests;
  }
  fs::path tree() const {
    const auto at = answer.output.rfind("  at ");
    return answer.output.substr(at + 5, answer.output.find('\n', at) - at - 5);
  }
  fs::path origins_record() const {
    return sabath.cache() / "sources" / (sabath::base::sha256_of("origins:many").hex + ".json");
  }
  fs::path object(const std::string& hex) const {
    return sabath.cache() / "objects/sha256" / hex.substr(0, 2) / hex.substr(2);
  }

  Sabath sabath{};
  FaultServer server{};
  Answer answer{};
};

bool all_had_an_etag(const std::vector<SeenRequest>& requests) {
  return std::none_of(requests.begin(), requests.end(), [](const SeenRequest& request) {
    return request.header("if-none-match").empty();
  });
}

std::size_t without_condition(const std::vector<SeenRequest>& requests) {
  return static_cast<std::size_t>(
      std::count_if(requests.begin(), requests.end(), [](const SeenRequest& request) {
        return request.header("if-none-match").empty() &&
               request.header("if-modified-since").empty();
      }));
}

}  // namespace

TEST_CASE("cli: a refresh of many files asks for each, and downloads none that has not changed") {
  Case c;
  SECTION("of which the list says nothing") {}
  SECTION("of which the list says the digests") {
    c.list_digests();
  }
  c.answer = c.sabath({"fetch", "many"});
  REQUIRE(c.answer.status == 0);
  const fs::path tree = c.tree();
  for (int i = 0; i < 2; ++i) {
    const auto requests = c.refresh();
    CHECK(requests.size() == many);
    CHECK(all_had_an_etag(requests));
    CHECK_THAT(c.answer.output, Contains("20 files, 20 already there, 0 B downloaded"));
    CHECK(c.tree() == tree);
  }
  CHECK(c.sabath({"verify", "many", "--full"}).status == 0);
}

TEST_CASE("cli: a refresh of many files downloads just the one that has changed") {
  Case c;
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  c.server.put(target_of(7), "changed");
  CHECK(c.refresh().size() == many);
  CHECK_THAT(c.answer.output, Contains("19 already there, 7 B downloaded"));
  CHECK_THAT(c.answer.errors, Contains("1 of 20 files have other bytes") && Contains(": 7"));
  CHECK(text_of(c.tree() / "7") == "changed");
  CHECK(text_of(c.tree() / "8") == "8");
  // And then that is what it has.
  CHECK(all_had_an_etag(c.refresh()));
  CHECK_THAT(c.answer.output, Contains("20 already there, 0 B downloaded"));
  CHECK_THAT(c.answer.errors, !Contains("other bytes"));
}

TEST_CASE("cli: a refresh of a list that names other files than before takes what is in both") {
  Case c;
  c.list_urls(0, many - 2);
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  c.list_urls(1, many);
  const auto requests = c.refresh();
  CHECK(requests.size() == many - 1);
  CHECK(without_condition(requests) == 2);
  CHECK_THAT(c.answer.output, Contains("19 files, 17 already there, 4 B downloaded"));
  CHECK_FALSE(fs::exists(c.tree() / "0"));
  CHECK(text_of(c.tree() / "1") == "1");
  CHECK(text_of(c.tree() / "19") == "19");
  // What was forgotten with the list is asked for without a condition again.
  c.list_urls(0, many);
  CHECK(without_condition(c.refresh()) == 1);
}

TEST_CASE("cli: what was copied from a tree is still known by what its source said of it") {
  Case c;
  c.list_urls(0, many - 2);
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  c.list_urls(0, many);
  sabath::base::remove_tree(c.sabath.cache() / "sources" /
                            (sabath::base::sha256_of(c.server.url("/set/list")).hex + ".json"));
  const Answer grown = c.sabath({"fetch", "many"});
  INFO(grown.errors);
  REQUIRE_THAT(grown.output, Contains("20 files, 18 already there"));
  CHECK(all_had_an_etag(c.refresh()));
  CHECK(without_condition(c.refresh({"--limit", "3"})) == 0);
  CHECK(without_condition(c.refresh()) == 0);
}

TEST_CASE("cli: a file that is spoilt here is fetched, though its source has not changed") {
  Case c;
  c.answer = c.sabath({"fetch", "many"});
  REQUIRE(c.answer.status == 0);
  const fs::path file = c.tree() / "5";
  fs::permissions(file, fs::perms(0644));
  std::string other = "x";
  SECTION("with as many bytes as before") {}
  SECTION("with more") {
    other = "xx";
  }
  write_text(file, other);
  const auto requests = c.refresh();
  CHECK_THAT(c.answer.output, Contains("19 already there, 1 B downloaded"));
  CHECK(without_condition(requests) == 1);
  CHECK(text_of(c.tree() / "5") == "5");
  CHECK(c.sabath({"verify", "many", "--full"}).status == 0);
}

TEST_CASE("cli: what a list says of its files counts more than that their source has not changed") {
  Case c;
  c.list_digests();
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  std::string list = c.server.whole("/set/list").body;
  const std::string old = sabath::base::sha256_of("7").hex;
  list.replace(list.find(old), old.size(), sabath::base::sha256_of("of now").hex);
  c.server.put("/set/list", list);
  const Answer answer = c.sabath({"fetch", "many", "--refresh", "--retries", "0"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("1 of 20 files") && Contains(old));
}

TEST_CASE("cli: a repair forgets nothing of what sources said of the files") {
  Case c;
  c.answer = c.sabath({"fetch", "many"});
  REQUIRE(c.answer.status == 0);
  const fs::path file = c.tree() / "5";
  fs::permissions(file, fs::perms(0644));
  write_text(file, "x");
  REQUIRE(c.sabath({"cache", "repair", "many"}).status == 0);
  const auto requests = c.refresh();
  CHECK(requests.size() == many);
  CHECK(without_condition(requests) == 0);
}

TEST_CASE("cli: a file that has not changed is not taken where the document says another size") {
  Case c;
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  json asset = {{"schema", 1}, {"kind", "dataset"}, {"name", "many"}};
  for (int i = 0; i < many; ++i) {
    json file = {{"path", std::to_string(i)}, {"sources", {c.server.url(target_of(i))}}};
    if (i == 7) file["size"] = 9;
    asset["manifest"].push_back(file);
  }
  c.sabath.asset("many", asset.dump());
  const Answer answer = c.sabath({"fetch", "many", "--refresh", "--retries", "0"});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("1 of 20 files") && Contains("9 are expected"));
}

TEST_CASE("cli: that a file has not changed is no answer to who has nothing of it") {
  Case c;
  c.server.always(target_of(3), {304, {}, {}});
  const Answer answer = c.sabath({"fetch", "many", "--retries", "0"});
  CHECK(answer.status == 12);
  CHECK_THAT(answer.errors, Contains("1 of 20 files") && Contains("304"));
}

TEST_CASE("cli: origins without what sources said of versions are read") {
  Case c;
  REQUIRE(c.sabath({"fetch", "many"}).status == 0);
  json record = json::parse(text_of(c.origins_record()));
  std::string lines = "sabath origins 1\n";
  for (int i = 0; i < many; ++i) {
    lines += sabath::base::sha256_of(c.server.url(target_of(i))).hex + " " +
             sabath::base::sha256_of(std::to_string(i)).hex + "\n";
  }
  const std::string hex = sabath::base::sha256_of(lines).hex;
  fs::create_directories(c.object(hex).parent_path());
  write_text(c.object(hex), lines);
  record["digest"] = "sha256:" + hex;
  record["size"] = lines.size();
  write_text(c.origins_record(), record.dump());
  c.server.put(target_of(7), "changed");
  const auto requests = c.refresh();
  CHECK(without_condition(requests) == many);
  CHECK_THAT(c.answer.errors, Contains("1 of 20 files have other bytes") && Contains(": 7"));
  CHECK(all_had_an_etag(c.refresh()));
}

TEST_CASE("cli: nginx is asked for many files again over HTTP/2, and sends what has changed") {
  Sabath sabath;
  Nginx server;
  std::string list;
  for (int i = 0; i < 60; ++i) {
    server.put(target_of(i), std::to_string(i));
    list += server.tls_url(target_of(i)) + "\n";
  }
  server.put("/set/list", list);
  sabath.environment()["SSL_CERT_FILE"] = server.certificate();
  sabath.asset("many",
               R"({"schema": 1, "kind": "dataset", "name": "many", "list": ")" +
                   server.tls_url("/set/list") + R"("})");
  REQUIRE(sabath({"fetch", "many"}).status == 0);
  server.stop();
  server.start();
  server.put(target_of(7), "changed");
  const Answer answer = sabath({"fetch", "many", "--refresh"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("60 files, 59 already there, 7 B downloaded"));
  const auto log = server.finish();
  CHECK(log.size() == 61);
  CHECK(count_status(log, 304) == 60);  // the list, too
  CHECK(body_bytes(log) == 7);
  CHECK(connections(log).size() <= 3);
}
