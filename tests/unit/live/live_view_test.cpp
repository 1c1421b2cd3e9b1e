#include "live/budget.hpp"
#include "support/errors.hpp"
#include "unit/live/small_home.hpp"

#include <sabath/base/process/process_identity.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using nlohmann::json;
using test::SmallHome;

TEST_CASE("now: a run appears, is followed, and goes when it is over") {
  SmallHome home;
  CHECK(home.ask({"now"})["all"] == 0);
  home.start(1);
  home.report(1, 1, {"3", "2", "1"});
  home.clock.move(5s);
  std::filesystem::create_directories(home.folders.runs() / ".inbox");
  json now = home.ask({"now"});
  REQUIRE(now["runs"].size() == 1);
  CHECK(now["counts"] == json{{"running", 1}});
  CHECK(now["runs"][0]["stage"] == "one");
  CHECK(now["runs"][0]["last_line"] == "last words");
  CHECK(now["runs"][0]["spark"] == json({3.0, 2.0, 1.0}));
  home.set_state(1, spec::RunState::failed, "no luck");
  home.clock.move(5s);
  now = home.ask({"now"});
  CHECK(now["counts"].empty());
  CHECK(now["runs"].empty());
}

TEST_CASE("now: a process that is gone is told, and nothing is written") {
  SmallHome home;
  const home::RunFiles files = home.start(1);
  spec::RunStatus status = files.read_status();
  auto process = base::ProcessIdentity::parse(status.process);
  REQUIRE(process);
  process->pid = 999'999'999;
  status.process = process->text();
  status.pid = process->pid;
  files.write_status(status);
  const std::string before = base::read_file(files.status());
  const json now = home.ask({"now"});
  CHECK(now["runs"][0]["gone"] == true);
  CHECK_THAT(now["runs"][0]["detail"].get<std::string>(), Contains("sabath status"));
  CHECK(base::read_file(files.status()) == before);
  CHECK(home.ask({"run", SmallHome::id(1)})["gone"] == true);
}

TEST_CASE("now: a run's folder that vanishes is no error") {
  SmallHome home;
  home.start(1);
  home.start(2);
  std::filesystem::remove_all(home.files(1).directory());
  CHECK(home.ask({"now"})["runs"].size() == 2);
  CHECK_THAT(home.ask({"run", SmallHome::id(1)})["note"].get<std::string>(), Contains("plan.json"));
  CHECK(home.ask({"run", SmallHome::id(1), "courses"})["metrics"].empty());
}

TEST_CASE("courses: only what is new comes after the first answer") {
  SmallHome home;
  home.start(1);
  home.report(1, 1, {"3", "2"});
  const auto courses = [&](const json& after) {
    home.clock.move(2s);
    return home.ask({"run", SmallHome::id(1), "courses"}, {{"after", after.dump()}});
  };
  const json first = courses(0);
  REQUIRE(first["metrics"].size() == 1);
  const json& metric = first["metrics"][0];
  CHECK(metric["name"] == "loss");
  CHECK(metric["declared"] == true);
  CHECK(metric["whole"] == true);
  CHECK(metric["buckets"].size() == 2);
  CHECK(metric["last"] == json({2.0, 2.0}));
  CHECK(courses(first["version"])["metrics"][0]["buckets"].empty());
  home.report(1, 3, {"1.5"});
  const json second = courses(first["version"]);
  CHECK(second["metrics"][0]["whole"] == false);
  CHECK(second["metrics"][0]["buckets"].size() == 1);
  CHECK(second["metrics"][0]["buckets"][0][3] == 1.5);
  // Who lost its place gets everything.
  CHECK(courses(0)["metrics"][0]["buckets"].size() == 3);
  CHECK(second["is_over"] == false);
  home.finish(1, {3, 2, 1.5, 1});
  const json last = courses(second["version"]);
  CHECK(last["is_over"] == true);
  CHECK(last["metrics"][0]["whole"] == true);
  CHECK(last["metrics"][0]["buckets"].size() == 4);
}

TEST_CASE("courses: who comes back after its course was dropped gets everything") {
  SmallHome home;
  for (int i = 1; i <= 20; ++i) {
    home.start(i);
    home.report(i, 1, {"3", "2"});
  }
  const json first = home.ask({"run", SmallHome::id(1), "courses"});
  for (int i = 2; i <= 20; ++i)
    home.ask({"run", SmallHome::id(i), "courses"});
  home.report(1, 3, {"1"});
  const json again =
      home.ask({"run", SmallHome::id(1), "courses"}, {{"after", first["version"].dump()}});
  CHECK(again["metrics"][0]["whole"] == true);
  CHECK(again["metrics"][0]["buckets"].size() == 3);
}

