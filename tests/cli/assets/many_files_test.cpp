// Assets of many files.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string name_of(int number) {
  return "maps/" + std::to_string(number) + ".txt";
}

/// A list of so many files; number n has the text "n".
void put_list(FaultServer& server, int count) {
  std::string list = "# a list\n\n";
  for (int i = 0; i < count; ++i) {
    const std::string text = std::to_string(i);
    server.put("/set/" + name_of(i), text);
    list += sabath::base::sha256_of(text).hex + "  " + name_of(i) + "\n";
  }
  server.put("/set/SHA256SUMS", list);
}

/// A list of the URLs of 20 files, which says nothing else of them; number n has the text "n".
void put_urls(FaultServer& server) {
  std::string urls;
  for (int i = 0; i < 20; ++i) {
    const std::string target = "/set/" + std::to_string(i);
    server.put(target, std::to_string(i));
    urls += server.url(target) + "\n";
  }
  server.put("/set/list", urls);
}

void listed(const Sabath& sabath, const std::string& list, const std::string& more = "") {
  sabath.asset(
      "many",
      R"({"schema": 1, "kind": "dataset", "name": "many", "list": ")" + list + R"(")" + more + "}");
}

fs::path tree_of(const Answer& answer) {
  return json::parse(last_line(answer.output))["fetched"][0]["path"].get<std::string>();
}

std::size_t files_in(const fs::path& tree) {
  std::size_t count = 0;
  for (const auto& entry : fs::recursive_directory_iterator(tree))
    count += entry.path().filename() != ".sabath-tree.json" && !entry.is_directory() ? 1 : 0;
  return count;
}

/// How many files of a list that is under way a later attempt will not ask for.
std::ptrdiff_t noted_files(const Sabath& sabath) {
  std::error_code code;
  for (const auto& entry : fs::recursive_directory_iterator(sabath.cache() / "partial", code)) {
    if (entry.path().filename() != "files" || !entry.is_regular_file(code)) continue;
    const std::string text = text_of(entry.path());
    return std::count(text.begin(), text.end(), '\n') - 1;
  }
  return 0;
}

}  // namespace

TEST_CASE("cli: a list is fetched file by file, and is there the second time") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 40);
  listed(sabath, server.url("/set/SHA256SUMS"));
  const Answer answer = sabath({"--json", "fetch", "many"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(files_in(tree_of(answer)) == 40);
  CHECK(text_of(tree_of(answer) / name_of(17)) == "17");
  const std::size_t requests = server.requests().size();
  const Answer again = sabath({"fetch", "many"});
  CHECK_THAT(again.output, Contains("40 files, 40 already there, 0 B downloaded"));
  CHECK(sabath({"fetch", "many", "--offline"}).status == 0);
  CHECK(server.requests().size() == requests);
}

TEST_CASE("cli: of 300 files one that is gone does not stop the others") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 300);
  server.once("/set/" + name_of(123), {404, {}, "gone"});
  listed(sabath, server.url("/set/SHA256SUMS"));
  const Answer answer = sabath({"fetch", "many"});
  CHECK(answer.status == 10);
  CHECK_THAT(
      answer.errors,
      Contains("1 of 300 files could not be fetched") && Contains(name_of(123)) && Contains("404"));
  const std::size_t requests = server.requests().size();
  const Answer again = sabath({"fetch", "many"});
  INFO(again.errors);
  CHECK(again.status == 0);
  CHECK_THAT(again.output, Contains("299 already there"));
  CHECK(server.requests().size() == requests + 1);
}

TEST_CASE("cli: files of a list that have other bytes are named, and not kept") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 10);
  for (int i = 0; i < 5; ++i)
    server.put("/set/" + name_of(i), "wrong");
  listed(sabath, server.url("/set/SHA256SUMS"));
  const Answer answer = sabath({"fetch", "many", "--retries", "0"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors,
             Contains("5 of 10 files") && Contains(sabath::base::sha256_of("wrong").hex) &&
                 Contains("and 2 more"));
  CHECK_THAT(sabath({"verify", "--full"}).output, Contains("1 objects and 0 trees"));  // the list
  put_list(server, 10);
  const std::size_t requests = server.requests().size();
  const Answer again = sabath({"fetch", "many"});
  INFO(again.errors);
  CHECK(again.status == 0);
  CHECK(server.requests().size() == requests + 5);
}

