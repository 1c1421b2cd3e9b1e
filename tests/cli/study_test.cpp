// Studies: many runs of one command, whole after any interruption.
#include "support/program.hpp"

#include <sabath/compare/statistical_power.hpp>
#include <sabath/probe/host_probe.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <csignal>
#include <map>
#include <set>
#include <sstream>
#include <thread>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string parameters = R"("parameters": {
  "n": {"type": "int", "default": 0, "min": 0, "max": 2000000},
  "mode": {"type": "enum", "values": ["a", "b", "c"], "default": "a"}})";

/// A recipe whose one stage runs a line of shell, with the parameters n and mode.
std::string recipe(const Sabath& sabath,
                   const std::string& line,
                   const std::string& further = "",
                   const std::string& stage = "{}") {
  return sabath.shell_recipe(
      "toy", line, "{" + parameters + (further.empty() ? "" : ", " + further) + "}", stage);
}

json answer_of(const Answer& answer, int status = 0) {
  INFO(answer.errors);
  INFO(answer.output);
  REQUIRE(answer.status == status);
  return json::parse(answer.output);
}

std::vector<std::string> study_folders(const Sabath& sabath) {
  std::vector<std::string> ids;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(sabath.home() / "studies", code))
    ids.push_back(entry.path().filename().string());
  return ids;
}

std::string only_study(const Sabath& sabath) {
  const auto ids = study_folders(sabath);
  REQUIRE(ids.size() == 1);
  return ids.front();
}

/// "n=1 mode=a" of each run directory, by what the run was really given, with its state.
std::multiset<std::string> runs_made(const Sabath& sabath) {
  std::multiset<std::string> runs;
  for (const fs::path& directory : sabath.run_directories()) {
    const json record = json::parse(text_of(directory / "record.json"));
    runs.insert("n=" + std::to_string(record["parameters"]["n"].get<int>()) +
                " mode=" + record["parameters"]["mode"].get<std::string>() +
                " seed=" + std::to_string(record["seed"]["value"].get<std::uint64_t>()) + " " +
                record["state"].get<std::string>());
  }
  return runs;
}

/// How many runs that are ok each point of the study has.
std::map<std::uint64_t, int> ok_runs_of_points(const Sabath& sabath, const std::string& study) {
  std::map<std::uint64_t, int> counts;
  for (const fs::path& directory : sabath.run_directories()) {
    const std::string record = text_of(directory / "record.json");
    if (record.empty() || json::parse(record)["state"] != "ok") continue;
    const json plan = json::parse(text_of(directory / "plan.json"));
    REQUIRE(plan["study_id"] == study);
    ++counts[plan["study_point"].get<std::uint64_t>()];
  }
  return counts;
}

std::size_t records(const Sabath& sabath) {
  std::size_t count = 0;
  for (const fs::path& directory : sabath.run_directories())
    count += fs::exists(directory / "record.json") ? 1U : 0U;
  return count;
}

