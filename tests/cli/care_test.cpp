// Care of runs: what is said of them later, archives, the trash.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A recipe whose loss depends on its parameter and seed alone, with an output of its own.
std::string measured_recipe(const Sabath& sabath) {
  return sabath.shell_recipe(
      "measured",
      R"(for i in 1 2 3; do echo "{{\"step\": $i, \"loss\": {param.lr}$i}}" >> $SABATH_METRICS; done; )"
      R"(head -c 100000 /dev/zero > {output}/big.bin; mkdir -p keep/.git empty; echo x > keep/.git/y)",
      R"({"parameters": {"lr": {"type": "int", "default": 1}},
          "metrics": {"loss": {"unit": "1", "better": "lower"}}})",
      R"({"outputs": ["big.bin"]})");
}

std::string newest_id(const Sabath& sabath) {
  return sabath.run_directories().back().filename().string();
}

json list_of(const Sabath& sabath, std::vector<std::string> words) {
  words.insert(words.begin(), {"list", "runs", "--json"});
  return json::parse(done(sabath, words).output)["runs"];
}

/// An error with this status whose text has this part.
void refused(const Sabath& sabath,
             const std::vector<std::string>& words,
             int status,
             const std::string& part) {
  const Answer answer = sabath(words);
  INFO(answer.output + answer.errors);
  CHECK(answer.status == status);
  CHECK_THAT(answer.output + answer.errors, Contains(part));
}

}  // namespace

TEST_CASE("care: tags and notes given later are listed, found, shown and taken back") {
  const Sabath sabath;
  const std::string recipe = measured_recipe(sabath);
  done(sabath, {"run", recipe, "--seeds", "1..3", "--tag", "sweep"});
  const std::string id = newest_id(sabath);
  const std::string record = sabath.newest();

  CHECK_THAT(done(sabath, {"tag", id, "good", "figure 2"}).output,
             Contains("tagged 1 run with 'good'") && Contains("with 'figure 2'"));
  CHECK_THAT(done(sabath, {"tag", "recipe=measured", "good"}).output,
             Contains("tagged 2 runs with 'good'; 1 run already had 'good'"));
  CHECK(list_of(sabath, {"tag=good"}).size() == 3);
  CHECK(list_of(sabath, {"tag=figure 2"}).size() == 1);
  CHECK_THAT(done(sabath, {"note", id, "warm-up too short"}).output, Contains("noted at 1 run"));
  CHECK_THAT(done(sabath, {"note", id, "warm-up too short"}).output, Contains("already had"));
  CHECK_THAT(done(sabath, {"show", id}).output,
             Contains("tagged        good  (") && Contains("note          warm-up too short") &&
                 Contains("@"));
  CHECK(json::parse(done(sabath, {"show", id, "--json"}).output)["said"].size() == 3);
  CHECK_THAT(done(sabath, {"search", "warm-up"}).output, Contains(id));
  const std::string report = (sabath.folder() / "r.md").string();
  done(sabath, {"report", "tag=good", "-o", report});
  CHECK_THAT(text_of(report), Contains("too short"));

  CHECK_THAT(done(sabath, {"untag", "tag=good", "good", "sweep"}).output,
             Contains("took 'good' from 3 runs") && Contains("took 'sweep' from 3 runs"));
  CHECK_THAT(done(sabath, {"untag", id, "good"}).output, Contains("already did not have"));
  CHECK(list_of(sabath, {"tag=good"}).empty());
  CHECK(list_of(sabath, {"tag=sweep"}).empty());
  CHECK(sabath.newest() == record);  // records never change
  // The index is made again from the folders, and is the same.
  const json before = list_of(sabath, {});
  done(sabath, {"catalog", "reindex"});
  CHECK(list_of(sabath, {}) == before);
  CHECK_THAT(done(sabath, {"search", "warm-up"}).output, Contains(id));
}

