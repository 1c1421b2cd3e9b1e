// Bytes into the cache: verified, or not at all.
#include "support/program.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <sstream>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr const char* zeros = "0000000000000000000000000000000000000000000000000000000000000000";

/// A file of the test's own and its URL.
std::string make_source(const Sabath& sabath, const std::string& content) {
  write_text(sabath.folder() / "source.txt", content);
  return "file://" + (sabath.folder() / "source.txt").string();
}

json result_of(const Answer& answer) {
  return json::parse(last_line(answer.output));
}

/// A data set "NAME" of these files (JSON objects).
void dataset(const Sabath& sabath, const std::string& name, const std::string& files) {
  sabath.asset(
      name,
      R"({"schema": 1, "kind": "dataset", "name": ")" + name + R"(", "files": [)" + files + "]}");
}

std::string file_entry(const std::string& path, const std::string& url, const std::string& more) {
  return R"({"path": ")" + path + R"(", "sources": [")" + url + R"("])" + more + "}";
}

fs::path tree_of(const Answer& answer) {
  return result_of(answer)["fetched"][0]["path"].get<std::string>();
}

fs::path object_of(const Answer& answer) {
  return result_of(answer)["fetched"][0]["files"][0]["object"].get<std::string>();
}

}  // namespace

TEST_CASE("cli: a URL is fetched, verified, and said to be there the second time") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const std::string digest = sabath::base::sha256_of("bytes").hex;
  const Answer first = sabath({"fetch", url, "--sha256", digest});
  CHECK(first.status == 0);
  CHECK_THAT(first.output, Contains(digest) && Contains("0 already there"));
  for (const bool with_digest : {true, false}) {
    std::vector<std::string> arguments{"fetch", url};
    if (with_digest) arguments.insert(arguments.end(), {"--sha256", digest});
    const Answer second = sabath(arguments);
    CHECK(second.status == 0);
    CHECK_THAT(second.output, Contains("1 already there, 0 B downloaded"));
  }
}

TEST_CASE("cli: bytes that do not match their digest are not kept") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer answer = sabath({"fetch", url, "--sha256", zeros});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors,
             Contains(std::string("expected sha256:") + zeros) &&
                 Contains(sabath::base::sha256_of("bytes").hex));
  CHECK(answer.output.empty());
  CHECK_THAT(sabath({"verify"}).output, Contains("0 objects"));
  CHECK(fs::is_empty(sabath.cache() / "partial"));
}

TEST_CASE("cli: the message about a wrong digest says whose bytes they were") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK_THAT(sabath({"fetch", url, "--sha256", zeros}).errors, Contains("source.txt"));
}

TEST_CASE("cli: --sha256 takes 64 hexadecimal digits and one URL") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK(sabath({"fetch", url, "--sha256", "12"}).status == 2);
  CHECK(sabath({"fetch", url, url, "--sha256", zeros}).status == 2);
  CHECK(sabath({"fetch", "name", "--sha256", zeros}).status == 2);
  CHECK_FALSE(fs::exists(sabath.cache()));
}

TEST_CASE("cli: a source that gives other bytes than before is an error that says so") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  sabath.asset("pinned",
               R"({"schema": 1, "kind": "dataset", "name": "pinned",
      "files": [{"path": "x", "sources": [")" +
                   url + R"("]}]})");
  const Answer first = sabath({"--json", "fetch", "pinned"});
  REQUIRE(first.status == 0);
  const fs::path object = object_of(first);
  fs::permissions(object, fs::perms(0644));
  fs::remove(object);
  make_source(sabath, "other");
  CHECK(sabath({"fetch", "pinned"}).status == 11);
  CHECK(sabath({"fetch", "pinned", "--refresh"}).status == 0);
}

