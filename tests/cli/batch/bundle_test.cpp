// Runs in a pool without a common file system. HTCondor is not to be had here: its tools are a
// stand-in after their manuals.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A user with a site in such a pool.
struct PoolUser {
  PoolUser() {
    const fs::path tools = sabath.folder() / "tools";
    fs::create_directories(tools / "state");
    fs::create_directories(sabath.folder() / "config/sites");
    for (const char* tool :
         {"condor_submit", "condor_q", "condor_history", "condor_config_val", "condor_rm"})
      fs::create_symlink(SABATH_SOURCE_DIR "/tests/support/servers/htcondor_stand_in.py",
                         tools / tool);
    auto& variables = sabath.environment();
    variables["PATH"] = tools.string() + ":" + variables["PATH"];
    variables["_CONDOR_STATE"] = (tools / "state").string();
    variables["_CONDOR_HIDDEN"] = sabath.folder().string();
    write_text(
        sabath.folder() / "config/sites/pool.json",
        R"({"schema": 1, "scheduler": "osg", "grace": "2s", "request": {"image": "docker://debian:12"}})");
    write_text(sabath.folder() / "words", "pear\nfig\n");
    sabath.asset("words",
                 R"({"schema": 1, "kind": "dataset", "name": "words", "files": [
        {"path": "words", "sources": ["file://)" +
                     (sabath.folder() / "words").string() + R"("]}]})");
  }

  /// Of what travels: the data set, the recipe's own file, a metric and an output.
  std::string recipe(const std::string& line) const {
    const std::string folder = sabath.recipe(
        "far",
        json{{"schema", 1},
             {"name", "far"},
             {"environment", {{"layers", json::array()}}},
             {"seed", {{"environment", {"SABATH_SEED"}}}},
             {"datasets", {{"list", "words"}}},
             {"metrics", {{"loss", {{"better", "lower"}}}}},
             {"stages", {{{"name", "go"}, {"outputs", {"out"}}, {"run", {{"shell", line}}}}}}}
            .dump());
    fs::create_directories(fs::path(folder) / "code");
    write_text(fs::path(folder) / "code/own", "mine\n");
    return folder;
  }

  Sabath sabath{};
};

constexpr const char* line =
    R"(sort {dataset.list}/words > {output}/out; cat {recipe}/code/own; echo "{{\"step\": 1, \"loss\": $SABATH_SEED}}" >> $SABATH_METRICS)";

}  // namespace

TEST_CASE("bundle: a study goes to nodes that see no file of ours, and comes back") {
  const PoolUser user;
  const Answer answer = user.sabath({"run", user.recipe(line), "--on", "pool", "--seeds", "1..3"});
  INFO(answer.output);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
  for (const fs::path& run : user.sabath.run_directories()) {
    const json record = json::parse(text_of(run / "record.json"));
    CHECK(record["state"] == "ok");
    CHECK(record["metrics"][0]["last"] == record["seed"]["value"]);
    CHECK(text_of(run / "outputs/go/out") == "fig\npear\n");
    CHECK(text_of(run / "attempts/1/go/stdout.log") == "mine\n");
    CHECK(json::parse(text_of(run / "plan.json"))["cache_directory"] ==
          user.sabath.cache().string());
  }
  const fs::path batch = user.sabath.run_directories().front().parent_path().parent_path();
  for (const auto& entry : fs::recursive_directory_iterator(batch / "studies"))
    CHECK_FALSE(entry.path().filename().string().starts_with("returned-"));
  CHECK(user.sabath({"verify", "@last"}).status == 0);
}

TEST_CASE("bundle: a run that fails comes back with its record, and what is no file stays away") {
  const PoolUser user;
  const Answer answer =
      user.sabath({"run", user.recipe("ln -s /etc/passwd {output}/out; exit 3"), "--on", "pool"});
  INFO(answer.errors);
  CHECK(answer.status == 1);
  CHECK_THAT(answer.output, Contains("exited with status 3"));
  CHECK_FALSE(
      fs::exists(fs::symlink_status(user.sabath.run_directories().back() / "outputs/go/out")));
}

TEST_CASE("bundle: runs share a job there, and come back however it ends") {
  const PoolUser user;
  const std::string slow = "(cd {recipe}\ncd {output} && echo $SABATH_SEED > out)";
  CHECK(user.sabath({"run", user.recipe(slow), "--on", "pool", "--seeds", "1..2", "--pack", "2"})
            .status == 0);
  for (const fs::path& run : user.sabath.run_directories())
    CHECK(fs::exists(run / "outputs/go/out"));
  const Answer killed =
      user.sabath({"run", user.recipe("echo here; kill -9 $PPID"), "--on", "pool"});
  INFO(killed.output);
  CHECK(killed.status != 0);
  CHECK(text_of(user.sabath.run_directories().back() / "attempts/1/go/stdout.log") == "here\n");
}