TEST_CASE("care: bad tags and notes are refused, and nothing is written") {
  Sabath sabath;
  sabath.environment()["WANDB_API_KEY"] = "c0ffee1234567890abcdef";
  done(sabath, {"run", measured_recipe(sabath), "--seed", "1"});
  const std::string secret = "ghp_" + std::string(36, 'a');
  refused(sabath, {"tag", "@last", secret}, 2, "looks like a secret");
  CHECK_THAT(sabath({"tag", "@last", secret}).errors, !Contains(secret));
  refused(sabath, {"tag", "@last", "c0ffee1234567890abcdef"}, 2, "a secret of this session");
  refused(sabath, {"note", "@last", "key c0ffee1234567890abcdef"}, 2, "a secret of this session");
  refused(sabath, {"tag", "@last", "good", "asset:x"}, 2, "is reserved");
  refused(sabath, {"tag", "@last", "task:x"}, 2, "is reserved");
  refused(sabath, {"untag", "@last", "explain"}, 2, "is reserved");
  refused(sabath, {"tag", "@last", ""}, 2, "is not a tag");
  refused(sabath, {"tag", "@last", "a,b"}, 2, "without ','");
  refused(sabath, {"tag", "@last"}, 2, "label");
  refused(sabath, {"tag", "seed=7", "x"}, 10, "no run matches");
  refused(sabath, {"note", "@last"}, 2, "has no text");
  refused(sabath, {"note", "@last", " "}, 2, "is empty");
  refused(sabath, {"note", "@last", std::string(70'000, 'a')}, 2, "more than 64");
  CHECK_FALSE(fs::exists(sabath.run_directories().back() / "said"));
  fs::permissions(sabath.run_directories().back(), fs::perms(0777));
  refused(sabath, {"tag", "@last", "x"}, 16, "others can write to it");
  fs::permissions(sabath.run_directories().back(), fs::perms(0755));
  refused(sabath, {"tag", "@last", "\x1b[31mred"}, 2, "\\x1b[31mred");
  done(sabath, {"tag", "@last", "fine"});
  // A damaged statement is a warning with its place, and hides no other.
  write_text(sabath.run_directories().back() / "said/2.json", "{");
  const Answer reindexed = sabath({"catalog", "reindex"});
  CHECK(reindexed.status == 0);
  CHECK_THAT(reindexed.errors, Contains("said/2.json"));
  CHECK(list_of(sabath, {"tag=fine"}).size() == 1);
}

TEST_CASE("care: an archived run is listed, shown, compared, repeated and restored") {
  const Sabath sabath;
  const std::string recipe = measured_recipe(sabath);
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string first = newest_id(sabath);
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string second = newest_id(sabath);
  CHECK_THAT(done(sabath, {"archive", first}).output, Contains("archived 1 run: "));
  CHECK_THAT(done(sabath, {"archive", first}).output, Contains("1 run archived already"));
  CHECK_FALSE(fs::exists(sabath.runs() / first));
  CHECK_THAT(done(sabath, {"list", "runs"}).output, Contains("ok, archived"));
  CHECK(list_of(sabath, {"--archived"}).size() == 1);
  CHECK(list_of(sabath, {"recipe=measured"}).size() == 2);
  CHECK_THAT(done(sabath, {"show", first}).output, Contains("archive") && Contains("loss"));
  CHECK_THAT(done(sabath, {"compare", first, second}).output,
             Contains("RESULT") && Contains("PASS"));
  CHECK(sabath({"verify", first}).status == 0);
  done(sabath, {"logs", first});
  const Answer again = sabath({"repro", first});
  INFO(again.output + again.errors);
  CHECK(again.status == 0);
  CHECK(json::parse(sabath.newest())["repeats"] == first);
  refused(sabath, {"collect", first}, 2, "is archived");
  done(sabath, {"tag", first, "kept"});
  CHECK(list_of(sabath, {"tag=kept"}).size() == 1);
  const json before = list_of(sabath, {});
  done(sabath, {"catalog", "reindex"});
  CHECK(list_of(sabath, {}) == before);
  CHECK_THAT(done(sabath, {"doctor"}).output, !Contains("reindex"));
  for (const auto& entry : fs::directory_iterator(sabath.home()))
    CHECK_FALSE(entry.path().filename().string().starts_with(".unpacked"));

  const fs::path packed = sabath.home() / "archive" / first / "files.tar.zst";
  const std::string whole = text_of(packed);
  fs::permissions(packed, fs::perms(0644));
  write_text(packed, whole.substr(0, whole.size() / 2));
  refused(sabath, {"compare", first, second}, 11, packed.string());
  refused(sabath, {"archive", "--restore", first}, 11, "nothing was removed");
  write_text(packed, whole);
  CHECK_THAT(done(sabath, {"archive", "--restore", first}).output, Contains("restored 1 run"));
  CHECK(fs::exists(sabath.runs() / first / "attempts/1/go/work/empty"));
  CHECK(fs::exists(sabath.runs() / first / "attempts/1/go/work/keep/.git/y"));
  CHECK_FALSE(fs::exists(sabath.home() / "archive" / first));
  CHECK(list_of(sabath, {"--archived"}).empty());
  CHECK(list_of(sabath, {"tag=kept"}).size() == 1);
  CHECK_THAT(done(sabath, {"archive", "--restore", first}).output, Contains("not in the archive"));
}

TEST_CASE("care: archived points of a study are not run again") {
  const Sabath sabath;
  done(sabath, {"run", measured_recipe(sabath), "--seeds", "1..2"});
  const json studies = json::parse(done(sabath, {"list", "studies", "--json"}).output);
  const std::string study = studies["studies"][0]["study"];
  done(sabath, {"archive", "study=" + study});
  CHECK(sabath.count_runs() == 0);
  const Answer resumed = sabath({"run", "--resume", study});
  CHECK(resumed.status == 0);
  CHECK(sabath.count_runs() == 0);
  CHECK(json::parse(done(sabath, {"show", study, "--json"}).output)["count"]["counted"] == 2);
}

TEST_CASE("care: removed runs are found nowhere, and come back") {
  const Sabath sabath;
  const std::string recipe = measured_recipe(sabath);
  for (int i = 0; i < 3; ++i)
    done(sabath, {"run", recipe, "--seed", std::to_string(i)});
  const std::string id = newest_id(sabath);
  done(sabath, {"tag", id, "bad"});
  done(sabath, {"archive", "seed=0"});
  const json before = list_of(sabath, {});

  refused(sabath, {"rm"}, 2, "names no run");
  refused(sabath, {"rm", "tag=bad"}, 2, "--yes");
  CHECK_THAT(done(sabath, {"rm", "tag=bad", "--dry-run"}).output,
             Contains("would move to the trash: 1 run") && Contains(id));
  CHECK(list_of(sabath, {}) == before);
  refused(sabath, {"rm", "--undo"}, 10, "the trash is empty");
  refused(sabath, {"rm", "--undo", "--dry-run"}, 2, "--dry-run");
  refused(sabath, {"rm", "--list", "tag=bad"}, 2, "--list takes no selection");
  CHECK_THAT(done(sabath, {"rm", "--list"}).output, Contains("the trash is empty"));
  CHECK_THAT(done(sabath, {"rm", "tag=bad", "--yes"}).output,
             Contains("moved to the trash: 1 run") && Contains("--undo"));
  CHECK(list_of(sabath, {}).size() == 2);
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"show", id}, {"list", "runs", id}, {"compare", id, "@last"}}) {
    refused(sabath, words, 10, "lies in the trash");
    CHECK_THAT(sabath(words).errors, Contains("sabath rm --undo " + id));
  }
  done(sabath, {"rm", "seed=0", "--yes"});
  CHECK(json::parse(done(sabath, {"rm", "--list", "--json"}).output)["removals"].size() == 2);
  CHECK_THAT(done(sabath, {"rm", "--undo"}).output, Contains("brought back 1 run"));
  CHECK(list_of(sabath, {"--archived"}).size() == 1);
  refused(sabath, {"rm", "--undo", "nothing"}, 10, "nothing");
  CHECK_THAT(done(sabath, {"rm", "--undo", id}).output, Contains("brought back 1 run"));
  CHECK(list_of(sabath, {}) == before);
  CHECK_THAT(done(sabath, {"show", id}).output, Contains("tagged        bad"));
}