TEST_CASE("courses: NaN, half a line and a metric with any name") {
  SmallHome home;
  const home::RunFiles files = home.start(1);
  home.report(1, 1, {"3", "NaN", "Infinity", "2"});
  std::ofstream(files.attempt(1) / "one/metrics-0.jsonl", std::ios::app)
      << R"({"step": 5, "__proto__": 1, "<img src=x>": 2})"
      << "\n"
      << R"({"step": 6, "lo)";
  const json all = home.ask({"run", SmallHome::id(1), "courses"});
  CHECK(all["names"] == json({"one/loss", "one/__proto__", "one/<img src=x>"}));
  const json& loss = all["metrics"][0];
  CHECK(loss["points"] == 4);
  CHECK(loss["not_finite"] == 2);
  CHECK(loss["first_not_finite"] == json({2.0, "NaN"}));
  CHECK(loss["buckets"][1][3].is_null());
}

TEST_CASE("courses: a million points stay within 512 stretches") {
  SmallHome home;
  home.start(1);
  std::ofstream file(home.files(1).attempt(1) / "one/metrics-0.jsonl");
  for (int i = 1; i <= 1'000'000; ++i)
    file << "{\"step\": " << i << ", \"loss\": " << (i == 777'777 ? 1000 : i % 7) << "}\n";
  file.close();
  const json all = home.ask({"run", SmallHome::id(1), "courses"});
  const json& metric = all["metrics"][0];
  CHECK(metric["points"] == 1'000'000);
  CHECK(metric["buckets"].size() <= 512);
  double highest = 0;
  for (const json& bucket : metric["buckets"])
    highest = std::max(highest, bucket[4].get<double>());
  CHECK(highest == 1000);  // no spike is lost
}

TEST_CASE("run: stages, states and outputs of a run that goes on and of one that is over") {
  SmallHome home;
  home.start(1);
  json run = home.ask({"run", SmallHome::id(1)});
  CHECK(run["state"] == "running");
  CHECK(run["goes_on"] == true);
  CHECK(run["stages"][0]["state"] == "running");
  CHECK(run["stages"][1]["state"] == "planned");
  CHECK(run["stages"][1]["needs"] == json({"one"}));
  CHECK_FALSE(run["graph"]["marks"].empty());
  CHECK(run["reproduce"] == "sabath run tiny");
  home.finish(1, {3, 2});
  run = home.ask({"run", SmallHome::id(1)});
  CHECK(run["state"] == "ok");
  CHECK(run["goes_on"] == false);
  CHECK(run["outputs"][0]["path"] == "x.h5");
  CHECK(home.ask({"run", SmallHome::id(1), "record"})["run_id"] == SmallHome::id(1));
  for (const char* name : {"x", "../runs", "tiny-20261120-103299-abcdefgh", ""}) {
    CAPTURE(name);
    CHECK(test::error_of([&] { home.ask({"run", name}); }).kind() == base::ErrorKind::not_found);
  }
}

TEST_CASE("log: its end first, then what follows") {
  SmallHome home;
  const home::RunFiles files = home.start(1);
  const auto log = [&](std::map<std::string, std::string> parameters) {
    return home.ask({"run", SmallHome::id(1), "log"}, std::move(parameters));
  };
  json part = log({});
  CHECK(part["title"] == "one");
  CHECK(part["text"] == "begin\nlast words\n");
  std::ofstream(files.attempt(1) / "one/stdout.log", std::ios::app) << "\x1b[2Jmore\n";
  part = log({{"stage", "one"}, {"from", part["next"].dump()}});
  CHECK(part["text"] == "\x1b[2Jmore\n");
  std::ofstream(files.attempt(1) / "one/stdout.log") << std::string(300'000, 'x') << "\nend\n";
  part = log({{"stage", "one"}});
  CHECK(part["text"] == "end\n");
  CHECK(part["size_bytes"] == 300'005);
  // A log that was replaced by a shorter one is read from its end.
  std::ofstream(files.attempt(1) / "one/stdout.log") << "new\n";
  CHECK(log({{"stage", "one"}, {"from", "300005"}})["text"] == "new\n");
  CHECK(log({{"stage", "one"}, {"stream", "err"}})["text"] == "");
  CHECK(test::error_of([&] { log({{"stage", "three"}}); }).kind() == base::ErrorKind::usage);
  CHECK(test::error_of([&] { log({{"from", "x"}}); }).kind() == base::ErrorKind::usage);
}

TEST_CASE("compare: while B runs, up to which step it is equal, and where it diverges") {
  SmallHome home;
  home.start(1);
  home.finish(1, {3, 2, 1, 0.5});
  home.start(2);
  home.report(2, 1, {"3", "2"});
  const auto compare = [&] {
    return home.ask({"compare"}, {{"a", SmallHome::id(1)}, {"b", SmallHome::id(2)}});
  };
  json pair = compare();
  CHECK(pair["state"] == "so far");
  CHECK(pair["differs"] == false);
  CHECK_THAT(pair["headline"].get<std::string>(), Contains("equal to the bit up to step 2"));
  home.report(2, 3, {"1.25"});
  home.clock.move(5s);
  pair = compare();
  CHECK(pair["differs"] == true);
  CHECK_THAT(pair["headline"].get<std::string>(), Contains("one/loss diverges at step 3"));
  CHECK(test::error_of([&] {
          home.ask({"compare"}, {{"a", SmallHome::id(1)}, {"b", SmallHome::id(1)}});
        }).kind() == base::ErrorKind::usage);
}

TEST_CASE("report: while a run goes on there is no verdict") {
  SmallHome home;
  home.start(1);
  json report = home.ask({"report"}, {{"select", "recipe=tiny"}});
  CHECK(report["verdict"] == "SO FAR");
  home.finish(1, {3, 2});
  home.start(2);
  report = home.ask({"report"}, {{"select", "recipe=tiny"}});
  CHECK(report["verdict"] == "SO FAR");
  CHECK(report["open"] == 1);
  CHECK_THAT(report["reason"].get<std::string>(), Contains("1 of 2 runs have ended"));
  CHECK(home.ask({"report"}, {{"select", "recipe=none"}})["verdict"] == "NO RUNS");
  CHECK(test::error_of([&] { home.ask({"report"}); }).kind() == base::ErrorKind::usage);
}

TEST_CASE("runs: pages of a selection, and its facets") {
  SmallHome home;
  for (int i = 1; i <= 5; ++i) {
    home.start(i);
    home.finish(i, {1.0 / i});
  }
  json runs = home.ask({"runs"}, {{"limit", "2"}});
  CHECK(runs["runs"].size() == 2);
  CHECK(runs["runs"][0]["id"] == SmallHome::id(5));
  CHECK(runs["has_more"] == true);
  runs = home.ask({"runs"},
                  {{"limit", "2"}, {"from", "4"}, {"sort", "loss"}, {"select", "recipe=tiny"}});
  CHECK(runs["runs"].size() == 1);
  CHECK(runs["runs"][0]["id"] == SmallHome::id(1));
  CHECK(runs["runs"][0]["columns"]["loss"] == 1.0);
  CHECK(runs["count"]["all"] == 5);
  CHECK(home.ask({"facets"})["facets"]["recipe"] == json::parse(R"([["tiny", 5]])"));
  CHECK(home.ask({"facets"}, {{"select", "seed=1"}})["facets"]["recipe"].empty());
  CHECK(test::error_of([&] {
          home.ask({"runs"}, {{"select", "loss<"}});
        }).kind() == base::ErrorKind::usage);
}

TEST_CASE("outputs: only those that a record names are opened") {
  SmallHome home;
  home.start(1);
  const auto open = [&](const std::string& stage, const std::string& path) {
    return home.view->open(
        {{"ticket"}, {{"run", SmallHome::id(1)}, {"stage", stage}, {"path", path}}});
  };
  CHECK(test::error_of([&] { open("one", "x.h5"); }).kind() == base::ErrorKind::not_found);
  home.finish(1, {1});
  base::make_directories(home.files(1).outputs("one"));
  base::write_file_atomically(home.files(1).outputs("one") / "x.h5", "data");
  base::write_file_atomically(home.files(1).outputs("one") / "secret", "data");
  CHECK(open("one", "x.h5").size_bytes == 4);
  for (const char* path : {"secret", "../../record.json", "/etc/passwd", ""}) {
    CAPTURE(path);
    CHECK(test::error_of([&] { open("one", path); }).kind() == base::ErrorKind::not_found);
  }
}

TEST_CASE("view: words that name no answer are told") {
  SmallHome home;
  for (const auto& words :
       std::vector<std::vector<std::string>>{{"nothing"}, {"run"}, {"run", "x", "y"}, {"now", "x"}})
    CHECK(test::error_of([&] { home.ask(words); }).kind() == base::ErrorKind::not_found);
  CHECK(home.ask({"about"})["home"] == home.folders.home.string());
  CHECK(home.ask({"studies"})["studies"].empty());
  CHECK(home.ask({"baselines"})["baselines"].empty());
  CHECK(home.ask({"assets"})["assets"].empty());
  CHECK(test::error_of([&] { home.ask({"study", "x"}); }).kind() == base::ErrorKind::not_found);
}

TEST_CASE("budget: twenty operations a second, and what was not used is kept for a while") {
  test::FakeClock clock;
  live::Budget budget(clock);
  int taken = 0;
  while (budget.take(1))
    ++taken;
  CHECK(taken == 60);
  clock.move(1s);
  taken = 0;
  while (budget.take(1))
    ++taken;
  CHECK(taken == 20);
  clock.move(1h);
  budget.charge(100);
  CHECK_FALSE(budget.take(1));
  clock.move(3s);
  CHECK(budget.take(1));
}

TEST_CASE("now: many runs are looked at within the budget, each in its turn") {
  SmallHome home;
  for (int i = 1; i < 60; ++i)
    home.start(i);
  const auto seen = [&] {
    const json now = home.ask({"now"});
    std::size_t count = 0;
    for (const json& run : now["runs"])
      count += run["alive"] != "" ? 1 : 0;
    return count;
  };
  const std::size_t first = seen();
  CHECK(first < 59);
  std::size_t last = first;
  for (int i = 0; i < 60 && last < 59; ++i) {
    home.clock.move(1s);
    last = seen();
  }
  CHECK(last == 59);
}
