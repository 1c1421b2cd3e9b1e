#include "full_values.hpp"
#include "problem_text.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/run_status.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using test::problem_of;

TEST_CASE("record: facets are found by name") {
  const spec::RunRecord record = test::full_record();
  REQUIRE(record.facet("seed") != nullptr);
  CHECK(record.facet("seed")->items.at("seed") == "7");
  CHECK(record.facet("weather") == nullptr);
}

TEST_CASE("record: the digest of a facet covers its items, not its name") {
  spec::Facet a{"code", {{"x", "1"}, {"y", "2"}}};
  const spec::Facet b{"data", {{"y", "2"}, {"x", "1"}}};
  CHECK(a.digest() == b.digest());
  CHECK(a.digest() == base::sha256_of(R"({"x":"1","y":"2"})"));
  a.items["x"] = "3";
  CHECK(a.digest() != b.digest());
}

TEST_CASE("record: a facet is digested as canonical JSON whatever its texts hold") {
  std::string all;
  for (int c = 1; c < 256; ++c)
    all += static_cast<char>(c);
  const std::vector<std::map<std::string, std::string>> odd{
      {},
      {{"", ""}},
      {{"quote", "a \"b\""}, {"back\\slash", "\\"}},
      {{"lines", "a\nb\tc\r"}, {std::string("zero\0", 5), std::string("\0", 1)}},
      {{"\xc3\xa4", "\xe2\x82\xac"}, {"delete", "\x7f"}, {"cut off", "\xc3"}},
      {{"all", all}}};
  for (const auto& items : odd) {
    const spec::Facet facet{"x", items};
    CHECK(facet.digest() == base::sha256_of(base::canonical_json(items)));
  }
}

TEST_CASE("record: states have words") {
  for (const char* word :
       {"planned", "running", "ok", "failed", "interrupted", "lost", "imported", "stopped"}) {
    const auto state = spec::parse_enum<spec::RunState>(word);
    REQUIRE(state);
    CHECK(to_string(*state) == word);
    CHECK(is_final(*state) == (word != std::string("planned") && word != std::string("running")));
  }
  CHECK_FALSE(spec::parse_enum<spec::RunState>("done"));
  CHECK_FALSE(spec::parse_enum<spec::RunState>(""));
}

TEST_CASE("record: rungs have words and an order") {
  for (const char* word : {"tolerance", "ulp", "bitwise"})
    CHECK(to_string(*spec::parse_enum<spec::Rung>(word)) == word);
  CHECK_FALSE(spec::parse_enum<spec::Rung>("TOST"));
  CHECK(spec::Rung::bitwise > spec::Rung::ulp);
  CHECK(spec::Rung::ulp > spec::Rung::tolerance);
}

TEST_CASE("record: run ids have one form") {
  for (const char* id : {"supercell-20261120-103205-abcdefgh", "a.b-c_d-00000000-000000-zzzzzzzz"})
    CHECK(spec::is_run_id(id));
  for (const char* id : {"",
                         "-20261120-103205-abcdefgh",
                         "supercell-20261120-103205-abcdefg",
                         "supercell-20261120-103205-abcdefgH",
                         "supercell-20261120-103205-abcdefg1",
                         "supercell-2026112x-103205-abcdefgh",
                         "supercell_20261120-103205-abcdefgh",
                         "../x-20261120-103205-abcdefgh",
                         "Supercell-20261120-103205-abcdefgh",
                         "supercell-20261120-103205-abcdefgh\n"}) {
    INFO(id);
    CHECK_FALSE(spec::is_run_id(id));
  }
}

TEST_CASE("record: a missing member, a wrong type and an unknown state are told together") {
  auto document = to_json(test::full_record());
  document.erase("user");
  document["state"] = "done";
  document["metrics"][0]["points"] = -1;
  document["hosts"][0]["cpu"]["cores"] = 5000000000;
  document["extra"] = 1;
  const auto problem = problem_of([&] { spec::parse_run_record(document.dump(), "record.json"); });
  CHECK(problem.lines() == 5);
  CHECK(problem.says("record.json:/: 'user' is missing"));
  CHECK(problem.says("record.json:/state: 'done' is not one of planned, running, ok"));
  CHECK(problem.says("record.json:/metrics/0/points: must be an integer that is not negative"));
  CHECK(problem.says("record.json:/hosts/0/cpu/cores: 5000000000 is out of range"));
  CHECK(problem.says("record.json:/extra: unknown key 'extra'"));
}