TEST_CASE("care: rm says what refers to a run, and removes it only with --force") {
  Sabath sabath;
  const std::string recipe = measured_recipe(sabath);
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string original = newest_id(sabath);
  done(sabath, {"repro", original});
  const std::string repeat = newest_id(sabath);
  refused(sabath, {"rm", original, "--yes"}, 1, original + ": run " + repeat + " repeats it");
  refused(sabath, {"rm", original, "--dry-run"}, 1, "--force was not given");
  CHECK(fs::exists(sabath.runs() / original));
  // Together they need nobody.
  CHECK_THAT(done(sabath, {"rm", "recipe=measured", "--dry-run"}).output, !Contains("repeats"));
  CHECK_THAT(done(sabath, {"rm", original, "--yes", "--force"}).output, Contains("repeats it"));
  done(sabath, {"rm", "--undo"});

  done(sabath, {"run", recipe, "--seeds", "5,6"});
  const json studies = json::parse(done(sabath, {"list", "studies", "--json"}).output);
  refused(sabath,
          {"rm", "seed=5", "--yes"},
          1,
          "study " + studies["studies"][0]["study"].get<std::string>() + " has it");

  const std::string cached = sabath.shell_recipe(
      "cached", "echo x > {output}/x", "{}", R"({"cache": true, "outputs": ["x"]})");
  done(sabath, {"run", cached});
  const std::string maker = newest_id(sabath);
  done(sabath, {"run", cached});
  refused(sabath, {"rm", maker, "--yes"}, 1, "run " + newest_id(sabath) + " took a stage of it");

  const std::string file = (sabath.folder() / "baseline.json").string();
  done(sabath, {"baseline", "propose", repeat, "-o", file});
  CHECK(json::parse(done(sabath, {"rm", repeat, "--dry-run", "--json"}).output)["needs"].empty());
  done(sabath, {"baseline", "accept", file});
  refused(sabath, {"rm", repeat, "--yes"}, 1, "baseline " + file + " names it");
  // A home that only checked against it knows that, too.
  fs::remove(sabath.home() / "baselines.jsonl");
  sabath({"check", repeat, "--baseline", file});
  refused(sabath, {"rm", repeat, "--yes"}, 1, "baseline " + file + " names it");
}