TEST_CASE("cli: files of a document, when they are many, are one tree without objects") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 40);
  std::string files;
  for (int i = 0; i < 40; ++i) {
    files += (i > 0 ? "," : "") + (R"({"path": ")" + name_of(i)) + R"(", "sources": [")" +
             server.url("/set/" + name_of(i)) + R"("]})";
  }
  sabath.asset("many",
               R"({"schema": 1, "kind": "dataset", "name": "many", "files": [)" + files + "]}");
  const Answer answer = sabath({"--json", "fetch", "many"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / name_of(39)) == "39");
  CHECK_THAT(sabath({"verify", "--full"}).output, Contains("1 objects and 1 trees"));
  CHECK(sabath({"fetch", "many", "--offline"}).status == 0);
  // The next time they are asked for again, and what changed is named.
  server.put("/set/" + name_of(7), "changed");
  const Answer refreshed = sabath({"--json", "fetch", "many", "--refresh"});
  CHECK(refreshed.status == 0);
  CHECK_THAT(refreshed.output + refreshed.errors,
             Contains("1 of 40 files") && Contains(name_of(7)));
  CHECK(text_of(tree_of(refreshed) / name_of(7)) == "changed");
}

TEST_CASE("cli: of a list that has grown only what is new is fetched") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 20);
  listed(sabath, server.url("/set/SHA256SUMS"));
  REQUIRE(sabath({"fetch", "many"}).status == 0);
  put_list(server, 22);
  server.put("/set/more", server.whole("/set/SHA256SUMS").body);
  listed(sabath, server.url("/set/more"));
  const std::size_t requests = server.requests().size();
  const Answer grown = sabath({"--json", "fetch", "many"});
  INFO(grown.errors);
  REQUIRE(grown.status == 0);
  CHECK(files_in(tree_of(grown)) == 22);
  CHECK(server.requests().size() == requests + 3);  // the list and two files
  // A single file that is in a tree is not fetched either.
  const Answer one = sabath(
      {"fetch", server.url("/other"), "--offline", "--sha256", sabath::base::sha256_of("7").hex});
  INFO(one.errors);
  CHECK(one.status == 0);
}

TEST_CASE("cli: of a damaged tree of many files only what is damaged is fetched again") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 20);
  listed(sabath, server.url("/set/SHA256SUMS"));
  const Answer answer = sabath({"--json", "fetch", "many"});
  REQUIRE(answer.status == 0);
  const fs::path file = tree_of(answer) / name_of(5);
  fs::permissions(file, fs::perms(0644));
  write_text(file, "spoilt");
  const Answer verified = sabath({"verify", "many"});
  CHECK(verified.status == 1);
  CHECK_THAT(verified.output, Contains(name_of(5)));
  const std::size_t requests = server.requests().size();
  const Answer repaired = sabath({"cache", "repair", "many"});
  INFO(repaired.output << repaired.errors);
  CHECK(repaired.status == 0);
  CHECK(server.requests().size() == requests + 1);
  CHECK(text_of(file) == "5");
  CHECK(sabath({"verify", "many", "--full"}).status == 0);
}

TEST_CASE("cli: a limit takes the first files of a list") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 20);
  listed(sabath, server.url("/set/SHA256SUMS"), R"(, "limit": 5)");
  CHECK(files_in(tree_of(sabath({"--json", "fetch", "many"}))) == 5);
  CHECK(files_in(tree_of(sabath({"--json", "fetch", "many", "--limit", "3"}))) == 3);
  CHECK(files_in(tree_of(sabath({"--json", "fetch", "many", "--limit", "9"}))) == 5);
}

TEST_CASE("cli: a list may name URLs, and a base from which their paths are told") {
  Sabath sabath;
  FaultServer server;
  server.put("/a/1%20one.txt", "one");
  server.put("/b/2.txt", "two");
  server.put("/lists/list",
             server.url("/a/1%20one.txt") + "\r\n" + server.url("/b/2.txt") + "\r\n");
  listed(sabath, server.url("/lists/list"));
  const Answer flat = sabath({"--json", "fetch", "many"});
  INFO(flat.errors);
  REQUIRE(flat.status == 0);
  CHECK(text_of(tree_of(flat) / "1 one.txt") == "one");
  listed(sabath, server.url("/lists/list"), R"(, "base": ")" + server.url("/") + R"(")");
  CHECK(text_of(tree_of(sabath({"--json", "fetch", "many"})) / "b/2.txt") == "two");
}

