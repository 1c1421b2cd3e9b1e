// The stages of a recipe as a graph: what runs beside what, what a failure stops, what is tried
// again, what is not due.
#include "support/program.hpp"

#include <sabath/probe/host_probe.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <set>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

json record_of(const Sabath& sabath) {
  return json::parse(sabath.newest());
}

/// A recipe without environment, of one stage or a list of them.
std::string recipe(const Sabath& sabath, const json& stages, json more = json::object()) {
  json document = {{"schema", 1}, {"name", "graph"}, {"environment", {{"layers", json::array()}}}};
  document.update(more);
  document["stages"] = stages.is_array() ? stages : json::array({stages});
  return sabath.recipe("graph", document.dump());
}

json shell(const std::string& name, const json& needs, const std::string& line, int cpus = 0) {
  json stage = {{"name", name}, {"needs", needs}, {"run", {{"shell", line}}}};
  if (cpus > 0) stage["resources"] = {{"cpus", cpus}, {"time", 120}};
  return stage;
}

/// Waits, in a stage, for a file in the run's folder.
std::string until(const std::string& file) {
  return "while [ ! -e {run}/" + file + " ]; do sleep 0.02; done; ";
}

json named(const json& list, const std::string& name) {
  for (const json& item : list) {
    if (item["name"] == name) return item;
  }
  return {};
}

bool has_two_cores() {
  if (sabath::probe::usable_cores().size() >= 2) return true;
  WARN("one core: nothing can run beside anything here");
  return false;
}

std::string errors_of(const Answer& answer) {
  return answer.output + answer.errors;
}

}  // namespace

TEST_CASE("cli: both sides of a diamond run at once, each bound to a core of its own") {
  if (!has_two_cores()) return;
  Sabath sabath;
  const std::string cpus = "; grep Cpus_allowed_list /proc/self/status > {output}/cpus";
  json left = shell("left", {"first"}, "touch {run}/left; " + until("right") + "true" + cpus, 1);
  json right = shell("right", {"first"}, "touch {run}/right; " + until("left") + "true" + cpus, 1);
  left["outputs"] = right["outputs"] = {"cpus"};
  const Answer answer = sabath(
      {"run",
       recipe(sabath,
              {shell("first", json::array(), "true"),
               left,
               right,
               shell("last", {"left", "right"}, "cat {stage.left}/cpus {stage.right}/cpus")})});
  INFO(errors_of(answer));
  REQUIRE(answer.status == 0);
  const json stages = record_of(sabath)["stages"];
  std::set<int> seen;
  for (const char* name : {"left", "right"}) {
    const json stage = named(stages, name);
    CHECK(stage["state"] == "ok");
    std::string list;
    for (const int cpu : stage["cpus"]) {
      CHECK(seen.insert(cpu).second);
      list += (list.empty() ? "" : ",") + std::to_string(cpu);
    }
    if (stage["cpus"].size() == 1) {
      CHECK_THAT(text_of(sabath.run_directories().back() / "outputs" / name / "cpus"),
                 Contains(":\t" + list + "\n"));
    }
  }
  CHECK(stages[0]["name"] == "first");
  CHECK_FALSE(stages[0].contains("cpus"));
  CHECK_FALSE(stages[3].contains("cpus"));
  CHECK_THAT(sabath({"show", "@last"}).output, Contains("CPUs "));
}

TEST_CASE("cli: two stages that do not fit into the memory together do not run at once") {
  if (!has_two_cores()) return;
  Sabath sabath;
  REQUIRE(sabath({"run", recipe(sabath, shell("go", json::array(), "true"))}).status == 0);
  const auto most = record_of(sabath)["hosts"][0]["memory"]["effective_bytes"].get<std::uint64_t>();
  const std::string line = "test ! -e {run}/busy && touch {run}/busy && sleep 0.3 && rm {run}/busy";
  json one = shell("one", json::array(), line, 1);
  json two = shell("two", json::array(), line, 1);
  one["resources"]["memory"] = two["resources"]["memory"] = most / 3 * 2;
  const Answer answer = sabath({"run", recipe(sabath, {one, two})});
  INFO(errors_of(answer));
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, !Contains("of memory"));
}