TEST_CASE("care: rm says of a run that it generated an asset, or explains another one") {
  Sabath sabath;
  const fs::path folder = sabath.home() / "recipes/maker";
  fs::create_directories(folder);
  write_text(folder / "recipe.json",
             R"({"schema": 1, "name": "maker", "environment": {"layers": []},
    "stages": [{"name": "make", "cache": true, "run": {"shell": "echo made > {output}/made.txt"},
                "outputs": ["made.txt"]}]})");
  sabath.asset("made", R"({"schema": 1, "kind": "dataset", "name": "made",
    "generate": {"recipe": "maker", "stage": "make"}})");
  done(sabath, {"fetch", "made"});
  refused(sabath, {"rm", newest_id(sabath), "--yes"}, 1, "asset made was generated by it");

  const std::string recipe = measured_recipe(sabath);
  done(sabath, {"run", recipe, "--seed", "1"});
  const std::string a = newest_id(sabath);
  done(sabath, {"run", recipe, "--seed", "1", "--set", "lr=2"});
  const std::string b = newest_id(sabath);
  sabath({"explain", a, b, "--budget", "3"});
  REQUIRE(!list_of(sabath, {"tag=explain"}).empty());
  refused(sabath, {"rm", a, "--yes"}, 1, "explains it");
  refused(sabath, {"rm", b, "--yes"}, 1, "explains it");
}