TEST_CASE("cli: a list that leads out of its folder is refused before anything is fetched") {
  Sabath sabath;
  FaultServer server;
  server.put("/set/list", "../../etc/passwd\nfine\n/etc/shadow\n");
  listed(sabath, server.url("/set/list"));
  const Answer answer = sabath({"fetch", "many"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("list:1: '../../etc/passwd'") && Contains("list:3"));
  CHECK(server.requests().size() == 1);
}

TEST_CASE("cli: a manifest takes what has no source of its own from its base") {
  Sabath sabath;
  FaultServer server;
  server.put("/base/a/1.txt", "one");
  server.put("/other/two", "two");
  sabath.asset("few",
               R"({"schema": 1, "kind": "dataset", "name": "few", "base": ")" +
                   server.url("/base/") + R"(", "manifest": [
      {"path": "a/1.txt", "size": 3}, {"path": "2.txt", "sources": [")" +
                   server.url("/other/two") + R"("]}]})");
  const Answer answer = sabath({"--json", "fetch", "few"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "a/1.txt") == "one");
  CHECK(text_of(tree_of(answer) / "2.txt") == "two");
}

TEST_CASE("cli: --refresh tells what a file was before and what it is now") {
  Sabath sabath;
  FaultServer server;
  server.put("/x", "old");
  REQUIRE(sabath({"fetch", server.url("/x")}).status == 0);
  server.put("/x", "new");
  const Answer answer = sabath({"fetch", server.url("/x"), "--refresh"});
  CHECK(answer.status == 0);
  CHECK_THAT(
      answer.errors,
      Contains(sabath::base::sha256_of("old").hex) && Contains(sabath::base::sha256_of("new").hex));
}