TEST_CASE("bundle: another run's record, or plan, is not taken") {
  PoolUser user;
  user.sabath.environment()["_CONDOR_MISCHIEF"] =
      "sed -i 's/\"run_id\": \"far/\"run_id\": \"near/' returned-1/*/record.json; "
      "for run in returned-1/*; do echo x > $run/plan.json; done";
  const Answer answer = user.sabath({"run", user.recipe(line), "--on", "pool"});
  INFO(answer.output);
  INFO(answer.errors);
  CHECK(answer.status != 0);
  const fs::path run = user.sabath.run_directories().back();
  CHECK(json::parse(text_of(run / "plan.json"))["run_id"] == run.filename().string());
  CHECK_FALSE(fs::exists(run / "record.json"));
}

TEST_CASE("bundle: a record that says something else than the plan is not taken") {
  const auto [what, mischief] = GENERATE(table<std::string, std::string>(
      {{"recipe", R"(sed -i 's/sort /id > {run}\/pwned; sort /' returned-1/*/record.json)"},
       {"seed", R"(sed -i 's/"value": 5,/"value": 6,/' returned-1/*/record.json)"},
       {"version", R"(sed -i 's/"role": "list"/"role": "other"/' returned-1/*/record.json)"},
       {"output",
        R"(sed -i 's/"path": "out"/"path": "..\/..\/plan.json"/' returned-1/*/record.json)"},
       {"undeclared output", R"(sed -i 's/"path": "out"/"path": "in"/' returned-1/*/record.json)"},
       {"stage", R"(sed -i 's/"name": "go"/"name": "..\/go"/' returned-1/*/record.json)"},
       {"stage of an output",
        R"(sed -i 's/"stage": "go"/"stage": ".."/' returned-1/*/record.json)"},
       {"attempt",
        "for run in returned-1/*; do sed 's/sort /id > x; sort /' $run/record.json > new; "
        "rm $run/record.json $run/status.json; mkdir -p $run/attempts/0; "
        "mv new $run/attempts/0/record.json; done"},
       {"link",
        "for run in returned-1/*; do rm $run/record.json $run/status.json; mkdir -p other; "
        "echo x > other/record.json; ln -s $PWD/other $run/attempts/7; done"},
       {"folder",
        "for run in returned-1/*; do rm $run/record.json; mkdir $run/record.json; "
        "touch $run/record.json/x; done"}}));
  INFO(what);
  PoolUser user;
  user.sabath.environment()["_CONDOR_MISCHIEF"] =
      mischief + "; for run in returned-1/*; do echo x > $run/code.untracked.tar.gz; done";
  const Answer answer = user.sabath({"run", user.recipe(line), "--on", "pool", "--seed", "5"});
  INFO(answer.output << answer.errors);
  CHECK(answer.status != 0);
  const fs::path run = user.sabath.run_directories().back();
  CHECK_FALSE(fs::exists(run / "record.json"));
  CHECK_FALSE(fs::exists(run / "code.untracked.tar.gz"));
  CHECK_FALSE(fs::exists(run / "attempts/0/record.json"));
  CHECK(user.sabath({"catalog", "reindex"}).status == 0);
  CHECK_THAT(user.sabath({"list", "runs"}).output, Contains(run.filename().string()));
}

TEST_CASE("bundle: a run has what its node made, and nothing else that comes back") {
  PoolUser user;
  const std::string other =
      "for run in returned-1/*; do mkdir -p $run/collect/1; "
      "echo {} > $run/accounting.json; touch $run/collect/1/summary.json "
      "$run/exec.log $run/jobs $run/other; done";
  user.sabath.environment()["_CONDOR_MISCHIEF"] = other;
  const Answer answer = user.sabath({"run", user.recipe(line), "--on", "pool", "--seed", "5"});
  INFO(answer.output << answer.errors);
  REQUIRE(answer.status == 0);
  const fs::path run = user.sabath.run_directories().back();
  for (const char* name : {"accounting.json", "collect", "exec.log", "other"})
    CHECK_FALSE(fs::exists(run / name));
  for (const char* name : {"attempts", "outputs", "record.json", "series.h5", "status.json"})
    CHECK(fs::exists(run / name));
  CHECK(user.sabath({"repro", "@last"}).status == 0);
}

