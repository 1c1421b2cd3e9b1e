// How far a study is, while its process lives and once it is gone.
#include "support/answers.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

const std::string half_way = "4 runs: 1 ok, 1 running, 2 not run";

/// A study of four runs that wait for a file each. The first is ok, the second runs.
class HalfWay {
 public:
  HalfWay() {
    const std::string recipe = sabath.shell_recipe(
        "gated",
        "while [ ! -e " + gate("{param.n}").string() + " ]; do sleep 0.02; done",
        R"({"parameters": {"n": {"type": "int", "default": 0}}})");
    open("1");
    driver.reset(new Running(sabath.start({"run", recipe, "--sweep", "n=1,2,3,4", "--seed", "1"})));
    REQUIRE(eventually([&] { return sabath.count_runs() == 2; }));
    for (const auto& entry : fs::directory_iterator(sabath.home() / "studies"))
      study = entry.path().filename().string();
    REQUIRE(eventually([&] { return contains_half_way({"status", study}); }));
  }

  ~HalfWay() {
    for (const char* n : {"2", "3", "4"})
      open(n);
    eventually([&] { return !is_alive(driver->pid()); });
  }
  HalfWay(const HalfWay&) = delete;
  HalfWay& operator=(const HalfWay&) = delete;

  fs::path gate(const std::string& n) const { return sabath.folder() / ("gate-" + n); }
  void open(const std::string& n) const { write_text(gate(n), ""); }
  bool contains_half_way(const std::vector<std::string>& words) const {
    return sabath(words).output.find(half_way) != std::string::npos;
  }

  Sabath sabath{};
  std::string study{};
  std::unique_ptr<Running> driver{};
};

}  // namespace

TEST_CASE("study: status, wait and show count the runs that its process has still to start") {
  const HalfWay going;
  const Sabath& sabath = going.sabath;
  CHECK_THAT(sabath({"status"}).output, Contains(half_way) && !Contains("--resume"));
  const json status = answered(sabath, {"status", going.study});
  CHECK(status["counts"] == json{{"ok", 1}, {"running", 1}, {"not_run", 2}});
  CHECK(status["studies"] ==
        json::array({{{"id", going.study}, {"points", 4}, {"not_run", 2}, {"goes_on", true}}}));
  const Answer shown = sabath({"show", going.study});
  CHECK_THAT(shown.output, Contains(half_way) && Contains("sabath wait " + going.study));
  CHECK_THAT(shown.output, !Contains("--resume"));
  const Answer early = sabath({"wait", going.study, "--timeout", "1s"});
  CHECK(early.status == 3);
  CHECK_THAT(early.output, Contains(half_way) && !Contains("--resume"));
}

TEST_CASE("study: wait ends with its last point, by the study's name and without a name") {
  HalfWay going;
  Sabath& sabath = going.sabath;
  Running by_name = sabath.start({"wait", going.study});
  Running of_all = sabath.start({"wait"});
  for (const char* n : {"2", "3", "4"})
    going.open(n);
  for (Running* waiting : {&by_name, &of_all}) {
    const Answer answer = waiting->wait();
    INFO(answer.errors);
    CHECK(answer.status == 0);
    CHECK_THAT(answer.output, Contains("4 runs: 4 ok"));
  }
  CHECK(going.driver->wait().status == 0);
  CHECK(sabath({"status"}).output == "nothing is under way\n");
}

TEST_CASE("study: wait tells the points that nobody runs any more, and is not 0") {
  HalfWay going;
  const Sabath& sabath = going.sabath;
  going.driver->signal(SIGKILL);
  going.driver->wait();
  going.open("2");
  const std::string resume = "2 of 4 runs were not run: sabath run --resume " + going.study + "\n";
  const Answer ended = sabath({"wait", going.study});
  CHECK(ended.status == 130);
  CHECK_THAT(ended.output, Contains("4 runs: 2 ok, 2 not run\n" + resume));
  CHECK_THAT(sabath({"status", going.study}).output, Contains(resume));
  CHECK_THAT(sabath({"show", going.study}).output,
             Contains("to go on: sabath run --resume " + going.study));
  // A run of it, or a selection of runs, is not the study.
  CHECK(sabath({"wait", "@last"}).status == 0);
}

TEST_CASE("study: of points that do not set the same parameters the file and the point are named") {
  const HalfWay going;
  const Sabath& sabath = going.sabath;
  const fs::path file = sabath.home() / "studies" / going.study / "study.json";
  json plan = json::parse(text_of(file));
  plan["points"][2]["set"] = json::object();
  write_text(file, plan.dump());
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"show", going.study}, {"run", "--resume", going.study}}) {
    const Answer answer = sabath(words);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains(file.string() + ":/points/2/set: its parameters"));
  }
  const Answer status = sabath({"status", going.study});
  CHECK(status.status == 0);
  CHECK_THAT(status.errors, Contains("/points/2/set"));
}