TEST_CASE("cli: --refresh downloads nothing where the server says that nothing changed") {
  Sabath sabath;
  FaultServer server;
  server.put("/x", std::string(100'000, 'x'));
  REQUIRE(sabath({"fetch", server.url("/x")}).status == 0);
  const Answer answer = sabath({"fetch", server.url("/x"), "--refresh"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("1 already there, 0 B downloaded"));
  CHECK_THAT(answer.errors, Contains("unchanged since"));
  CHECK_FALSE(server.requests().back().header("if-none-match").empty());
}

TEST_CASE("cli: what --refresh finds changed is an error where the document has a digest") {
  Sabath sabath;
  FaultServer server;
  server.put("/x", "old");
  const std::string old = sabath::base::sha256_of("old").hex;
  sabath.asset("pinned",
               R"({"schema": 1, "kind": "dataset", "name": "pinned", "files": [{"path": "x",
      "digest": {"sha256": ")" +
                   old + R"("}, "sources": [")" + server.url("/x") + R"("]}]})");
  REQUIRE(sabath({"fetch", "pinned"}).status == 0);
  server.put("/x", "new");
  const Answer answer = sabath({"fetch", "pinned", "--refresh", "--retries", "0"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains(old) && Contains(sabath::base::sha256_of("new").hex));
  CHECK(sabath({"fetch", "pinned"}).status == 0);
}

TEST_CASE("cli: of several processes that want one file, one downloads it") {
  Sabath sabath;
  FaultServer server;
  server.put("/x", std::string(500'000, 'x'));
  const std::vector<std::string> command{"fetch", server.url("/x")};
  std::vector<std::unique_ptr<Running>> processes;
  for (int i = 0; i < 6; ++i)
    processes.emplace_back(new Running(sabath.start(command)));
  for (const auto& process : processes)
    CHECK(process->wait().status == 0);
  CHECK(server.requests().size() == 1);
}

TEST_CASE("cli: a list that was interrupted goes on with what is missing") {
  Sabath sabath;
  FaultServer server;
  put_list(server, 30);
  Reply stalled = server.whole("/set/" + name_of(20));
  stalled.stall_after_bytes = 1;
  server.once("/set/" + name_of(20), stalled);
  listed(sabath, server.url("/set/SHA256SUMS"));
  Running first = sabath.start({"fetch", "many"});
  // Most have come by then, and one hangs.
  REQUIRE(eventually([&] { return noted_files(sabath) >= 20; }));
  first.signal(9);
  first.wait();
  const Answer again = sabath({"fetch", "many"});
  INFO(again.errors);
  CHECK(again.status == 0);
  CHECK(again.output.find(" 0 already there") == std::string::npos);
  CHECK(sabath({"verify", "--full"}).status == 0);
}

TEST_CASE("cli: a large file of a list is gone on with, though the list does not say its size") {
  Sabath sabath;
  FaultServer server;
  const std::string large = std::string(12U << 20U, 'x') + "end";
  server.put("/set/large", large);
  server.put("/set/small", "small");
  server.put("/set/SHA256SUMS",
             sabath::base::sha256_of(large).hex + "  large\n" +
                 sabath::base::sha256_of("small").hex + "  small\n");
  listed(sabath, server.url("/set/SHA256SUMS"));
  Reply cut = server.whole("/set/large");
  cut.cut_after_bytes = 10U << 20U;
  server.once("/set/large", cut);
  std::vector<std::string> command{"--json", "fetch", "many"};
  SECTION("at once") {}
  SECTION("by a later attempt") {
    CHECK(sabath({"fetch", "many", "--retries", "0"}).status == 12);
  }
  SECTION("by a refresh") {
    CHECK(sabath({"fetch", "many", "--retries", "0"}).status == 12);
    command.push_back("--refresh");
  }
  const Answer answer = sabath(command);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK((text_of(tree_of(answer) / "large") == large));
  CHECK(text_of(tree_of(answer) / "small") == "small");
  const auto requests = server.requests();
  const auto continued = std::find_if(requests.begin(), requests.end(), [](const auto& request) {
    return request.target == "/set/large" && !request.header("range").empty();
  });
  REQUIRE(continued != requests.end());
  CHECK_THAT(continued->header("range"), Catch::StartsWith("bytes=10485760-"));
  CHECK(sabath({"verify", "--full"}).status == 0);
}

TEST_CASE("cli: a large file of which not even the server says the size comes with its list") {
  Sabath sabath;
  FaultServer server;
  const std::string large(9U << 20U, 'x');
  server.put("/set/large", large);
  Reply reply = server.whole("/set/large");
  reply.chunked = true;
  server.always("/set/large", reply);
  server.put("/set/SHA256SUMS", sabath::base::sha256_of(large).hex + "  large\n");
  listed(sabath, server.url("/set/SHA256SUMS"));
  const Answer answer = sabath({"--json", "fetch", "many"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK((text_of(tree_of(answer) / "large") == large));
}

TEST_CASE("cli: a refresh takes nothing from an earlier one that failed") {
  Sabath sabath;
  FaultServer server;
  put_urls(server);
  listed(sabath, server.url("/set/list"));
  REQUIRE(sabath({"fetch", "many"}).status == 0);
  server.put("/set/3", "of then");
  server.once("/set/17", {404, {}, "gone"});
  REQUIRE(sabath({"fetch", "many", "--refresh"}).status == 10);
  server.put("/set/3", "of now");
  const Answer answer = sabath({"--json", "fetch", "many", "--refresh"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "3") == "of now");
  CHECK(files_in(tree_of(answer)) == 20);
}

TEST_CASE("cli: a limit forgets nothing of what the other files of a list were") {
  Sabath sabath;
  FaultServer server;
  put_urls(server);
  listed(sabath, server.url("/set/list"));
  REQUIRE(sabath({"fetch", "many"}).status == 0);
  REQUIRE(sabath({"fetch", "many", "--limit", "3"}).status == 0);
  server.put("/set/1", "changed");
  server.put("/set/10", "changed");
  const Answer answer = sabath({"fetch", "many", "--refresh"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("2 of 20 files have other bytes") && Contains(": 1, 10"));
}

TEST_CASE("cli: what a set needs is counted without what is there of its large files") {
  Sabath sabath;
  FaultServer server;
  const std::string large(9U << 20U, 'x');
  server.put("/large", large);
  Reply cut = server.whole("/large");
  cut.cut_after_bytes = 7U << 20U;
  server.once("/large", cut);
  sabath.asset("many",
               R"({"schema": 1, "kind": "dataset", "name": "many", "manifest": [
      {"path": "large", "size": )" +
                   std::to_string(large.size()) + R"(, "digest": {"sha256": ")" +
                   sabath::base::sha256_of(large).hex + R"("}, "sources": [")" +
                   server.url("/large") + R"("]}]})");
  fs::create_directories(sabath.cache());
  const std::string mount = "mount -t tmpfs -o size=14m none " + sabath.cache().string();
  if (sabath.program({"unshare", "-rm", "sh", "-c", mount}).status != 0) {
    WARN("skipped: nothing can be mounted here");
    return;
  }
  const Answer answer =
      sabath.program({"unshare",
                      "-rm",
                      "sh",
                      "-c",
                      mount + " && \"$0\" fetch many --retries 0; \"$0\" fetch many",
                      SABATH_PROGRAM});
  INFO(answer.output << answer.errors);
  CHECK(answer.status == 0);
  CHECK(server.requests().size() > 1);
}

TEST_CASE("cli: what cannot fit is refused before the first byte") {
  Sabath sabath;
  FaultServer server;
  server.put("/x", "x");
  sabath.asset("huge",
               R"({"schema": 1, "kind": "dataset", "name": "huge", "files": [
      {"path": "x", "size": 900000000000000000, "sources": [")" +
                   server.url("/x") + R"("]}]})");
  const Answer answer = sabath({"fetch", "huge"});
  CHECK(answer.status == 16);
  CHECK(server.requests().empty());
}