TEST_CASE("cli: a stage that wants more memory than there is runs alone, and it is told before") {
  Sabath sabath;
  json large = shell("large", json::array(), "sleep 0.3; test ! -e {run}/other", 1);
  large["resources"]["memory"] = "1000000 TiB";
  const json other =
      shell("other", json::array(), "touch {run}/other; sleep 0.6; rm {run}/other", 1);
  const Answer answer = sabath({"run", recipe(sabath, {large, other})});
  INFO(errors_of(answer));
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("stage large: wants ") && Contains(" of memory, and "));
  CHECK_THAT(text_of(sabath.run_directories().back() / "exec.log"),
             Contains("stage large: wants "));
}

TEST_CASE("cli: a stage that wants more cores or GPUs than there are is told before") {
  Sabath sabath;
  sabath.environment()["CUDA_VISIBLE_DEVICES"] = "-1";
  json wide = shell("wide", json::array(), "true", 100000);
  wide["resources"]["gpus"] = 99;
  const Answer answer = sabath({"run", recipe(sabath, {wide})});
  INFO(errors_of(answer));
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors,
             Contains("stage wide: wants 100000 core(s), and ") &&
                 Contains("stage wide: wants 99 GPU(s), and ") &&
                 Contains("it runs alone with what there is, and may take longer") &&
                 Contains("and may fail, or compute without a GPU") && !Contains("memory"));
  CHECK_THAT(sabath({"run", recipe(sabath, {shell("one", json::array(), "true", 1)})}).errors,
             !Contains("may be used here"));
}

TEST_CASE("cli: a failure skips what needs the stage, the rest goes on") {
  Sabath sabath;
  const Answer answer = sabath({"run",
                                recipe(sabath,
                                       {shell("bad", json::array(), "exit 3"),
                                        shell("good", json::array(), "touch {run}/good"),
                                        shell("after", {"bad"}, "true"),
                                        shell("end", {"after", "good"}, "true"),
                                        shell("tail", {"good"}, "touch {run}/tail")})});
  CHECK(answer.status == 1);
  const json record = record_of(sabath);
  CHECK(record["state"] == "failed");
  CHECK_THAT(record["message"].get<std::string>(),
             Contains("stage bad: ") && Contains("exited with status 3"));
  CHECK(named(record["stages"], "good")["state"] == "ok");
  CHECK(named(record["stages"], "tail")["state"] == "ok");
  for (const char* name : {"after", "end"}) {
    CHECK(named(record["stages"], name)["state"] == "skipped");
    CHECK(named(record["stages"], name)["message"] == "it needs stage bad, which failed");
  }
  CHECK(fs::exists(sabath.run_directories().back() / "tail"));
}

TEST_CASE("cli: what goes wrong after a command leaves what is known of the command") {
  Sabath sabath;
  const std::string objects = (sabath.cache() / "objects").string();
  json make = shell("make",
                    json::array(),
                    "echo loss=1 > {output}/x; sleep 0.05; mv " + objects + " " + objects +
                        ".gone; touch " + objects,
                    1);
  make["cache"] = true;
  make["outputs"] = {"x"};
  // The first run makes the cache.
  REQUIRE(sabath({"run", recipe(sabath, shell("go", json::array(), "true"))}).status == 0);
  const std::string folder = recipe(sabath, {make, shell("use", {"make"}, "true")});
  fs::create_directories(objects);
  const Answer answer = sabath({"run", folder});
  INFO(errors_of(answer));
  CHECK(answer.status == 1);
  const json record = record_of(sabath);
  const json stage = record["stages"][0];
  CHECK(stage["state"] == "failed");
  CHECK_THAT(stage["message"].get<std::string>(), Contains(objects));
  CHECK(stage["exit_code"] == 0);
  CHECK(stage["wall_s"].get<double>() >= 0.05);
  CHECK(stage["max_rss_bytes"].get<std::uint64_t>() > 0);
  CHECK(stage["started"].get<std::string>().starts_with("20"));
  CHECK_FALSE(stage["cache_key"].get<std::string>().empty());
  CHECK(record["outputs"][0]["path"] == "x");
  CHECK(record["stages"][1]["state"] == "skipped");
  CHECK_THAT(record["message"].get<std::string>(), Contains("stage make: "));
}