TEST_CASE("cli: of several names all are tried, and what was fetched is told") {
  Sabath sabath;
  const std::string first = make_source(sabath, "bytes");
  write_text(sabath.folder() / "other.txt", "more");
  const std::string other = "file://" + (sabath.folder() / "other.txt").string();
  const Answer told = sabath({"fetch", first, "file:///no/such/file", "no-such-asset", other});
  CHECK(told.status == 10);
  CHECK_THAT(told.output,
             Contains(sabath::base::sha256_of("bytes").hex) &&
                 Contains(sabath::base::sha256_of("more").hex));
  CHECK_THAT(told.errors,
             Contains("2 of 4 could not be fetched") && Contains("/no/such/file") &&
                 Contains("no-such-asset"));

  const Answer answer = sabath({"--json", "fetch", "file:///no/such/file", first, other});
  CHECK(answer.status == 10);
  const json result = result_of(answer);
  CHECK(result["fetched"].size() == 2);
  REQUIRE(result["failed"].size() == 1);
  CHECK(result["failed"][0]["name"] == "file:///no/such/file");
  CHECK(result["failed"][0]["kind"] == "not_found");
  CHECK(json::parse(answer.errors)["error"]["kind"] == "not_found");
}

TEST_CASE("cli: a digest names nothing that could be fetched") {
  const Answer answer = Sabath()({"fetch", std::string("sha256:") + zeros});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("a digest does not say where the bytes are"));
}

TEST_CASE("cli: what a file URL names and is not there is not found") {
  Sabath sabath;
  const Answer answer = sabath({"fetch", "file:///no/such/file"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("/no/such/file"));
}

TEST_CASE("cli: an asset that nobody describes is not found, with the nearest name") {
  Sabath sabath;
  sabath.asset("thermals", R"({"schema": 1, "kind": "dataset", "name": "thermals",
      "files": [{"path": "x", "sources": ["file:///etc/hostname"]}]})");
  const Answer answer = sabath({"fetch", "thermal"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("did you mean 'thermals'?"));
}

TEST_CASE("cli: an asset behind a login prints the steps") {
  Sabath sabath;
  sabath.asset("guarded", R"({"schema": 1, "kind": "dataset", "name": "guarded",
      "access": {"policy": "login", "steps": ["make an account at example.org", "accept the terms"]},
      "files": [{"path": "x", "sources": ["https://example.org/x"]}]})");
  const Answer answer = sabath({"fetch", "guarded"});
  CHECK(answer.status == 17);
  CHECK_THAT(answer.errors,
             Contains("make an account at example.org") && Contains("accept the terms"));
}

TEST_CASE("cli: verify finds an object of which one byte was flipped, and fetch makes it good") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer fetched = sabath({"--json", "fetch", url});
  REQUIRE(fetched.status == 0);
  CHECK(sabath({"verify"}).status == 0);
  const fs::path object = object_of(fetched);
  fs::permissions(object, fs::perms(0644));
  write_text(object, "cytes");
  fs::permissions(object, fs::perms(0444));
  const Answer answer = sabath({"verify", "--full"});
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains(object.string()) && Contains("1 damaged"));
  CHECK(sabath({"fetch", url}).status == 0);
  CHECK(text_of(object) == "bytes");
}

TEST_CASE("cli: -o puts the files into a folder") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK(sabath({"fetch", url, "-o", "there"}).status == 0);
  CHECK(text_of(sabath.folder() / "there/source.txt") == "bytes");
  const Answer again = sabath({"fetch", url, "-o", "there"});
  CHECK(again.status == 0);
  CHECK_THAT(again.errors, Contains("there/source.txt: already there"));
  fs::remove(sabath.folder() / "there/source.txt");
  write_text(sabath.folder() / "there/source.txt", "mine");
  CHECK(sabath({"fetch", url, "-o", "there"}).status == 16);
  CHECK(text_of(sabath.folder() / "there/source.txt") == "mine");
}

TEST_CASE("cli: bytes that came under one name are not fetched again under another") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const std::string digest = sabath::base::sha256_of("bytes").hex;
  REQUIRE(sabath({"fetch", url}).status == 0);
  dataset(sabath,
          "renamed",
          file_entry("other.txt",
                     "https://example.invalid/x",
                     R"(, "digest": {"sha256": ")" + digest + R"("})"));
  const Answer answer = sabath({"fetch", "renamed"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("1 already there, 0 B downloaded"));
}

