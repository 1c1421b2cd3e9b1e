#include "unit/app/workbench.hpp"

#include <sabath/app/explain_pair.hpp>
#include <sabath/planning/repeat_run.hpp>
#include <sabath/spec/run_record.hpp>

using namespace sabath;
using test::contains;

namespace {

/// Two runs and what makes others; the loss follows from what a run was of.
struct ExplainBench : test::Workbench {
  ExplainBench() {
    launcher.metrics = [this](const spec::RunPlan& plan) {
      return "{\"step\": 1, \"loss\": " + std::to_string(loss(plan)) + "}\n";
    };
    tools.again = [this](const std::filesystem::path& run, const std::filesystem::path& folder) {
      return planning::repeat_run(run, folder, {processes, observer});
    };
    tools.run = [this](const planning::RunRequest& wanted) {
      ++made_runs;
      const execution::RunOutcome outcome = run(wanted);
      return app::MadeRun{outcome.directory,
                          outcome.state == spec::RunState::ok ? "" : outcome.message};
    };
    tools.find = [this](const std::string& tag) {
      const auto found = kept.find(tag);
      return found == kept.end() ? std::nullopt : std::optional(found->second);
    };
    tools.has_time = [] { return true; };
    tools.work = home / "work";
    tools.state_directory = folders.state();
  }
  spec::Explanation explain(const std::filesystem::path& a, const std::filesystem::path& b) {
    base::remove_tree(tools.work);
    base::make_directories(tools.work);
    request_.a = a;
    request_.b = b;
    return app::explain_pair(request_, tools, observer);
  }

  std::function<double(const spec::RunPlan&)> loss = [](const spec::RunPlan&) { return 1.0; };
  app::ExplainRequest request_{};
  app::ExplainTools tools{};
  std::map<std::string, app::MadeRun> kept{};
  int made_runs = 0;
};

std::int64_t number(const spec::RunPlan& plan, const std::string& name) {
  return std::get<std::int64_t>(plan.parameters.at(name));
}

}  // namespace

TEST_CASE("explain: runs that agree have nothing to explain") {
  ExplainBench bench;
  const auto explanation = bench.explain(bench.made({}), bench.made({}));
  CHECK(explanation.verdict == spec::Verdict::pass);
  CHECK(explanation.reason == "A and B agree: there is nothing to explain");
  CHECK(bench.made_runs == 0);
}

TEST_CASE("explain: the parameter that makes the runs differ is found") {
  ExplainBench bench;
  bench.loss = [](const spec::RunPlan& plan) {
    return static_cast<double>(number(plan, "epochs"));
  };
  const auto a = bench.made({});
  const auto b = bench.made({{"epochs", "3"}, {"width", "16"}});
  const auto explanation = bench.explain(a, b);
  CHECK(explanation.verdict == spec::Verdict::fail);
  CHECK(explanation.complete);
  CHECK(explanation.cause == spec::ChangeNames{"parameter epochs"});
  CHECK(contains(explanation.reason, "parameter epochs alone makes them differ"));
  const auto plan = home::RunFiles(bench.launcher.jobs.back().run_directory).read_plan();
  CHECK(plan.tags.front() == "explain");
}

TEST_CASE("explain: changes that make them differ only together are told together") {
  ExplainBench bench;
  bench.loss = [](const spec::RunPlan& plan) {
    return number(plan, "epochs") == 3 && number(plan, "width") == 16 ? 2.0 : 1.0;
  };
  const auto explanation =
      bench.explain(bench.made({}), bench.made({{"epochs", "3"}, {"width", "16"}}));
  CHECK(contains(explanation.reason, "only together"));
  CHECK(explanation.necessary.value().size() == 2);
}

TEST_CASE("explain: a run that is not repeatable explains nothing") {
  ExplainBench bench;
  double next = 1;
  bench.loss = [&](const spec::RunPlan&) { return next++; };
  const auto explanation = bench.explain(bench.made({}), bench.made({{"epochs", "3"}}));
  CHECK(contains(explanation.reason, "A done again here does not agree with A"));
  CHECK(explanation.cause.empty());
}

TEST_CASE("explain: runs that differ in nothing that is recorded") {
  ExplainBench bench;
  double value = 1;
  bench.loss = [&](const spec::RunPlan&) { return value; };
  const auto a = bench.made({});
  value = 2;
  const auto b = bench.made({});
  value = 1;
  CHECK(contains(bench.explain(a, b).reason, "something that is not recorded"));
  value = 2;
  CHECK(contains(bench.explain(a, b).reason, "nothing that is recorded differs"));
}

TEST_CASE("explain: a failed run leaves its changes open") {
  ExplainBench bench;
  bench.loss = [](const spec::RunPlan& plan) {
    return static_cast<double>(number(plan, "epochs"));
  };
  const auto a = bench.made({});
  const auto b = bench.made({{"epochs", "3"}, {"width", "16"}});
  bench.launcher.end = [](const spec::RunPlan& plan, spec::RunRecord& record) {
    if (number(plan, "epochs") == 1 || number(plan, "width") == 16) return;
    record.state = spec::RunState::failed;
    record.message = "it diverged";
  };
  const auto explanation = bench.explain(a, b);
  CHECK_FALSE(explanation.failed.empty());
}

TEST_CASE("explain: the budget and the time end the search") {
  ExplainBench bench;
  bench.loss = [](const spec::RunPlan& plan) {
    return static_cast<double>(number(plan, "epochs"));
  };
  const auto a = bench.made({});
  const auto b = bench.made({{"epochs", "3"}, {"width", "16"}});
  bench.request_.budget = 1;
  CHECK(contains(bench.explain(a, b).reason, "the budget of 1 run is spent"));
  bench.tools.has_time = [] { return false; };
  CHECK(contains(bench.explain(a, b).reason, "the time is spent"));
}

TEST_CASE("explain: a run that an earlier call made is used again") {
  ExplainBench bench;
  bench.loss = [](const spec::RunPlan& plan) {
    return static_cast<double>(number(plan, "epochs"));
  };
  const auto a = bench.made({});
  const auto b = bench.made({{"epochs", "3"}});
  bench.tools.run = [&](const planning::RunRequest& wanted) {
    ++bench.made_runs;
    const app::MadeRun made{bench.run(wanted).directory, ""};
    bench.kept[wanted.tags.back()] = made;
    return made;
  };
  const auto first = bench.explain(a, b);
  const int made = bench.made_runs;
  const auto second = bench.explain(a, b);
  CHECK(bench.made_runs == made);
  CHECK(second.cause == first.cause);
  CHECK(std::ranges::all_of(second.hybrids, [](const auto& one) { return one.reused; }));
}

TEST_CASE("explain: the code, the seed and variables are changes, too") {
  ExplainBench bench;
  bench.loss = [&](const spec::RunPlan& plan) {
    return static_cast<double>(*plan.seed.value % 100);
  };
  const auto a = bench.made({});
  bench.edit_code("second");
  planning::RunRequest other = bench.request();
  other.seed = 8;
  const auto b = bench.run(other).directory;
  const auto explanation = bench.explain(a, b);
  CHECK(explanation.verdict != spec::Verdict::pass);
  std::vector<std::string> names;
  for (const spec::Change& change : explanation.changes)
    names.push_back(change.name);
  CHECK(std::ranges::count(names, "code") == 1);
  CHECK(std::ranges::count(names, "seed") == 1);
  if (explanation.verdict == spec::Verdict::fail)
    CHECK(explanation.cause == spec::ChangeNames{"seed"});
}