TEST_CASE("cli: a failure that is named is tried again, and its metrics are not mixed in") {
  Sabath sabath;
  json stage = shell("go",
                     json::array(),
                     R"sh(test -z "$(ls -A {output})" || exit 9; )sh"
                     R"(echo "{{\"step\": 1, \"loss\": $SABATH_TRY}}" >> $SABATH_METRICS; )"
                     "echo $SABATH_TRY; touch {output}/x; test $SABATH_TRY -eq 3 || exit 75");
  stage["retry"] = {{"times", 2}, {"exit_codes", {75}}};
  stage["outputs"] = {"x"};
  const Answer answer = sabath({"run", recipe(sabath, stage)});
  INFO(errors_of(answer));
  REQUIRE(answer.status == 0);
  CHECK_THAT(answer.output, Contains("(try 3)"));
  const json record = record_of(sabath);
  CHECK(record["metrics"][0]["points"] == 1);
  CHECK(record["metrics"][0]["last"] == 3.0);
  const json tries = record["stages"][0]["tries"];
  REQUIRE(tries.size() == 2);
  CHECK(tries[0]["exit_code"] == 75);
  CHECK(tries[0]["reason"] == "exit status 75 is named");
  CHECK_THAT(tries[0]["message"].get<std::string>(), Contains("exited with status 75"));
  CHECK(record["stages"][0]["exit_code"] == 0);
  const fs::path folder = sabath.run_directories().back() / "attempts/1/go";
  CHECK(text_of(folder / "try-1/stdout.log") == "1\n");
  CHECK(text_of(folder / "try-2/stdout.log") == "2\n");
  CHECK(text_of(folder / "stdout.log") == "3\n");
  CHECK(fs::exists(folder / "try-1/metrics-0.jsonl"));
  CHECK_THAT(sabath({"show", "@last"}).output, Contains("try 3"));
}

TEST_CASE("cli: no more tries than granted, and none of what is not named") {
  Sabath sabath;
  const auto [named_code, tries] = GENERATE(std::pair(75, 2), std::pair(74, 1));
  json stage = shell("go", json::array(), "echo x >> {run}/tries; exit 75");
  stage["retry"] = {{"times", 1}, {"exit_codes", {named_code}}};
  CHECK(sabath({"run", recipe(sabath, stage)}).status == 1);
  const std::string text = text_of(sabath.run_directories().back() / "tries");
  CHECK(std::count(text.begin(), text.end(), 'x') == tries);
  const std::string message = record_of(sabath)["stages"][0]["message"];
  CHECK((message.find("; it was tried 2 times") != std::string::npos) == (tries == 2));
  CHECK(record_of(sabath)["stages"][0]["exit_code"] == 75);
}

TEST_CASE("cli: Ctrl-C ends all stages that run, and none is tried again") {
  if (!has_two_cores()) return;
  Sabath sabath;
  const std::string marker = std::to_string(4'000'000 + ::getpid());
  const std::string line = "echo x >> {run}/started; sleep " + marker + " & wait";
  json stages = {shell("one", json::array(), line, 1),
                 shell("two", json::array(), line, 1),
                 shell("end", {"one", "two"}, "true")};
  for (json& stage : stages) {
    stage["retry"] = {{"times", 3}, {"exit_codes", {1, 130, 143}}, {"signals", {"SIGTERM"}}};
    stage["resources"]["time"] = 600;
  }
  Running running = sabath.start({"run", recipe(sabath, stages)});
  const std::string sleep = "sleep" + std::string(1, '\0') + marker;
  REQUIRE(eventually([&] { return processes_with(sleep).size() == 2; }));
  CHECK(json::parse(sabath.newest("status.json"))["stage"] == "one, two");
  running.signal(SIGINT);
  const Answer answer = running.wait();
  CHECK(answer.status == 130);
  CHECK(answer.leftovers == 0);
  CHECK(processes_with(sleep).empty());
  const json record = record_of(sabath);
  CHECK(record["state"] == "interrupted");
  CHECK(record["stages"][0]["state"] == "interrupted");
  CHECK(record["stages"][1]["state"] == "interrupted");
  CHECK(record["stages"][2]["state"] == "skipped");
  CHECK(record["stages"][2]["message"] == "the run was interrupted");
  CHECK(text_of(sabath.run_directories().back() / "started") == "x\nx\n");
}

TEST_CASE("cli: no stage outlives an executor that is killed with -9") {
  if (!has_two_cores()) return;
  Sabath sabath;
  const std::string marker = std::to_string(5'000'000 + ::getpid());
  const std::string line = "exec sleep " + marker;
  Running running = sabath.start(
      {"run",
       recipe(sabath,
              {shell("one", json::array(), line, 1), shell("two", json::array(), line, 1)})});
  const std::string sleep = "sleep" + std::string(1, '\0') + marker;
  REQUIRE(eventually([&] { return processes_with(sleep).size() == 2; }));
  ::kill(json::parse(sabath.newest("status.json"))["pid"].get<int>(), SIGKILL);
  CHECK(running.wait().status == 14);
  CHECK(eventually([&] { return processes_with(sleep).empty(); }));
}

TEST_CASE("cli: Ctrl-C ends the pause before another try") {
  Sabath sabath;
  json stage = shell("go", json::array(), "touch {run}/failed; exit 75");
  stage["retry"] = {{"times", 1}, {"pause", 3600}, {"exit_codes", {75}}};
  Running running = sabath.start({"run", recipe(sabath, stage)});
  REQUIRE(eventually([&] {
    return sabath.count_runs() == 1 && fs::exists(sabath.run_directories().back() / "failed");
  }));
  running.signal(SIGINT);
  CHECK(running.wait().status == 130);
  const json record = record_of(sabath);
  CHECK(record["state"] == "interrupted");
  CHECK(record["stages"][0]["state"] == "interrupted");
}

TEST_CASE("cli: a cached stage beside another is reused, the other runs") {
  if (!has_two_cores()) return;
  Sabath sabath;
  json cached = shell("data", json::array(), "echo 1 > {output}/x", 1);
  cached["cache"] = true;
  cached["outputs"] = {"x"};
  const std::string folder = recipe(sabath,
                                    {cached,
                                     shell("other", json::array(), "touch {run}/other", 1),
                                     shell("end", {"data", "other"}, "cat {stage.data}/x")});
  REQUIRE(sabath({"run", folder}).status == 0);
  CHECK(record_of(sabath)["stages"][0]["state"] == "ok");
  REQUIRE(sabath({"run", folder}).status == 0);
  const json stages = record_of(sabath)["stages"];
  CHECK(stages[0]["state"] == "reused");
  CHECK(stages[1]["state"] == "ok");
  CHECK(stages[2]["state"] == "ok");
  CHECK(fs::exists(sabath.run_directories().back() / "other"));
}

TEST_CASE("cli: what one stage leaves behind is ended, and a daemon of the other is let alone") {
  if (!has_two_cores()) return;
  Sabath sabath;
  const std::string daemonise = SABATH_TEST_PROGRAMS "/daemonise ";
  // "one" ends while "two" and its daemon go on; "two" then waits for the end of the other daemon,
  // and looks whether its own is there.
  const std::string one = "echo $$ > {run}/one.tmp; mv {run}/one.tmp {run}/one; " + until("two") +
                          daemonise + "{run}/daemon-one";
  const std::string two =
      until("one") + daemonise +
      "{run}/daemon-two; touch {run}/two; while kill -0 $(cat {run}/one) 2> /dev/null; "
      "do sleep 0.02; done; i=0; while kill -0 $(cat {run}/daemon-one) 2> /dev/null; "
      "do sleep 0.02; i=$((i + 1)); test $i -lt 300 || exit 3; done; kill -0 $(cat "
      "{run}/daemon-two)";
  const Answer answer = sabath(
      {"run",
       recipe(sabath, {shell("one", json::array(), one, 1), shell("two", json::array(), two, 1)})});
  INFO(errors_of(answer));
  CHECK(answer.status == 0);
  CHECK(answer.leftovers == 0);
  const json stages = record_of(sabath)["stages"];
  CHECK(stages[0]["leftovers"] == 1);
  CHECK(stages[1]["leftovers"] == 1);
  for (const char* daemon : {"daemon-one", "daemon-two"})
    CHECK_FALSE(is_alive(std::stoi(text_of(sabath.run_directories().back() / daemon))));
}

namespace {

const json backends = {
    {"parameters",
     {{"backend", {{"type", "enum"}, {"values", {"jax", "torch"}}, {"default", "jax"}}}}},
    {"metrics", {{"size", {{"from", {{"kind", "key_value"}, {"stage", "export"}}}}}}}};

}  // namespace

TEST_CASE("cli: a stage whose condition does not hold is not due, and keeps nobody waiting") {
  Sabath sabath;
  json off = shell("export", {"train"}, "echo size=3");
  off["when"] = {{"backend", "jax"}};
  const std::string folder =
      recipe(sabath,
             {shell("train", json::array(), "true"), off, shell("report", {"export"}, "true")},
             backends);
  REQUIRE(sabath({"run", folder}).status == 0);
  CHECK(named(record_of(sabath)["stages"], "export")["state"] == "ok");
  const Answer dry = sabath({"run", folder, "--set", "backend=torch", "--dry-run"});
  CHECK_THAT(dry.output, Contains("stage export\n  not due: backend is torch, not jax\n"));
  for (int i = 0; i < 2; ++i) {
    const Answer answer = sabath({"run", folder, "--set", "backend=torch", "--seed", "1"});
    INFO(errors_of(answer));
    REQUIRE(answer.status == 0);
    CHECK_THAT(answer.output, Contains("export not due"));
  }
  const json record = record_of(sabath);
  CHECK(named(record["stages"], "export")["state"] == "not_due");
  CHECK(named(record["stages"], "export")["message"] == "backend is torch, not jax");
  CHECK(named(record["stages"], "report")["state"] == "ok");
  CHECK_FALSE(record.contains("collected"));  // no metric of it is missed
  const Answer compared = sabath({"compare", "@last", "@last~1"});
  INFO(errors_of(compared));
  CHECK(errors_of(compared).find("reported by neither") == std::string::npos);
  CHECK(sabath({"collect", "@last"}).status == 0);
}

TEST_CASE("cli: the outputs of a stage that is not due are an error before anything is done") {
  Sabath sabath;
  json off = shell("export", json::array(), "true");
  off["when"] = {{"backend", "jax"}};
  const std::string folder =
      recipe(sabath, {off, shell("report", {"export"}, "ls {stage.export}")}, backends);
  for (const char* option : {"--fresh", "--dry-run"}) {
    const Answer answer = sabath({"run", folder, "--set", "backend=torch", option});
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors,
               Contains("stage 'report' uses {stage.export}, but 'export' is not due: backend is "
                        "torch, not jax"));
  }
  CHECK(sabath({"run", folder, "--sweep", "backend=jax,torch"}).status == 2);
  CHECK(sabath.count_runs() == 0);
}