bool has_line(const fs::path& file, const std::string& part) {
  return text_of(file).find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("study: sweeps are crossed, with every seed, and the runs are found by their study") {
  Sabath sabath;
  const auto folder = recipe(sabath, "test {param.n}{param.mode} != x");
  const json study = answer_of(sabath(
      {"--json", "run", folder, "--sweep", "n=1,2", "--sweep", "mode=a,b", "--seeds", "5..6"}));
  CHECK(runs_made(sabath) == std::multiset<std::string>{"n=1 mode=a seed=5 ok",
                                                        "n=1 mode=a seed=6 ok",
                                                        "n=1 mode=b seed=5 ok",
                                                        "n=1 mode=b seed=6 ok",
                                                        "n=2 mode=a seed=5 ok",
                                                        "n=2 mode=a seed=6 ok",
                                                        "n=2 mode=b seed=5 ok",
                                                        "n=2 mode=b seed=6 ok"});
  CHECK(study["ok"] == 8);
  CHECK(study["open"] == 0);
  const std::string id = study["study"];
  CHECK(id == only_study(sabath));
  for (const fs::path& directory : sabath.run_directories())
    CHECK(json::parse(text_of(directory / "record.json"))["study_id"] == id);
  const Answer table = sabath({"show", id});
  CHECK(table.status == 0);
  CHECK_THAT(table.output, Contains("mode  n  seed  state") && Contains("8 runs: 8 ok"));
  CHECK_THAT(sabath({"list", "studies"}).output, Contains(id));
  CHECK_THAT(sabath({"show", "study=" + id}).errors, Contains("matches 8 runs"));
  CHECK(answer_of(sabath({"--json", "list"}))["runs"].size() == 8);
}

TEST_CASE("study: without a seed each run draws its own, with one all have it") {
  Sabath sabath;
  const auto folder = recipe(sabath, "true");
  REQUIRE(sabath({"run", folder, "--repeat", "4"}).status == 0);
  std::set<std::string> seeds;
  for (const std::string& run : runs_made(sabath))
    seeds.insert(run);
  CHECK(seeds.size() == 4);
  Sabath other;
  REQUIRE(other({"run", recipe(other, "true"), "--repeat", "3", "--seed", "9"}).status == 0);
  CHECK(runs_made(other).count("n=0 mode=a seed=9 ok") == 3);
}

TEST_CASE("study: drawn seeds are not in the command after 'again:', and a line says so") {
  const Sabath sabath;
  const std::string toy = recipe(sabath, "true");
  const Answer drawn = sabath({"run", toy, "--sweep", "n=1,2"});
  CHECK_THAT(drawn.output, Contains("its runs drew seeds of their own: 'sabath repro RUN'"));
  const Answer set = sabath({"run", toy, "--sweep", "n=1,2", "--seeds", "1..2"});
  CHECK_THAT(set.output, !Contains("drew seeds"));
}

TEST_CASE("study: --zip pairs, and a study of the recipe may exclude") {
  Sabath sabath;
  const auto folder = recipe(sabath, "true", R"("studies": {"small": {
    "matrix": {"n": [1, 2]}, "zip": {"mode": ["a", "b"]},
    "exclude": [{"n": 2, "mode": "b"}], "seeds": [3]}})");
  REQUIRE(sabath({"run", folder, "--sweep", "n=1,2", "--sweep", "mode=b,c", "--zip", "--seed", "3"})
              .status == 0);
  CHECK(runs_made(sabath) ==
        std::multiset<std::string>{"n=1 mode=b seed=3 ok", "n=2 mode=c seed=3 ok"});
  const json small = answer_of(sabath({"--json", "run", folder, "--study", "small"}));
  CHECK(small["study"].get<std::string>().starts_with("toy-small-"));
  CHECK(small["points"] == 3);
  CHECK(runs_made(sabath).count("n=2 mode=b seed=3 ok") == 0);
  const json again =
      answer_of(sabath({"--json", "run", folder, "--study", "small", "--seeds", "8,9"}));
  CHECK(again["points"] == 6);
}

TEST_CASE("study: what cannot be meant is refused with a reason, and nothing is made") {
  Sabath sabath;
  const auto folder = recipe(sabath, "true", R"("studies": {"small": {"matrix": {"n": [1, 2]}}})");
  struct Row {
    std::vector<std::string> options;
    std::string message;
  };
  std::string many = "n=1";
  for (int i = 2; i <= 1000; ++i)
    many += "," + std::to_string(i);
  const std::vector<Row> rows{
      {{"--sweep", "n="}, "has an empty value"},
      {{"--sweep", "n=1,,2"}, "has an empty value"},
      {{"--sweep", "n"}, "such as '--sweep epochs=1,2,4'"},
      {{"--sweep", "m=1,2"}, "no parameter 'm'"},
      {{"--sweep", "n=1,x"}, "'x' is not an integer"},
      {{"--sweep", "n=1..3"}, "--sweep takes values, no range: such as n=1,2,3"},
      {{"--sweep", "n=1,2,1"}, "two points of the study are the same: n=1"},
      {{"--sweep", "n=1", "--sweep", "n=2"}, "'n' is swept twice"},
      {{"--sweep", "n=1,2", "--set", "n=3"}, "is set to one value and also to several"},
      {{"--sweep", "n=1,2", "--sweep", "mode=a", "--zip"},
       "paired lists must have the same length"},
      {{"--sweep", "n=1,2", "--zip"}, "pairs the values of two or more"},
      {{"--zip"}, "--zip"},
      {{"--sweep", many, "--repeat", "1000"}, "would have 1000000 runs"},
      {{"--seeds", "5..1"}, "counts down; write 1..5"},
      {{"--seeds", "1,1"}, "1 stands in it twice"},
      {{"--seeds", "x"}, "is not a range of seeds"},
      {{"--seeds", ""}, "--seeds"},
      {{"--seeds", "1..2", "--seed", "1"}, "--seed"},
      {{"--study", "smal"}, "no study 'smal'"},
      {{"--study", "small", "--sweep", "n=1,2"}, "--s"},
      {{"--study", "small", "--set", "n=1"}, "is set to one value and also to several"},
      {{"--jobs", "0"}, "'0' is not a number of runs"},
      {{"--jobs", "-3"}, "'-3' is not a number of runs"},
      {{"--jobs", "abc"}, "'abc' is not a number of runs"},
      {{"--repeat", "2", "--jobs", "0"}, "'0' is not a number of runs"},
      {{"--repeat", "2", "--jobs", "many"}, "'many' is not a number of runs"},
      {{"--repeat", "2", "--jobs", "all"}, "no stage of the recipe declares how many cpus"},
      {{"--repeat", "2", "--jobs", "1000000"}, "so many runs do not fit"},
      {{"--retry"}, "needs --resume"},
      {{"--resume", "x"}, "continues a study as it was requested"}};
  for (const Row& row : rows) {
    std::vector<std::string> arguments{"run", folder};
    arguments.insert(arguments.end(), row.options.begin(), row.options.end());
    const Answer answer = sabath(arguments);
    INFO(row.options[0] << " " << (row.options.size() > 1 ? row.options[1] : ""));
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(row.message));
  }
  CHECK(sabath.count_runs() == 0);
  CHECK(study_folders(sabath).empty());
  CHECK(sabath({"run", "--resume", "toy"}).status == 10);
  CHECK_THAT(sabath({"run", folder, "--study", "smal"}).errors, Contains("did you mean 'small'?"));
}

