#include "cache_home.hpp"
#include "support/recording_observer.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using test::CacheHome;
using test::error_of;
using test::put;

namespace fs = std::filesystem;

namespace {

const std::string url = "https://me:secret@host.example/data.h5?token=abc123";

cache::SourceRecord source_record() {
  return {.url = url,
          .digest = base::sha256_of("content"),
          .size_bytes = 7,
          .etag = "\"etag\"",
          .last_modified = "Fri, 20 Nov 2026 10:00:00 GMT",
          .fetched = "2026-11-20T10:32:05.123Z"};
}

fs::path only_file_in(const fs::path& folder) {
  REQUIRE(test::entries_in(folder) == 1);
  return *fs::directory_iterator(folder);
}

}  // namespace

TEST_CASE("cache: what a source gave is remembered without its secrets") {
  CacheHome home;
  auto cache = home.open();
  CHECK_FALSE(cache.source(url));
  cache.remember_source(source_record());
  const auto known = cache.source(url);
  REQUIRE(known);
  CHECK(known->url == "https://host.example/data.h5");
  CHECK(known->digest == base::sha256_of("content"));
  CHECK(known->size_bytes == 7);
  CHECK(known->etag == "\"etag\"");
  CHECK(known->last_modified == "Fri, 20 Nov 2026 10:00:00 GMT");
  CHECK(known->fetched == "2026-11-20T10:32:05.123Z");
  CHECK(cache.source("https://host.example/data.h5?token=abc123"));
  CHECK_FALSE(cache.source("https://host.example/data.h5"));
  const std::string text = base::read_file(only_file_in(home.root() / "sources"));
  CHECK(text.find("secret") == std::string::npos);
  CHECK(text.find("abc123") == std::string::npos);
}

TEST_CASE("cache: a newer answer of a source replaces the older") {
  CacheHome home;
  auto cache = home.open();
  cache.remember_source(source_record());
  auto newer = source_record();
  newer.digest = base::sha256_of("new content");
  cache.remember_source(newer);
  CHECK(cache.source(url)->digest == newer.digest);
}

TEST_CASE("cache: a damaged record counts as absent, and verify says why") {
  CacheHome home;
  auto cache = home.open();
  cache.remember_source(source_record());
  const fs::path path = only_file_in(home.root() / "sources");
  const std::string good = base::read_file(path);
  const auto damage = GENERATE(0, 1, 2, 3, 4);
  std::string bad = good;
  if (damage == 0) bad = good.substr(0, good.size() / 2);
  if (damage == 1) bad = "";
  if (damage == 2) bad.replace(bad.find("\"etag\""), 6, "\"egat\"");
  if (damage == 3) bad.replace(bad.find("sha256:"), 12, "sha256:zzzzz");
  if (damage == 4) bad.replace(bad.find("\"schema\": 1"), 11, "\"schema\": 2");
  base::write_file_atomically(path, bad);
  CHECK_FALSE(cache.source(url));
  test::RecordingObserver observer;
  const auto report = cache.verify(false, observer);
  REQUIRE(report.damaged.size() == 1);
  CHECK(report.damaged.front().path == path);
  CHECK(report.damaged.front().problem.find(path.string()) != std::string::npos);
  cache.remember_source(source_record());
  CHECK(cache.source(url));
}

TEST_CASE("cache: outputs of a stage are known as long as all of them are there") {
  CacheHome home;
  auto cache = home.open();
  const auto object = put(cache, "simulated");
  const cache::StageOutputs outputs{base::sha256_of("key").hex,
                                    "supercell-20261120-103205-abcdefgh",
                                    "node17",
                                    "2026-11-20T10:32:05.123Z",
                                    {{"out/supercell.h5", object.digest}},
                                    {{"out/supercell.h5", 0750}},
                                    {"*.csv", "log/history"},
                                    {"stdout.log"}};
  CHECK_FALSE(cache.stage_outputs(outputs.key));
  cache.remember_stage(outputs);
  const auto known = cache.stage_outputs(outputs.key);
  REQUIRE(known);
  CHECK(known->key == outputs.key);
  CHECK(known->run_id == outputs.run_id);
  CHECK(known->host == outputs.host);
  CHECK(known->made == outputs.made);
  CHECK(known->outputs == outputs.outputs);
  CHECK(known->modes == outputs.modes);
  CHECK(known->searched == outputs.searched);
  CHECK(known->long_logs == outputs.long_logs);
  test::overwrite(object.path, "other size");
  CHECK_FALSE(cache.stage_outputs(outputs.key));
}

TEST_CASE("cache: a stage's output that leaves its folder is refused, told and read") {
  CacheHome home;
  auto cache = home.open();
  const std::string path = GENERATE(std::string("../outside"), std::string("/etc/passwd"));
  cache::StageOutputs outputs{"key", "run", "host", "2026-11-20T10:32:05Z", {}};
  outputs.outputs[path] = base::sha256_of("x");
  const auto error = error_of([&] { cache.remember_stage(outputs); });
  REQUIRE(error);
  CHECK(error->kind() == base::ErrorKind::usage);
  outputs.outputs = {{"inside", put(cache, "x").digest}};
  cache.remember_stage(outputs);
  REQUIRE(cache.stage_outputs("key"));
  const fs::path record = only_file_in(home.root() / "stages");
  std::string text = base::read_file(record);
  text.replace(text.find("\"inside\""), 8, "\"" + path + "\"");
  base::write_file_atomically(record, text);
  CHECK_FALSE(cache.stage_outputs("key"));
}

TEST_CASE("cache: a record of another key in a stage's place is not taken for it") {
  CacheHome home;
  auto cache = home.open();
  cache.remember_stage({"key a", "run", "host", "2026-11-20T10:32:05Z", {}});
  const fs::path a = only_file_in(home.root() / "stages");
  cache.remember_stage({"key b", "run", "host", "2026-11-20T10:32:05Z", {}});
  for (const auto& file : fs::directory_iterator(home.root() / "stages")) {
    if (file.path() != a) fs::copy_file(file.path(), a, fs::copy_options::overwrite_existing);
  }
  CHECK_FALSE(cache.stage_outputs("key a"));
  CHECK(cache.stage_outputs("key b"));
}