TEST_CASE("cli: a stage has variables of its own, and they are part of a cached stage's key") {
  Sabath sabath;
  const auto folder_with = [&](const std::string& value) {
    json stage = shell("go", json::array(), "echo $COLOUR-$FOLDER > {output}/x");
    stage["cache"] = true;
    stage["outputs"] = {"x"};
    stage["variables"] = {{"COLOUR", value}, {"FOLDER", "{output}"}};
    return recipe(sabath, {stage, shell("other", json::array(), "test -z \"$COLOUR\"")});
  };
  const auto output = [&] { return text_of(sabath.run_directories().back() / "outputs/go/x"); };
  REQUIRE(sabath({"run", folder_with("red")}).status == 0);
  CHECK(output() == "red-" + (sabath.run_directories().back() / "outputs/go").string() + "\n");
  REQUIRE(sabath({"run", folder_with("red")}).status == 0);
  CHECK(record_of(sabath)["stages"][0]["state"] == "reused");
  REQUIRE(sabath({"run", folder_with("blue")}).status == 0);
  CHECK_THAT(output(), Contains("blue-"));
}

TEST_CASE("cli: a cached stage sees the outputs that it needs through others") {
  Sabath sabath;
  const auto folder_with = [&](const std::string& value) {
    json first = shell("first", json::array(), "echo " + value + " > {output}/x");
    json middle = shell("middle", {"first"}, "echo same > {output}/x");
    json last = shell("last", {"middle"}, "cat {stage.first}/x > {output}/x");
    last["cache"] = true;
    first["outputs"] = middle["outputs"] = last["outputs"] = {"x"};
    return recipe(sabath, {first, middle, last});
  };
  REQUIRE(sabath({"run", folder_with("1")}).status == 0);
  REQUIRE(sabath({"run", folder_with("2")}).status == 0);
  CHECK(text_of(sabath.run_directories().back() / "outputs/last/x") == "2\n");
}