TEST_CASE("study: --dry-run shows the runs and what they can show, and makes nothing") {
  Sabath sabath;
  const auto folder = recipe(
      sabath, "true", R"("metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.25}})");
  const Answer answer = sabath(
      {"run", folder, "--sweep", "n=1,2", "--set", "mode=b", "--seeds", "1..5", "--dry-run"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output,
             Contains("10 run(s) of toy") && Contains("mode = b") && Contains("run  n  seed") &&
                 Contains("5 run(s) of each setting") && Contains("within 1.5 sd: 39 %") &&
                 Contains("loss within 0.25: the spread between seeds is unknown"));
  const json plan = answer_of(
      sabath({"--json", "run", folder, "--sweep", "n=1,2", "--seeds", "1..5", "--dry-run"}));
  CHECK(plan["runs"] == 10);
  CHECK(plan["points"][9] == json{{"set", {{"n", "2"}}}, {"seed", 5}, {"repetition", 1}});
  CHECK_FALSE(plan["power"]["metrics"][0].contains("power"));
  CHECK(plan["power"]["seeds_of_each_setting"] == 5);
  CHECK_FALSE(fs::exists(sabath.home() / "studies"));
  CHECK(sabath.count_runs() == 0);
  const Answer one_seed = sabath({"run", folder, "--seed", "7", "--repeat", "10", "--dry-run"});
  CHECK_THAT(one_seed.output, Contains("with one seed") && !Contains("probability"));
}

TEST_CASE("study: what it can show is said before it is started") {
  const Sabath sabath;
  const std::string folder =
      sabath.shell_recipe("told",
                          R"(echo "{{\"step\": 1, \"loss\": 1.{seed}}}" >> $SABATH_METRICS)",
                          R"({"parameters": {"n": {"type": "int", "default": 1}},
          "metrics": {"loss": {"unit": "1", "better": "lower", "margin": 0.3}}})");
  const Answer first = sabath({"run", folder, "--sweep", "n=1,2", "--seeds", "1..5"});
  REQUIRE(first.status == 0);
  const auto told = first.errors.find("within 1, 2 or 3 sd is 6, 76 or 99 %");
  REQUIRE(told != std::string::npos);
  // Now the runs tell the spread.
  const Answer second = sabath({"run", folder, "--sweep", "n=1,2", "--seeds", "1..3"});
  CHECK_THAT(second.errors, Contains("two equal settings agree in loss within 0.3 is "));
  CHECK_THAT(sabath({"run", folder, "--sweep", "n=1,2", "--seed", "1"}).errors,
             Contains("the spread between seeds is not measured"));
  CHECK_THAT(sabath({"run", folder, "--seed", "1"}).errors, !Contains("of each setting"));
}