TEST_CASE("care: runs that go on, and a trash that cannot be trusted, are refused") {
  Sabath sabath;
  const std::string sleeper = sabath.shell_recipe("sleeper", "sleep 60");
  {
    Running running = sabath.start({"run", sleeper});
    REQUIRE(eventually([&] {
      return sabath.count_runs() == 1 &&
             sabath({"list", "runs", "status=running", "--json"}).output.find("sleeper") !=
                 std::string::npos;
    }));
    refused(sabath, {"rm", "recipe=sleeper", "--yes"}, 2, "has not ended");
    refused(sabath, {"archive", "recipe=sleeper"}, 2, "has not ended");
    running.signal(SIGTERM);
    running.wait();
  }
  done(sabath, {"run", measured_recipe(sabath), "--seed", "1"});
  const std::string id = newest_id(sabath);
  done(sabath, {"rm", id, "--yes"});
  fs::permissions(sabath.home() / "trash", fs::perms(0777));
  refused(sabath, {"rm", "--undo"}, 16, "others can write to it");
  refused(sabath, {"rm", "recipe=sleeper", "--yes"}, 16, "trash");
  fs::permissions(sabath.home() / "trash", fs::perms(0700));
  fs::rename(sabath.home() / "trash", sabath.home() / "moved");
  refused(sabath, {"rm", "--undo"}, 10, "the trash is empty");
  fs::create_directory_symlink(sabath.home() / "moved", sabath.home() / "trash");
  refused(sabath, {"rm", "--undo"}, 16, "replaced by a link");
  fs::remove(sabath.home() / "trash");
  fs::rename(sabath.home() / "moved", sabath.home() / "trash");
  done(sabath, {"rm", "--undo"});
  CHECK(fs::exists(sabath.runs() / id));
}

TEST_CASE("care: gc keeps what trashed runs hold, and clears them after 30 days") {
  const Sabath sabath;
  done(sabath, {"run", measured_recipe(sabath), "--seed", "1"});
  const std::string id = newest_id(sabath);
  const auto objects = [&] {
    return json::parse(done(sabath, {"cache", "ls", "--json"}).output)["stored"].size();
  };
  const std::size_t held = objects();
  REQUIRE(held > 0);
  done(sabath, {"archive", id});
  done(sabath, {"cache", "gc", "--older-than", "0s"});
  CHECK(objects() == held);
  done(sabath, {"rm", id, "--yes"});
  done(sabath, {"cache", "gc", "--older-than", "0s"});
  CHECK(objects() == held);
  const std::string name =
      json::parse(done(sabath, {"rm", "--list", "--json"}).output)["removals"][0]["removal"];
  const fs::path facts = sabath.home() / "trash" / name / "removal.json";
  json changed = json::parse(text_of(facts));
  changed["at"] = "2026-01-01T00:00:00.000Z";
  write_text(facts, changed.dump());
  CHECK_THAT(done(sabath, {"cache", "gc", "--dry-run"}).output,
             Contains("would clear from the trash: 1 run"));
  CHECK(fs::exists(facts));
  CHECK_THAT(done(sabath, {"cache", "gc", "--older-than", "0s"}).output,
             Contains("cleared from the trash: 1 run"));
  CHECK_FALSE(fs::exists(facts));
  CHECK(objects() < held);
  refused(sabath, {"rm", "--undo", id}, 10, "the trash is empty");
  refused(sabath, {"show", id}, 10, id);
}

TEST_CASE("care: another user's run is neither tagged, archived nor removed") {
  Sabath sabath;
  if (!is_root() || sabath.as_nobody({"--version"}).status != 0) {
    WARN("needs root, who has a second user here");
    return;
  }
  done(sabath, {"run", measured_recipe(sabath), "--seed", "1"});
  const std::string id = newest_id(sabath);
  sabath.program({"chown", "-R", "65534", (sabath.runs() / id).string()});
  for (const std::vector<std::string>& words : {std::vector<std::string>{"tag", id, "x"},
                                                {"note", id, "x"},
                                                {"archive", id},
                                                {"rm", id, "--yes"}})
    refused(sabath, words, 16, "belongs to nobody");
  CHECK(fs::exists(sabath.runs() / id / "record.json"));
}