TEST_CASE("cli: that a host cannot be reached is tried and told once for all files on it") {
  Sabath sabath;
  const std::string nobody = "http://127.0.0.1:" + std::to_string(unused_port()) + "/";
  json asset = {{"schema", 1}, {"kind", "dataset"}, {"name", "far"}, {"files", json::array()}};
  for (int i = 0; i < 4; ++i) {
    const std::string name = std::to_string(i);
    asset["files"].push_back({{"path", name}, {"sources", {nobody + name}}});
  }
  sabath.asset("far", asset.dump());
  const Answer answer = sabath({"fetch", "far", "--retries", "1"});
  CHECK(answer.status == 12);
  INFO(answer.errors);
  CHECK_THAT(answer.errors,
             Contains("asset 'far': 4 of 4 files could not be fetched\n  " + nobody +
                      "0: cannot connect") &&
                 Contains("and 3 more, whose hosts cannot be reached either") &&
                 Contains("--path"));
  CHECK(std::count(answer.errors.begin(), answer.errors.end(), '\n') == 6);
}

TEST_CASE("cli: repair fetches of a list only what is damaged, and nothing that a limit left out") {
  FaultServer server;
  const Sabath sabath;
  put_urls(server);
  listed(sabath, server.url("/set/list"));
  const Answer fetched = sabath({"--json", "fetch", "many", "--limit", "3"});
  REQUIRE(fetched.status == 0);
  const fs::path spoilt = tree_of(fetched) / "1";
  fs::permissions(spoilt, fs::perms::owner_write, fs::perm_options::add);
  write_text(spoilt, "x");
  const auto before = server.requests().size();
  const Answer repaired = sabath({"cache", "repair", "many"});
  INFO(repaired.output << repaired.errors);
  CHECK(repaired.status == 0);
  CHECK(server.requests().size() == before + 1);
  CHECK(server.requests().back().target == "/set/1");
  CHECK(sabath({"verify", "many", "--full"}).status == 0);
}

TEST_CASE("cli: what URLs gave that are no longer in the list is forgotten, but not with a limit") {
  FaultServer server;
  const Sabath sabath;
  put_urls(server);
  listed(sabath, server.url("/set/list"));
  const auto origins = [&] {
    const std::string name = sabath::base::sha256_of("origins:many").hex + ".json";
    const json record = json::parse(text_of(sabath.cache() / "sources" / name));
    const std::string digest = record["digest"].get<std::string>().substr(7);
    const std::string text =
        text_of(sabath.cache() / "objects/sha256" / digest.substr(0, 2) / digest.substr(2));
    return std::count(text.begin(), text.end(), '\n') - 1;
  };
  REQUIRE(sabath({"fetch", "many"}).status == 0);
  CHECK(origins() == 20);
  REQUIRE(sabath({"fetch", "many", "--refresh", "--limit", "3"}).status == 0);
  CHECK(origins() == 20);
  server.put("/set/list", server.url("/set/1") + "\n" + server.url("/set/2") + "\n");
  REQUIRE(sabath({"fetch", "many", "--refresh"}).status == 0);
  CHECK(origins() == 2);
  CHECK(sabath({"verify", "many"}).status == 0);
}