TEST_CASE("study: --dry-run at a site reads it, and shows what each job will ask for") {
  Sabath sabath;
  const fs::path sites = sabath.folder() / "config/sites";
  fs::create_directories(sites);
  write_text(sites / "big.json", R"({"schema": 1, "scheduler": "slurm",
      "resources": {"nodes": 2, "tasks": 8, "cpus": 4, "gpus": 1, "memory": "64 GiB", "time": "30:00:00"}})");
  const auto folder = recipe(sabath, "true");
  const Answer answer = sabath({"run", folder, "--seed", "1", "--on", "big", "--dry-run"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.output,
             Contains("job 1 at big: ") &&
                 Contains("2 node(s), 8 task(s) of 4 core(s), 1 GPU(s) a node, 64.0 GiB a node"));
  CHECK(sabath({"run", folder, "--on", "bgi", "--dry-run"}).status == 10);
  write_text(sites / "torn.json", "{");
  CHECK(sabath({"run", folder, "--on", "torn", "--dry-run"}).status == 2);
}

TEST_CASE("study: --dry-run tells the power at the recipe's margins by the runs that there are") {
  Sabath sabath;
  // With the seeds 1 to 5 the values are 1 to 5: a standard deviation of the square root of 2.5.
  const auto folder = recipe(sabath,
                             R"(echo "{{\"loss\": {seed}}}" >> $SABATH_METRICS)",
                             R"("metrics": {"loss": {"unit": "m", "margin": 3.1622776601683795}})");
  for (const char* n : {"1", "2"}) {
    const std::string set = "n=" + std::string(n);
    REQUIRE(sabath({"run", folder, "--set", set, "--seeds", "1..5"}).status == 0);
  }
  REQUIRE(sabath({"run", folder, "--set", "n=1", "--seed", "1"}).status == 0);  // tells nothing new
  const Answer answer = sabath({"run", folder, "--sweep", "n=1,2", "--seeds", "1..5", "--dry-run"});
  CHECK_THAT(answer.output, Contains("loss within 3.16") && Contains("of 10 runs"));
  CHECK_THAT(answer.output, !Contains("within   1 sd"));
  const json power = answer_of(sabath(
      {"--json", "run", folder, "--sweep", "n=1,2", "--seeds", "1..5", "--dry-run"}))["power"];
  const json metric = power["metrics"][0];
  CHECK(metric["deviation"].get<double>() == Approx(std::sqrt(2.5)));
  CHECK(metric["runs"] == 10);
  // Two standard deviations, five runs a side: as `power` of the unit tests of compare.
  CHECK(metric["power"].get<double>() == Approx(sabath::compare::equivalence_power(5, 2)));
}

TEST_CASE("study: a failed run does not end it, is kept, and is run again only when asked") {
  Sabath sabath;
  const auto broken = sabath.folder() / "broken";
  write_text(broken, "");
  const auto folder =
      recipe(sabath,
             "test {param.n} != 2 || test ! -e " + broken.string() + " || (echo boom >&2; exit 3)");
  const Answer first = sabath({"run", folder, "--sweep", "n=1,2,3", "--seed", "4"});
  CHECK(first.status == 1);
  const std::string id = only_study(sabath);
  CHECK_THAT(first.output,
             Contains("3 runs: 2 ok, 1 failed") && Contains("status 3: boom\n") &&
                 Contains("sabath run --resume " + id + " --retry"));
  CHECK(sabath({"run", "--resume", id}).status == 1);
  CHECK(sabath.count_runs() == 3);
  CHECK(sabath({"run", "--resume", id, "--retry"}).status == 1);
  CHECK(sabath.count_runs() == 4);
  fs::remove(broken);
  const json done = answer_of(sabath({"--json", "run", "--resume", id, "--retry"}));
  CHECK(done["ok"] == 3);
  CHECK(done["runs"][1]["tries"] == 3);
  CHECK(done["count"]["counted"] == 3);
  CHECK(done["count"]["all"] == 5);
  const std::string of_study = "study=" + id;
  CHECK_THAT(sabath({"list", "runs", of_study}).output,
             Contains("3 of 5 runs count; left out: 2 retried"));
  CHECK_THAT(sabath({"check", of_study}).output,
             !Contains("FAIL") && Contains("3 of 5 runs count; left out: 2 retried"));
  CHECK(sabath({"wait", of_study}).status == 0);
  CHECK(sabath({"wait", id}).status == 0);
  CHECK(runs_made(sabath).count("n=2 mode=a seed=4 failed") == 2);
  CHECK(runs_made(sabath).count("n=2 mode=a seed=4 ok") == 1);
  CHECK(answer_of(sabath({"--json", "run", "--resume", id, "--retry"}))["ok"] == 3);
  CHECK(sabath.count_runs() == 5);
}

TEST_CASE("study: 50 runs, killed with -9 and resumed, and each point is ok exactly once") {
  Sabath sabath;
  // Runs with n wait as long as there is a file hold-n; each writes one line when it is through.
  const auto hold = (sabath.folder() / "hold-").string();
  const auto log = sabath.folder() / "log";
  const auto folder =
      recipe(sabath,
             "while [ -e " + hold + "{param.n} ]; do sleep 0.02; done; echo {param.n} {seed} >> " +
                 log.string());
  for (const char* n : {"3", "4", "5", "6", "7", "8", "9"})
    write_text(hold + n, "");
  const bool two = sabath::probe::usable_cores().size() > 1;
  Running first = sabath.start({"run",
                                folder,
                                "--sweep",
                                "n=0,1,2,3,4,5,6,7,8,9",
                                "--seeds",
                                "1..5",
                                "--jobs",
                                two ? "2" : "1"});
  REQUIRE(eventually([&] { return records(sabath) == 15; }, std::chrono::seconds(60)));
  first.signal(SIGKILL);
  CHECK(first.wait().status == 128 + SIGKILL);
  const std::string id = only_study(sabath);
  Running second = sabath.start({"run", "--resume", id});
  for (const char* n : {"3", "4", "5"})
    fs::remove(hold + n);
  REQUIRE(eventually([&] { return records(sabath) == 30; }, std::chrono::seconds(60)));
  second.signal(SIGKILL);
  CHECK(second.wait().status == 128 + SIGKILL);
  for (const char* n : {"6", "7", "8", "9"})
    fs::remove(hold + n);
  const json study = answer_of(sabath({"--json", "run", "--resume", id}));
  CHECK(study["ok"] == 50);
  const auto counts = ok_runs_of_points(sabath, id);
  CHECK(counts.size() == 50);
  for (const auto& [point, count] : counts)
    CHECK(count == 1);
  std::multiset<std::string> lines;
  std::istringstream text(text_of(log));
  for (std::string line; std::getline(text, line);)
    lines.insert(line);
  CHECK(lines.size() == 50);
  CHECK(std::set<std::string>(lines.begin(), lines.end()).size() == 50);
  CHECK(sabath({"catalog", "reindex"}).status == 0);
  CHECK_THAT(sabath({"list", "studies"}).output, Contains("50  50"));
}

TEST_CASE("study: a run that goes on after its study was killed is waited for, not repeated") {
  Sabath sabath;
  const auto gate = sabath.folder() / "gate";
  const auto folder = recipe(
      sabath, "while [ {param.n} = 1 ] && [ ! -e " + gate.string() + " ]; do sleep 0.02; done");
  Running first = sabath.start({"run", folder, "--sweep", "n=1,2", "--seed", "1"});
  REQUIRE(eventually([&] {
    return has_line(sabath.newest("status.json").empty()
                        ? fs::path()
                        : sabath.run_directories().back() / "status.json",
                    "\"go\"");
  }));
  const std::string id = only_study(sabath);
  const Answer beside = sabath({"run", "--resume", id});
  CHECK(beside.status == 2);
  CHECK_THAT(beside.errors, Contains("is already running, as process"));
  first.signal(SIGKILL);
  first.wait();
  Running second = sabath.start({"run", "--resume", id});
  REQUIRE(
      eventually([&] { return has_line(sabath.folder() / "started-2.err", "is still running"); }));
  CHECK(sabath.count_runs() == 1);
  write_text(gate, "");
  CHECK(second.wait().status == 0);
  CHECK(runs_made(sabath) ==
        std::multiset<std::string>{"n=1 mode=a seed=1 ok", "n=2 mode=a seed=1 ok"});
}

TEST_CASE("study: beside a run that has the whole machine none is started, however many may be") {
  if (sabath::probe::usable_cores().size() < 2) return;
  Sabath sabath;
  const auto gate = sabath.folder() / "gate";
  const auto folder = recipe(
      sabath, "while [ {param.n} = 1 ] && [ ! -e " + gate.string() + " ]; do sleep 0.02; done");
  Running first = sabath.start({"run", folder, "--sweep", "n=1,2,3", "--seed", "1"});
  REQUIRE(eventually([&] {
    return sabath.count_runs() == 1 &&
           has_line(sabath.run_directories().back() / "status.json", "\"go\"");
  }));
  first.signal(SIGKILL);
  first.wait();
  Running second = sabath.start({"run", "--resume", only_study(sabath), "--jobs", "2"});
  REQUIRE(
      eventually([&] { return has_line(sabath.folder() / "started-2.err", "is still running"); }));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(sabath.count_runs() == 1);
  write_text(gate, "");
  CHECK(second.wait().status == 0);
  CHECK(sabath.count_runs() == 3);
}

TEST_CASE("study: two studies at once on one machine get cores of their own, as far as there are") {
  if (sabath::probe::usable_cores().size() < 2) return;
  Sabath sabath;
  const auto gate = sabath.folder() / "gate";
  const auto folder =
      recipe(sabath,
             "while [ {param.n} = 1 ] && [ ! -e " + gate.string() + " ]; do sleep 0.02; done",
             "",
             R"({"resources": {"cpus": 1}})");
  // Of each study one run stays and has a core, the other is through at once.
  const std::vector<std::string> command{
      "run", folder, "--sweep", "n=1,2", "--seed", "1", "--jobs", "2"};
  Running one = sabath.start(command);
  REQUIRE(eventually([&] { return sabath.count_runs() == 2 && records(sabath) == 1; }));
  Running two = sabath.start(command);
  REQUIRE(eventually([&] { return sabath.count_runs() == 4 && records(sabath) == 2; }));
  write_text(gate, "");
  const Answer first = one.wait();
  CHECK(first.status == 0);
  const Answer second = two.wait();
  CHECK(second.status == 0);
  // Runs of other tests may have cores of this machine, too.
  const std::string shares = "shares cores with ";
  const auto at = second.errors.find(shares);
  const bool others =
      first.errors.find(shares) != std::string::npos ||
      (at != std::string::npos && second.errors.compare(at + shares.size(), 4, "toy-") != 0);
  if (others) return;
  std::vector<json> places;
  for (const fs::path& directory : sabath.run_directories()) {
    const json plan = json::parse(text_of(directory / "plan.json"));
    if (plan["parameters"]["n"] == 1) places.push_back(plan["place"]["cpus"]);
  }
  REQUIRE(places.size() == 2);
  CHECK(places[0] != places[1]);
  // Here only two cores may be counted on: where there are more, nothing is shared.
  if (sabath::probe::usable_cores().size() == 2)
    CHECK_THAT(second.errors, Contains("shares cores with toy-"));
}

TEST_CASE("study: Ctrl-C ends what runs and says how to go on") {
  Sabath sabath;
  const auto gate = sabath.folder() / "gate";
  const auto folder = recipe(
      sabath, "while [ {param.n} = 2 ] && [ ! -e " + gate.string() + " ]; do sleep 0.02; done");
  Running running = sabath.start({"run", folder, "--sweep", "n=1,2,3", "--seed", "1"});
  REQUIRE(eventually([&] {
    return sabath.count_runs() == 2 && records(sabath) == 1 &&
           has_line(sabath.run_directories().back() / "status.json", "\"go\"");
  }));
  const std::string id = only_study(sabath);
  running.signal(SIGINT);
  const Answer answer = running.wait();
  CHECK(answer.status == 130);
  CHECK_THAT(answer.output,
             Contains("1 ok, 1 interrupted, 1 not run") &&
                 Contains("to go on: sabath run --resume " + id));
  CHECK(sabath.count_runs() == 2);
  write_text(gate, "");
  CHECK(answer_of(sabath({"--json", "run", "--resume", id}))["ok"] == 3);
  CHECK(sabath.count_runs() == 4);
}

TEST_CASE("study: runs at the same time are bound to cores of their own") {
  Sabath sabath;
  const auto folder =
      recipe(sabath,
             // Each waits until both are there, so that they certainly ran beside one another.
             "touch " + (sabath.folder() / "at-").string() + "{param.n}; while [ $(ls " +
                 sabath.folder().string() +
                 " | grep -c '^at-') -lt 2 ]; do sleep 0.02; done; "
                 "grep Cpus_allowed_list /proc/self/status > " +
                 (sabath.folder() / "cpus-").string() + "{param.n}",
             "",
             R"({"resources": {"cpus": 1}})");
  const std::vector<std::string> command{
      "--json", "run", folder, "--sweep", "n=1,2", "--jobs", "2"};
  if (sabath::probe::usable_cores().size() < 2) {
    CHECK(sabath(command).status == 2);
    return;
  }
  answer_of(sabath(command));
  const std::string one = text_of(sabath.folder() / "cpus-1");
  const std::string two = text_of(sabath.folder() / "cpus-2");
  CHECK_THAT(one, Contains("Cpus_allowed_list:"));
  CHECK(one != two);
  std::set<int> cpus;
  std::size_t count = 0;
  for (const fs::path& directory : sabath.run_directories()) {
    const json plan = json::parse(text_of(directory / "plan.json"));
    for (const int cpu : plan["place"]["cpus"].get<std::vector<int>>()) {
      cpus.insert(cpu);
      ++count;
    }
    const json record = json::parse(text_of(directory / "record.json"));
    for (const json& facet : record["facets"]) {
      if (facet["name"] == "launch")
        CHECK(facet["items"]["cpus"] == std::to_string(plan["place"]["cpus"].size()));
    }
  }
  CHECK(count >= 2);
  CHECK(cpus.size() == count);
}

TEST_CASE("study: what a run is bound to does not change what its host is") {
  Sabath sabath;
  const auto folder = recipe(sabath, "true", "", R"({"resources": {"cpus": 1}})");
  if (sabath::probe::usable_cores().size() < 2) return;
  REQUIRE(sabath({"run", folder}).status == 0);
  REQUIRE(sabath({"run", folder, "--repeat", "2", "--jobs", "all"}).status == 0);
  std::set<std::string> hosts;
  for (const fs::path& directory : sabath.run_directories()) {
    const json record = json::parse(text_of(directory / "record.json"));
    for (const json& facet : record["facets"]) {
      if (facet["name"] == "host") hosts.insert(facet["items"].dump());
    }
  }
  CHECK(hosts.size() == 1);
}

TEST_CASE("study: each run has GPUs of its own, from among those that the caller may see") {
  Sabath sabath;
  const auto folder = recipe(sabath,
                             "echo $CUDA_VISIBLE_DEVICES > " + (sabath.folder() / "gpu-").string() +
                                 "{param.n}; touch " + (sabath.folder() / "at-").string() +
                                 "{param.n}; while [ $(ls " + sabath.folder().string() +
                                 " | grep -c '^at-') -lt 2 ]; do sleep 0.02; done",
                             "",
                             R"({"resources": {"cpus": 1, "gpus": 2}})");
  if (sabath::probe::usable_cores().size() < 2) return;
  sabath.environment()["CUDA_VISIBLE_DEVICES"] = "GPU-a,GPU-b,GPU-c,GPU-d";
  answer_of(sabath({"--json", "run", folder, "--sweep", "n=1,2", "--jobs", "2"}));
  CHECK(text_of(sabath.folder() / "gpu-1") == "GPU-a,GPU-b\n");
  CHECK(text_of(sabath.folder() / "gpu-2") == "GPU-c,GPU-d\n");
  sabath.environment()["CUDA_VISIBLE_DEVICES"] = "GPU-a,GPU-b,GPU-c";
  const Answer answer = sabath({"run", folder, "--sweep", "n=1,2", "--jobs", "2"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("2 GPU(s)") && Contains("3 GPU(s)"));
}

TEST_CASE("study: a recipe that was changed since is not mixed in, and changed code is told") {
  Sabath sabath;
  const auto broken = sabath.folder() / "broken";
  write_text(broken, "");
  const std::string line = "test ! -e " + broken.string();
  const auto folder = recipe(sabath, line);
  fs::create_directories(fs::path(folder) / "code");
  write_text(fs::path(folder) / "code/a", "1");
  REQUIRE(sabath({"run", folder, "--repeat", "2"}).status == 1);
  const std::string id = only_study(sabath);
  write_text(fs::path(folder) / "code/a", "2");
  fs::remove(broken);
  const Answer changed = sabath({"run", "--resume", id, "--retry"});
  CHECK(changed.status == 0);
  CHECK_THAT(changed.errors, Contains("the code has changed since the first run"));
  recipe(sabath, line + " ");
  const Answer answer = sabath({"run", "--resume", id});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("the recipe has changed since it was begun"));
}