TEST_CASE("cli: bytes that are known by their md5 are not fetched again under another URL") {
  Sabath sabath;
  const std::string md5 = R"(, "digest": {"md5": "4b3a6218bb3e3a7303e8a171a60fcf92"})";  // "bytes"
  dataset(sabath, "first", file_entry("a", make_source(sabath, "bytes"), md5));
  dataset(sabath, "second", file_entry("b", "https://example.invalid/x", md5));
  REQUIRE(sabath({"fetch", "first"}).status == 0);
  CHECK_THAT(sabath({"fetch", "second"}).output, Contains("1 already there"));
}

TEST_CASE("cli: --offline gives what is there, and names what is not") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer missing = sabath({"fetch", url, "--offline"});
  CHECK(missing.status == 10);
  CHECK_THAT(missing.errors, Contains("source.txt") && Contains("--offline"));
  REQUIRE(sabath({"fetch", url}).status == 0);
  CHECK(sabath({"fetch", url, "--offline"}).status == 0);
  CHECK(sabath({"fetch", url, "--offline", "--refresh"}).status == 2);
}

TEST_CASE("cli: --path brings a file in that its document knows") {
  Sabath sabath;
  write_text(sabath.folder() / "mine.csv", "1,2\n");
  const std::string right = sabath::base::sha256_of("1,2\n").hex;
  sabath.asset("guarded",
               R"({"schema": 1, "kind": "dataset", "name": "guarded",
      "access": {"policy": "login", "steps": ["log in"]},
      "files": [{"path": "data.csv", "size": 4, "digest": {"sha256": ")" +
                   right + R"("}}]})");
  const Answer answer = sabath({"--json", "fetch", "guarded", "--path", "mine.csv"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "data.csv") == "1,2\n");
  fs::remove(sabath.folder() / "mine.csv");
  CHECK_THAT(sabath({"fetch", "guarded"}).output, Contains("1 already there"));
}