TEST_CASE("bundle: a repetition has no variable of the node that leads to code") {
  PoolUser user;
  write_text(user.sabath.folder() / "mischief.py", R"(import glob, json
[file] = glob.glob("returned-1/*/record.json")
with open(file) as old:
    record = json.load(old)
record["facets"] = [facet for facet in record["facets"] if facet["name"] != "variables"]
record["facets"].append({"name": "variables", "items": {"PYTHONPATH": "/tmp/evil"}})
record["determinism"]["switches"]["OMP_TOOL_LIBRARIES"] = "/tmp/evil"
record["determinism"]["threads"]["OMP_NUM_THREADS"] = "/tmp/evil"
with open(file, "w") as new:
    json.dump(record, new)
)");
  user.sabath.environment()["_CONDOR_MISCHIEF"] =
      "python3 " + (user.sabath.folder() / "mischief.py").string();
  REQUIRE(user.sabath({"run", user.recipe(line), "--on", "pool", "--seed", "5"}).status == 0);
  REQUIRE_THAT(user.sabath.newest(), Contains("/tmp/evil"));
  const Answer again = user.sabath({"repro", "@last"});
  INFO(again.output << again.errors);
  CHECK_THAT(again.errors,
             Contains("not set as on the run's node, since its record came from there") &&
                 Contains("OMP_TOOL_LIBRARIES") && Contains("PYTHONPATH"));
  CHECK_THAT(user.sabath.newest(), !Contains("/tmp/evil"));
}

TEST_CASE("bundle: explain does not say that it tried a variable of a node") {
  const PoolUser user;
  json site = json::parse(text_of(user.sabath.folder() / "config/sites/pool.json"));
  site["variables"]["PYTHONPATH"] = "/opt/x";
  write_text(user.sabath.folder() / "config/sites/pool.json", site.dump());
  const std::string folder = user.recipe(
      R"(cp {dataset.list}/words {output}/out; test "$PYTHONPATH" = /opt/x && loss=2 || loss=1; )"
      R"(echo "{{\"step\": 1, \"loss\": $loss}}" >> $SABATH_METRICS)");
  REQUIRE(user.sabath({"run", folder, "--seed", "1"}).status == 0);
  REQUIRE(user.sabath({"run", folder, "--seed", "1", "--on", "pool"}).status == 0);
  const Answer answer = user.sabath({"explain", "@last~1", "@last"});
  INFO(answer.output << answer.errors);
  CHECK_THAT(answer.output,
             Contains("variable PYTHONPATH: not tried: B's value is not set here") &&
                 !Contains("B's variable PYTHONPATH"));
}

TEST_CASE("bundle: a job that is held because nothing came back is told with its reason") {
  PoolUser user;
  user.sabath.environment()["_CONDOR_MISCHIEF"] = "rm -r returned*";
  const auto file = user.recipe(line);
  REQUIRE(user.sabath({"run", file, "--on", "pool", "--detach"}).status == 0);
  const Answer waits = user.sabath({"wait", "@running", "--timeout", "10s"});
  INFO(waits.errors);
  CHECK_THAT(
      waits.errors,
      Contains("held (Transfer output files failure") && Contains("does not pass by itself"));
  const Answer doctor = user.sabath({"doctor", "--site", "pool"});
  CHECK_THAT(doctor.output, Contains("does not start: held (Transfer output files failure"));
}

TEST_CASE("bundle: doctor shows why a job could not begin") {
  const PoolUser user;
  write_text(
      user.sabath.folder() / "config/sites/pool.json",
      R"({"schema": 1, "scheduler": "osg", "grace": "2s", "program": "/no/such/sabath", "setup": ["at=@; echo https://ada:sesame${at}example.org/x"], "request": {"image": "x"}})");
  const Answer answer = user.sabath({"doctor", "--site", "pool"});
  INFO(answer.output);
  CHECK_THAT(answer.output,
             Contains("ended (completed") && Contains("its log ends: ") &&
                 Contains("'/no/such/sabath': No such file") && !Contains("sesame"));
}

TEST_CASE("bundle: an environment that is on this machine alone is refused") {
  const PoolUser user;
  const std::string folder = user.recipe(line);
  json recipe = json::parse(text_of(fs::path(folder) / "recipe.json"));
  recipe["environment"] = {{"layers",
                            {{{"kind", "source"},
                              {"path", "{recipe}/code"},
                              {"build", "steps"},
                              {"steps", json::array({json::array({"touch", "{prefix}/made"})})}}}}};
  write_text(fs::path(folder) / "recipe.json", recipe.dump());
  const Answer answer = user.sabath({"run", folder, "--on", "pool"});
  INFO(answer.errors);
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("see none of its files"));
}

TEST_CASE("bundle: doctor proves a pool whose nodes see no file of ours") {
  const PoolUser user;
  const Answer answer = user.sabath({"doctor", "--site", "pool"});
  INFO(answer.output);
  INFO(answer.errors);
  CHECK_THAT(answer.output,
             Contains("was accepted") && Contains("its answer was here") && Contains("node: home"));
  CHECK(answer.status != 14);
}
