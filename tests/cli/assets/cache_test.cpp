// What the cache holds, what it may lose, and what comes back.
#include "support/answers.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

std::string make_source(const Sabath& sabath, const std::string& name, const std::string& content) {
  write_text(sabath.folder() / name, content);
  return "file://" + (sabath.folder() / name).string();
}

/// An asset of one file, described and fetched.
void fetch_asset(const Sabath& sabath, const std::string& name, const std::string& content) {
  const std::string url = make_source(sabath, name + ".txt", content);
  sabath.asset(name,
               R"({"schema": 1, "kind": "dataset", "name": ")" + name +
                   R"(", "files": [{"path": "x.txt", "sources": [")" + url + R"("]}]})");
  REQUIRE(sabath({"fetch", name}).status == 0);
}

json stored_in(const Sabath& sabath) {
  const Answer answer = sabath({"--json", "cache", "ls"});
  REQUIRE(answer.status == 0);
  return json::parse(answer.output)["stored"];
}

std::string hex_of(const std::string& content) {
  return sabath::base::sha256_of(content).hex;
}

void spoil(const fs::path& path, const std::string& content) {
  fs::permissions(path, fs::perms(0644));
  write_text(path, content);
  fs::permissions(path, fs::perms(0444));
}

}  // namespace

TEST_CASE("cli: cache ls and du say what is there, from where, and add up") {
  Sabath sabath;
  CHECK_THAT(sabath({"cache", "ls"}).output, Contains("nothing is in the cache yet"));
  fetch_asset(sabath, "alpha", std::string(100'000, 'a'));
  const std::string url = make_source(sabath, "loose.txt", std::string(200'000, 'b'));
  REQUIRE(sabath({"fetch", url}).status == 0);
  const json stored = stored_in(sabath);
  REQUIRE(stored.size() == 3);  // two objects and the asset's tree
  const Answer ls = sabath({"cache", "ls", "--sort", "size", "--limit", "1"});
  CHECK_THAT(ls.output, Contains(hex_of(std::string(200'000, 'b')).substr(0, 16)) && Contains(url));
  CHECK_THAT(ls.errors, Contains("and 2 more"));
  CHECK_THAT(sabath({"cache", "ls", "alpha"}).output, Contains("alpha") && !Contains("loose"));
  const json usage = json::parse(sabath({"--json", "cache", "du"}).output);
  std::uint64_t sum = 0;
  for (const json& row : usage["usage"])
    sum += row["disk"].get<std::uint64_t>();
  REQUIRE(usage["totals"].size() == 1);
  CHECK(usage["totals"][0]["disk"] == sum);
  CHECK(sum < 450'000);  // the tree's link is not counted twice
  CHECK_THAT(sabath({"cache", "du"}).output, Contains("alpha") && Contains("on disk"));
}

TEST_CASE("cli: a duration of more than a hundred years is refused wherever one is given") {
  Sabath sabath;
  fetch_asset(sabath, "alpha", "of alpha");
  const std::string age = "999999d";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"cache", "gc", "--older-than", age},
        {"env", "gc", "--older-than", age},
        {"wait", "--timeout", age},
        {"doctor", "--timeout", age}}) {
    const Answer answer = sabath(words);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("invalid duration '999999d'") && Contains("100 years"));
  }
  CHECK_THAT(sabath({"verify"}).output, Contains("1 objects"));
}

TEST_CASE("cli: cache gc keeps what is pinned and what was used today, and says why") {
  Sabath sabath;
  fetch_asset(sabath, "alpha", "of alpha");
  fetch_asset(sabath, "beta", "of beta");
  CHECK_THAT(sabath({"cache", "pin", "alpha", "--reason", "for the paper"}).output,
             Contains("pinned alpha"));
  CHECK_THAT(sabath({"cache", "pin"}).output, Contains("alpha") && Contains("for the paper"));
  const Answer recent = sabath({"cache", "gc"});
  CHECK_THAT(recent.output, Contains("removed 0") && Contains("used recently"));
  CHECK_THAT(sabath({"cache", "gc", "--older-than", "0s", "--dry-run"}).output,
             Contains("would remove 2"));
  CHECK(stored_in(sabath).size() == 4);
  const Answer gone = sabath({"cache", "gc", "--older-than", "0s"});
  CHECK_THAT(gone.output, Contains("removed 2") && Contains("pinned"));
  CHECK(stored_in(sabath).size() == 2);
  CHECK(sabath({"verify"}).status == 0);
  CHECK(sabath({"verify", "alpha"}).status == 0);
  CHECK(sabath({"verify", "beta"}).status == 1);
  CHECK(sabath({"cache", "unpin", "alpha"}).status == 0);
  CHECK(sabath({"cache", "unpin", "alpha"}).status == 10);
  sabath({"cache", "gc", "--older-than", "0s"});
  CHECK(stored_in(sabath).empty());
  CHECK(sabath({"fetch", "beta"}).status == 0);
}

TEST_CASE("cli: cache gc keeps what a run has read and made") {
  Sabath sabath;
  fetch_asset(sabath, "alpha", "of alpha");
  fetch_asset(sabath, "beta", "of beta");
  const std::string recipe = sabath.shell_recipe("reader",
                                                 "cat {dataset.train}/x.txt > {output}/copy.txt",
                                                 R"({"datasets": {"train": "alpha"}})",
                                                 R"({"outputs": ["copy.txt"]})");
  REQUIRE(sabath({"run", recipe}).status == 0);
  sabath({"cache", "gc", "--older-than", "0s"});
  CHECK_THAT(sabath({"cache", "ls"}).output,
             Contains("alpha") && Contains("1 run") && !Contains("beta"));
  CHECK(sabath({"verify", "@last"}).status == 0);
}

TEST_CASE("cli: cache gc removes nothing while the folder of runs is away") {
  const Sabath sabath;
  done(sabath,
       {"run", sabath.shell_recipe("maker", "echo 1 > {output}/x", "{}", R"({"outputs": ["x"]})")});
  fs::rename(sabath.runs(), sabath.folder() / "away");
  fs::create_symlink(sabath.folder() / "gone", sabath.runs());
  const Answer answer = sabath({"cache", "gc", "--older-than", "0s"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("runs: cannot read"));
  fs::remove(sabath.runs());
  fs::rename(sabath.folder() / "away", sabath.runs());
  CHECK(sabath({"verify", "@last"}).status == 0);
  done(sabath, {"cache", "gc", "--older-than", "0s"});
}

TEST_CASE("cli: cache gc takes sizes and times, and refuses what is neither") {
  Sabath sabath;
  for (const char* const size : {"", "x", "-1", "5X", "1e99", "nan", "G"}) {
    INFO(size);
    CHECK(sabath({"cache", "gc", "--max-size=" + std::string(size)}).status == 2);
  }
  for (const char* const size : {"0", "50G", "1.5TiB", "800 MB", "4096"})
    CHECK(sabath({"cache", "gc", "--max-size", size}).status == 0);
  CHECK(sabath({"cache", "gc", "--older-than", "soon"}).status == 2);
  CHECK(sabath({"cache", "pin", "nobody-knows"}).status == 10);
  CHECK(sabath({"cache", "pin", std::string(64, 'a')}).status == 10);
}

TEST_CASE("cli: cache repair brings back a damaged object and the tree made of it") {
  Sabath sabath;
  fetch_asset(sabath, "alpha", "right bytes");
  const std::string hex = hex_of("right bytes");
  const fs::path object = sabath.cache() / "objects/sha256" / hex.substr(0, 2) / hex.substr(2);
  CHECK_THAT(sabath({"cache", "repair"}).output, Contains("nothing is damaged"));
  spoil(object, "wrong bytes");
  const Answer found = sabath({"verify"});
  CHECK(found.status == 1);
  CHECK_THAT(found.output, Contains("sabath cache repair"));
  const Answer repaired = sabath({"cache", "repair"});
  INFO(repaired.output << repaired.errors);
  CHECK(repaired.status == 0);
  CHECK_THAT(repaired.output, Contains(hex) && Contains("fetched from"));
  CHECK(text_of(object) == "right bytes");
  CHECK(sabath({"verify", "--full"}).status == 0);
  CHECK_THAT(sabath({"cache", "repair"}).output, Contains("nothing is damaged"));
}

TEST_CASE("cli: cache repair says of what has no good source that it stays bad") {
  Sabath sabath;
  fetch_asset(sabath, "alpha", "right bytes");
  const std::string hex = hex_of("right bytes");
  const fs::path object = sabath.cache() / "objects/sha256" / hex.substr(0, 2) / hex.substr(2);
  spoil(object, "wrong bytes");
  write_text(sabath.folder() / "alpha.txt", "other bytes");
  const Answer repaired = sabath({"cache", "repair", hex});
  CHECK(repaired.status == 1);
  CHECK_THAT(repaired.output, Contains("bad") && Contains(hex));
  CHECK_FALSE(fs::exists(object));
}

TEST_CASE("cli: verify takes URLs and digests") {
  Sabath sabath;
  const std::string url = make_source(sabath, "loose.txt", "loose bytes");
  REQUIRE(sabath({"fetch", url}).status == 0);
  CHECK(sabath({"verify", url}).status == 0);
  CHECK(sabath({"verify", "sha256:" + hex_of("loose bytes")}).status == 0);
  CHECK_THAT(sabath({"verify", hex_of("loose bytes"), "--full"}).output, Contains("11 B hashed"));
  CHECK(sabath({"verify", hex_of("what nobody fetched")}).status == 10);
}

TEST_CASE("cli: a cache beneath gives what it has, and is named") {
  Sabath site;
  fetch_asset(site, "alpha", "of the site");
  Sabath sabath;
  sabath.environment()["SABATH_LOWER_CACHES"] = "/no/such/cache:" + site.cache().string();
  const std::string hex = hex_of("of the site");
  const Answer fetched =
      sabath({"fetch", "file://" + (site.folder() / "alpha.txt").string(), "--sha256", hex});
  CHECK(fetched.status == 0);
  CHECK_THAT(fetched.output, Contains("1 already there") && Contains(site.cache().string()));
  CHECK_FALSE(fs::exists(sabath.cache() / "objects"));
  CHECK_THAT(sabath({"cache", "ls"}).output, Contains(site.cache().string()));
  CHECK_THAT(sabath({"cache", "du"}).output,
             Contains(site.cache().string()) && Contains(sabath.cache().string()));
  CHECK_THAT(sabath({"verify"}).output,
             Contains("1 objects") && Contains("/no/such/cache") && Contains("checked too"));
  sabath({"cache", "gc", "--older-than", "0s"});
  CHECK(stored_in(site).size() == 2);
  const Answer doctor = sabath({"doctor"});
  CHECK(doctor.status == 1);
  CHECK_THAT(doctor.output, Contains("/no/such/cache"));
}

TEST_CASE("cli: a cache that the group may write is one only when that was asked for") {
  Sabath sabath;
  sabath.environment()["SABATH_CACHE_SHARED"] = "1";
  const Answer doctor = sabath({"doctor"});
  CHECK_THAT(doctor.output, Contains("the group may write to the cache"));
  CHECK((fs::status(sabath.cache()).permissions() & fs::perms(02775)) == fs::perms(02775));
  sabath.environment()["SABATH_CACHE_SHARED"] = "perhaps";
  CHECK(sabath({"cache", "du"}).status == 2);
}