TEST_CASE("cli: --path refuses a file that is not the document's, and keeps nothing") {
  Sabath sabath;
  write_text(sabath.folder() / "mine.csv", "1,2\n");
  dataset(sabath,
          "pinned",
          file_entry("x",
                     "https://example.invalid/x",
                     std::string(R"(, "digest": {"sha256": ")") + zeros + R"("})"));
  const Answer answer = sabath({"fetch", "pinned", "--path", "mine.csv"});
  CHECK(answer.status == 11);
  CHECK_THAT(
      answer.errors,
      Contains("mine.csv") && Contains(zeros) && Contains(sabath::base::sha256_of("1,2\n").hex));
  CHECK_THAT(sabath({"verify"}).output, Contains("0 objects"));
  CHECK(sabath({"fetch", "pinned", "--path", "gone.csv"}).status == 10);
}

TEST_CASE("cli: --path takes a folder that holds the files under their paths") {
  Sabath sabath;
  fs::create_directories(sabath.folder() / "mine/a");
  write_text(sabath.folder() / "mine/a/1", "one");
  write_text(sabath.folder() / "mine/2", "two");
  dataset(sabath,
          "pair",
          file_entry("a/1", "https://example.invalid/1", "") + "," +
              file_entry("2", "https://example.invalid/2", ""));
  const Answer answer = sabath({"--json", "fetch", "pair", "--path", "mine"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(text_of(tree_of(answer) / "a/1") == "one");
  CHECK(sabath({"fetch", "pair", "--path", "mine/2"}).status == 2);
}

TEST_CASE("cli: --link refers to the data where they lie, and notices when they change") {
  Sabath sabath;
  const fs::path mine = sabath.folder() / "mine.bin";
  write_text(mine, "large data");
  dataset(sabath, "large", file_entry("data.bin", "https://example.invalid/x", ""));
  const Answer answer = sabath({"--json", "fetch", "large", "--path", "mine.bin", "--link"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  CHECK(fs::read_symlink(tree_of(answer) / "data.bin") == mine);
  CHECK_THAT(sabath({"verify"}).output, Contains("0 objects"));
  CHECK_THAT(sabath({"fetch", "large"}).output, Contains("linked"));
  const Answer right = sabath({"verify", "large", "--full"});
  INFO(right.output);
  CHECK(right.status == 0);
  CHECK_THAT(right.output, Contains("large: data.bin: is linked to " + mine.string()));
  CHECK(sabath({"cache", "pin", "large"}).status == 0);

  write_text(mine, "other data");
  const Answer wrong = sabath({"verify", "large"});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.output,
             Contains("large: data.bin: " + mine.string()) && Contains("has changed"));
  const Answer changed = sabath({"fetch", "large"});
  CHECK(changed.status == 11);
  CHECK_THAT(changed.errors,
             Contains("mine.bin") && Contains("has changed") &&
                 Contains(sabath::base::sha256_of("large data").hex) &&
                 Contains(sabath::base::sha256_of("other data").hex));
  fs::remove(mine);
  const Answer missing = sabath({"verify", "large"});
  CHECK(missing.status == 1);
  CHECK_THAT(missing.output, Contains(mine.string()) && Contains("is gone"));
  const Answer gone = sabath({"fetch", "large"});
  CHECK(gone.status == 11);
  CHECK_THAT(gone.errors, Contains("mine.bin") && Contains("is gone"));
  CHECK(sabath({"fetch", "large", "--link"}).status == 2);
}

TEST_CASE("cli: what a URL was linked to is verified by the URL") {
  const Sabath sabath;
  const fs::path mine = sabath.folder() / "mine.bin";
  write_text(mine, "large data");
  const std::string url = "https://example.invalid/x";
  REQUIRE(sabath({"fetch", url, "--path", "mine.bin", "--link"}).status == 0);
  CHECK(sabath({"verify", url}).status == 0);
  write_text(mine, "other data");
  const Answer wrong = sabath({"verify", url});
  CHECK(wrong.status == 1);
  CHECK_THAT(wrong.output, Contains(mine.string()) && Contains("has changed"));
}

TEST_CASE("cli: what one URL brought is verified once") {
  const Sabath sabath;
  const fs::path mine = sabath.folder() / "mine.bin";
  write_text(mine, "data");
  const std::string url = "file://" + mine.string();
  REQUIRE(sabath({"fetch", url}).status == 0);
  const Answer answer = sabath({"verify", url});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output, Contains("1 objects and 0 trees"));
}

TEST_CASE("cli: --fetcher uses no other than that one") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  CHECK(sabath({"fetch", url, "--fetcher", "file"}).status == 0);
  const Answer unknown = sabath({"fetch", url, "--fetcher", "pigeon"});
  CHECK(unknown.status == 2);
  CHECK_THAT(unknown.errors, Contains("pigeon") && Contains("known are"));
}

TEST_CASE("cli: with --json the events come first and the result last") {
  Sabath sabath;
  const std::string url = make_source(sabath, "bytes");
  const Answer answer = sabath({"--json", "fetch", url, "-o", "there"});
  REQUIRE(answer.status == 0);
  std::istringstream lines(answer.output);
  std::vector<std::string> types;
  for (std::string line; std::getline(lines, line);)
    types.push_back(json::parse(line)["type"]);
  REQUIRE(types.size() >= 2);
  CHECK(types.back() == "result");
  CHECK(std::count(types.begin(), types.end(), "result") == 1);
  CHECK(std::count(types.begin(), types.end(), "note") == 1);
}

TEST_CASE("cli: a single compressed file becomes the file that it holds") {
  Sabath sabath;
  write_text(sabath.folder() / "labels", std::string(100'000, 'x'));
  for (const char* program : {"gzip", "bzip2", "xz"})
    REQUIRE(sabath.program({program, "-k", (sabath.folder() / "labels").string()}).status == 0);
  const std::string url = "file://" + (sabath.folder() / "labels").string();
  dataset(sabath,
          "packed",
          file_entry("g/labels.gz", url + ".gz", R"(, "unpack": "gz")") + "," +
              file_entry("b/labels.bz2", url + ".bz2", R"(, "unpack": "bz2")") + "," +
              file_entry("x/labels.xz", url + ".xz", R"(, "unpack": "xz")"));
  const Answer answer = sabath({"--json", "fetch", "packed"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  for (const char* folder : {"g", "b", "x"})
    CHECK(text_of(tree_of(answer) / folder / "labels") == std::string(100'000, 'x'));
  const Answer again = sabath({"--json", "fetch", "packed"});
  CHECK(tree_of(again) == tree_of(answer));
  CHECK(again.output.find("unpacking") == std::string::npos);
}

TEST_CASE("cli: what is said to be compressed must be") {
  Sabath sabath;
  dataset(sabath, "plain", file_entry("x.gz", make_source(sabath, "plain"), R"(, "unpack": "gz")"));
  const Answer answer = sabath({"fetch", "plain"});
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("it is not a gzip file"));
}

TEST_CASE(
    "cli: what grows to more than 100 times its size is unpacked where the document says so") {
  Sabath sabath;
  const fs::path folder = sabath.folder();
  constexpr std::uint64_t size = 300U << 20U;
  write_text(folder / "zeros", "");
  fs::resize_file(folder / "zeros", size);
  const bool is_archive = GENERATE(true, false);
  const std::string name = is_archive ? "zeros.tar.gz" : "zeros.gz";
  if (is_archive) {
    REQUIRE(sabath.program({"tar", "-C", folder, "-czf", folder / name, "zeros"}).status == 0);
  } else {
    REQUIRE(sabath.program({"gzip", "-k", folder / "zeros"}).status == 0);
  }
  const auto fetch = [&](const std::string& more) {
    dataset(
        sabath,
        "bomb",
        file_entry(name,
                   "file://" + (folder / name).string(),
                   std::string(R"(, "unpack": ")") + (is_archive ? "tar" : "gz") + "\"" + more));
    return sabath({"--json", "fetch", "bomb"});
  };
  const Answer refused = fetch("");
  CHECK(refused.status == 11);
  CAPTURE(refused.output + refused.errors);
  CHECK_THAT(refused.errors, Contains("cannot be unpacked") && Contains("unpacked_size"));
  CHECK(fetch(R"(, "unpacked_size": 314572799)").status == 11);
  const Answer done = fetch(R"(, "unpacked_size": 314572800)");
  REQUIRE(done.status == 0);
  CHECK(fs::file_size(tree_of(done) / "zeros") == size);
}

TEST_CASE("cli: an archive of 20,000 empty folders is unpacked in seconds") {
  Sabath sabath;
  const fs::path folder = sabath.folder();
  for (int i = 0; i < 20'000; ++i)
    fs::create_directories(folder / "many" / std::to_string(i % 100) / std::to_string(i));
  REQUIRE(sabath.program({"tar", "-C", folder, "-cf", folder / "many.tar", "many"}).status == 0);
  dataset(
      sabath,
      "many",
      file_entry("many.tar", "file://" + (folder / "many.tar").string(), R"(, "unpack": "tar")"));
  const auto start = std::chrono::steady_clock::now();
  const Answer answer = sabath({"fetch", "many"});
  INFO(answer.errors);
  CHECK(answer.status == 0);
  // It was a minute.
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("cli: archives that lie in one folder are merged, beside plain files") {
  Sabath sabath;
  const fs::path folder = sabath.folder();
  for (const std::string name : {"a", "b"}) {
    write_text(folder / (name + ".txt"), name);
    REQUIRE(sabath.program({"tar", "-C", folder, "-cf", folder / (name + ".tar"), name + ".txt"})
                .status == 0);
  }
  const auto url = [&](const std::string& name) { return "file://" + (folder / name).string(); };
  dataset(sabath,
          "both",
          file_entry("a.tar", url("a.tar"), R"(, "unpack": "tar")") + "," +
              file_entry("b.tar", url("b.tar"), R"(, "unpack": "tar")") + "," +
              file_entry("in/a.tar", url("a.tar"), R"(, "unpack": "tar")") + "," +
              file_entry("plain.txt", url("a.txt"), ""));
  const Answer answer = sabath({"--json", "fetch", "both"});
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  for (const char* path : {"a.txt", "in/a.txt", "plain.txt"})
    CHECK(text_of(tree_of(answer) / path) == "a");
  CHECK(text_of(tree_of(answer) / "b.txt") == "b");
  CHECK(tree_of(sabath({"--json", "fetch", "both"})) == tree_of(answer));
  CHECK(sabath({"verify", "--full"}).status == 0);

  dataset(sabath,
          "clash",
          file_entry("a.tar", url("a.tar"), R"(, "unpack": "tar")") + "," +
              file_entry("a.txt", url("b.txt"), ""));
  const Answer clash = sabath({"fetch", "clash"});
  CHECK(clash.status == 11);
  CHECK_THAT(clash.errors, Contains("a.txt"));
}