TEST_CASE("cli: a stage runs in another variant of the environment than the run") {
  Sabath sabath;
  const auto layer = [](const std::string& variant) {
    return json{{"kind", "host"},
                {"name", "flavour"},
                {"commands", {"sh"}},
                {"variants", {variant}},
                {"variables", {{"FLAVOUR", variant}}}};
  };
  json other = shell("other", json::array(), "echo $FLAVOUR > {output}/x");
  json plain = other;
  plain["name"] = "plain";
  other["variant"] = "mpi";
  other["outputs"] = plain["outputs"] = {"x"};
  const std::string folder = recipe(
      sabath,
      {plain, other},
      {{"environment", {{"variants", {"cpu", "mpi"}}, {"layers", {layer("cpu"), layer("mpi")}}}}});
  const Answer answer = sabath({"run", folder});
  INFO(errors_of(answer));
  REQUIRE(answer.status == 0);
  const fs::path outputs = sabath.run_directories().back() / "outputs";
  CHECK(text_of(outputs / "plain/x") == "cpu\n");
  CHECK(text_of(outputs / "other/x") == "mpi\n");
  json record = record_of(sabath);
  CHECK(record["variant"] == "cpu");
  CHECK(record["stages"][1]["variant"] == "mpi");
  CHECK(record["variants"]["mpi"]["layers"][0]["variables"]["FLAVOUR"] == "mpi");
  const json facet = named(record["facets"], "environment")["items"];
  CHECK(facet["flavour.$FLAVOUR"] == "cpu");
  CHECK(facet["mpi/flavour.$FLAVOUR"] == "mpi");
  // In the run's own variant there is nothing more to make ready.
  REQUIRE(sabath({"run", folder, "--variant", "mpi"}).status == 0);
  record = record_of(sabath);
  CHECK_FALSE(record.contains("variants"));
  CHECK_FALSE(record["stages"][1].contains("variant"));
}

TEST_CASE("stages: what a run needed is known, however short it was") {
  Sabath sabath;
  REQUIRE(sabath({"run",
                  sabath.shell_recipe("short", "python3 -c 'x = bytearray(200 << 20)'"),
                  "--seed",
                  "1"})
              .status == 0);
  const json usage = json::parse(sabath.newest("record.json"))["usage"];
  CHECK(usage["max_rss_bytes"] >= 200U << 20U);
  if (usage.contains("max_threads")) CHECK(usage["max_threads"] > 0);
  CHECK_THAT(sabath({"show", "@last"}).output, !Contains(" 0 B at most"));
}
