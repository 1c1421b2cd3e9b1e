#include "unit/app/workbench.hpp"

#include <sabath/app/run_study.hpp>
#include <sabath/planning/expand_study.hpp>
#include <sabath/spec/run_record.hpp>

#include <set>

using namespace sabath;
using spec::RunState;
using test::contains;

namespace {

/// A study of the tiny recipe with a run for each of some epochs.
struct StudyBench : test::Workbench {
  explicit StudyBench(std::vector<std::int64_t> epochs, int jobs = 1) {
    spec::Study study;
    for (const std::int64_t value : epochs)
      study.matrix["epochs"].emplace_back(value);
    prepared_request = request();
    plan.recipe = plan.recipe_name = "tiny";
    plan.recipe_digest = prepared_request.recipe.digest();
    plan.jobs = jobs;
    plan.points = planning::expand_study(prepared_request.recipe, study, {}, 7);
    files.emplace(home::make_study(folders.studies(), "tiny", plan, clock));
    launcher.end = [this](const spec::RunPlan& run, spec::RunRecord& record) {
      if (!bad.contains(std::get<std::int64_t>(run.parameters.at("epochs")))) return;
      record.state = RunState::failed;
      record.message = "it diverged";
    };
  }
  analysis::StudyOutcome drive(const app::Resumption& resumption = {}, std::stop_token stop = {}) {
    const auto prepared = runner.preparer().prepare(
        prepared_request, observer, {}, planning::settings_of(plan.points));
    return app::run_study(
        *files, plan, prepared, resumption, {runner, folders, processes, clock, observer}, stop);
  }

  planning::RunRequest prepared_request{};
  spec::StudyPlan plan{};
  std::optional<home::StudyFiles> files{};
  std::set<std::int64_t> bad{};
};

std::vector<RunState> states(const analysis::StudyOutcome& outcome) {
  std::vector<RunState> found;
  for (const auto& point : outcome.points)
    found.push_back(point.run ? point.run->state : RunState::planned);
  return found;
}

}  // namespace

TEST_CASE("run study: each point has a run, in the order of the points") {
  StudyBench bench({1, 2, 3});
  CHECK(states(bench.drive()) == std::vector(3, RunState::ok));
  REQUIRE(bench.launcher.jobs.size() == 3);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto plan = home::RunFiles(bench.launcher.jobs[i].run_directory).read_plan();
    CHECK(plan.study_id == bench.plan.study_id);
    CHECK(plan.study_point == i);
    CHECK(std::get<std::int64_t>(plan.parameters.at("epochs")) == static_cast<std::int64_t>(i + 1));
  }
  CHECK(bench.files->runs().size() == 3);
}

TEST_CASE("run study: a failed point ends no other, and is run again only when asked") {
  StudyBench bench({1, 2, 3});
  bench.bad = {2};
  const std::vector<RunState> wanted{RunState::ok, RunState::failed, RunState::ok};
  CHECK(states(bench.drive()) == wanted);
  CHECK(contains(bench.observer.notes.back() + bench.observer.notes[2], "it diverged"));
  CHECK(states(bench.drive()) == wanted);
  CHECK(bench.launcher.jobs.size() == 3);
  bench.bad.clear();
  CHECK(states(bench.drive({.retry = true})) == std::vector(3, RunState::ok));
  CHECK(bench.launcher.jobs.size() == 4);
}

TEST_CASE("run study: a point whose run was lost is run again") {
  StudyBench bench({1, 2});
  bench.drive();
  const home::RunFiles files(bench.launcher.jobs.front().run_directory);
  std::filesystem::remove(files.record());
  spec::RunStatus status = files.read_status();
  status.state = RunState::lost;
  files.write_status(status);
  CHECK(states(bench.drive()) == std::vector(2, RunState::ok));
  CHECK(bench.launcher.jobs.size() == 3);
}

TEST_CASE("run study: a stop starts nothing more and cancels what runs") {
  StudyBench bench({1, 2, 3});
  bench.launcher.is_patient = true;
  std::stop_source source;
  source.request_stop();
  const auto outcome = bench.drive({}, source.get_token());
  CHECK(bench.launcher.jobs.empty());
  CHECK(states(outcome) == std::vector(3, RunState::planned));
}

TEST_CASE("run study: runs at the same time get disjoint cores") {
  StudyBench bench({1, 2}, 0);
  const app::StudyTools tools{
      bench.runner, bench.folders, bench.processes, bench.clock, bench.observer};
  const std::size_t jobs = app::runs_at_a_time(bench.prepared_request.recipe, 0, tools);
  CHECK(states(bench.drive()) == std::vector(2, RunState::ok));
  std::vector<int> cpus;
  for (const launch::Job& job : bench.launcher.jobs) {
    const auto slots = home::RunFiles(job.run_directory).read_plan().slots;
    if (jobs > 1) REQUIRE(slots);
    if (slots) cpus.insert(cpus.end(), slots->cpus.begin(), slots->cpus.end());
  }
  std::sort(cpus.begin(), cpus.end());
  CHECK(std::unique(cpus.begin(), cpus.end()) == cpus.end());
}

TEST_CASE("run study: one who changes the recipe's code meanwhile is warned once") {
  StudyBench bench({1, 2, 3});
  bench.launcher.end = [&](const spec::RunPlan& plan, spec::RunRecord&) {
    bench.edit_code(plan.run_id);
  };
  bench.drive();
  const auto is_of_code = [](const std::string& text) {
    return contains(text, "the code has changed since the first run");
  };
  CHECK(std::ranges::count_if(bench.observer.warnings, is_of_code) == 1);
}

TEST_CASE("run study: what cannot be written ends the study once its runs are over") {
  StudyBench bench({1, 2, 3});
  bench.launcher.end = [&](const spec::RunPlan&, spec::RunRecord&) {
    std::filesystem::rename(bench.folders.runs(), bench.home / "gone");
    base::write_file_atomically(bench.folders.runs(), "a file");
  };
  CHECK_THROWS_AS(bench.drive(), base::Error);
  CHECK(bench.launcher.jobs.size() == 1);
}