TEST_CASE("plan: a length of time that nobody could wait for is told") {
  auto document = to_json(test::full_plan());
  document["stages"][0]["resources"]["time"] = 9223372036854775807;
  const auto problem = problem_of([&] { spec::parse_run_plan(document.dump(), "plan.json"); });
  CHECK(problem.lines() == 1);
  CHECK(problem.says("/stages/0/resources/time: 9223372036854775807 is out of range"));
}

TEST_CASE(
    "record: a summary is what an index wants of it, and the rest is neither read nor checked") {
  const spec::RunRecord full = test::full_record();
  spec::RunRecord expected;
  expected.run_id = full.run_id;
  expected.study_id = full.study_id;
  expected.state = full.state;
  expected.message = full.message;
  expected.created = full.created;
  expected.started = full.started;
  expected.ended = full.ended;
  expected.wall_s = full.wall_s;
  expected.user = full.user;
  expected.recipe_name = full.recipe_name;
  expected.recipe_digest = full.recipe_digest;
  expected.model = full.model;
  expected.parameters = full.parameters;
  expected.seed = full.seed;
  expected.tags = full.tags;
  expected.inputs = full.inputs;
  for (const spec::BuiltLayer& layer : full.environment.layers)
    expected.environment.layers.emplace_back().lock.key = layer.lock.key;
  for (const spec::OutputRecord& output : full.outputs)
    expected.outputs.push_back(
        {output.stage, output.path, output.size_bytes, output.digest, {}, {}});
  expected.metrics = full.metrics;
  for (const spec::HostFacts& full_host : full.hosts) {
    spec::HostFacts& host = expected.hosts.emplace_back();
    host.node = full_host.node;
    host.cpu.model = full_host.cpu.model;
    host.cpu.threads = full_host.cpu.threads;
    host.memory.total_bytes = full_host.memory.total_bytes;
    for (const spec::GpuFacts& gpu : full_host.gpus)
      host.gpus.emplace_back().name = gpu.name;
    host.os = full_host.os;
    host.kernel = full_host.kernel;
  }
  REQUIRE_FALSE(expected.environment.layers.empty());
  REQUIRE_FALSE(expected.outputs.empty());
  REQUIRE_FALSE(expected.hosts.empty());
  REQUIRE_FALSE(expected.hosts.front().gpus.empty());
  expected.facets = full.facets;
  expected.repeats = full.repeats;
  expected.reproduce = full.reproduce;
  auto document = to_json(full);
  // As JSON: numbers that are none are unequal to themselves.
  CHECK(to_json(spec::parse_run_summary(base::pretty_json(document), "r")) == to_json(expected));
  document["stages"] = "of tomorrow";
  document["hosts"][0]["cpu"]["cores"] = "many";
  document["hosts"][0].erase("libc");
  CHECK(to_json(spec::parse_run_summary(document.dump(), "r")) == to_json(expected));
  document["state"] = "done";
  document["metrics"][0]["points"] = -1;
  document.erase("user");
  document["hosts"][0]["cpu"]["threads"] = "many";
  document["outputs"][0].erase("digest");
  const auto problem = problem_of([&] { spec::parse_run_summary(document.dump(), "r"); });
  CHECK(problem.lines() == 5);
  CHECK(problem.says("r:/hosts/0/cpu/threads: must be an integer"));
  CHECK(problem.says("r:/outputs/0: 'digest' is missing"));
  CHECK(problem.says("r:/state: 'done' is not one of planned, running, ok"));
  CHECK(problem.says("r:/: 'user' is missing"));
  CHECK(problem_of([&] { spec::parse_run_summary("{\"schema\": 1, \"run_id", "r"); }).says("r:1:"));
}

TEST_CASE("record: of a newer sabath it says that") {
  auto document = to_json(test::full_record());
  document["schema"] = 7;
  document["tomorrow"] = 1;
  CHECK(problem_of([&] { spec::parse_run_record(document.dump(), "r"); }).text ==
        "r:/schema: schema 7 is not known: this sabath reads schema 1");
}

TEST_CASE("record: half a status is refused, not guessed") {
  const std::string text = base::pretty_json(to_json(spec::RunStatus{}));
  const auto problem =
      problem_of([&] { spec::parse_run_status(text.substr(0, text.size() / 2), "status.json"); });
  CHECK(problem.kind == base::ErrorKind::usage);
  CHECK(problem.says("status.json:"));
}
