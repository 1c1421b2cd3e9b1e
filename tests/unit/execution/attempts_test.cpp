#include "execution/record/attempts.hpp"

#include "execution/admission.hpp"
#include "execution/record/job_facts.hpp"
#include "execution/record/run_steps.hpp"
#include "execution/record/usage_sums.hpp"
#include "support/temp_home.hpp"

#include <sabath/home/run_files.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Answer = execution::Admission::Answer;
using base::Liveness;
using spec::JobStart;
using spec::RunState;

namespace {

spec::RunStatus status_of(RunState state, std::optional<JobStart> job = std::nullopt) {
  spec::RunStatus status;
  status.state = state;
  status.attempt = 1;
  status.node = "n1";
  status.job = std::move(job);
  return status;
}

}  // namespace

TEST_CASE("admission: what was not begun begins, and what is finished stays so") {
  CHECK(execution::admit(status_of(RunState::planned), Liveness::unknown, {}).answer ==
        Answer::first);
  CHECK(execution::admit(status_of(RunState::ok), Liveness::gone, {}).answer == Answer::never);
}

TEST_CASE("admission: only what is certainly gone is followed by another attempt") {
  const auto running = status_of(RunState::running, JobStart{"7", 0, 1});
  const auto answer = [&](Liveness liveness, const std::optional<JobStart>& job) {
    return execution::admit(running, liveness, job).answer;
  };
  CHECK(answer(Liveness::gone, {}) == Answer::again);
  CHECK(answer(Liveness::unknown, {}) == Answer::not_now);
  CHECK(answer(Liveness::unknown, JobStart{"7", 0, 1}) == Answer::not_now);
  CHECK(answer(Liveness::unknown, JobStart{"8", 1, 1}) == Answer::not_now);
  CHECK(answer(Liveness::unknown, JobStart{"7", 1, 1}) == Answer::again);
  // Here it can be seen, whatever the scheduler believes.
  CHECK(answer(Liveness::running, JobStart{"7", 1, 1}) == Answer::not_now);
}

TEST_CASE("admission: an interrupted run goes on with its own job alone") {
  const auto interrupted = status_of(RunState::interrupted, JobStart{"7", 1, 1});
  const auto answer = [&](const std::optional<JobStart>& job) {
    return execution::admit(interrupted, Liveness::gone, job).answer;
  };
  CHECK(answer({}) == Answer::never);
  CHECK(answer(JobStart{"7", 1, 1}) == Answer::never);
  CHECK(answer(JobStart{"8", 2, 1}) == Answer::never);
  CHECK(answer(JobStart{"7", 2, 1}) == Answer::again);
}

TEST_CASE("admission: where restarts are not counted the same job in another process is one") {
  const JobStart job{"7.pbs", 0, 1};
  const auto answer = [&](RunState state, Liveness liveness, const JobStart& start) {
    return execution::admit(status_of(state, job), liveness, start, false).answer;
  };
  CHECK(answer(RunState::interrupted, Liveness::gone, job) == Answer::again);
  CHECK(answer(RunState::interrupted, Liveness::unknown, job) == Answer::again);
  CHECK(answer(RunState::interrupted, Liveness::running, job) == Answer::never);
  CHECK(answer(RunState::interrupted, Liveness::gone, JobStart{"8.pbs", 0, 1}) == Answer::never);
  CHECK(answer(RunState::running, Liveness::unknown, job) == Answer::again);
  CHECK(answer(RunState::running, Liveness::running, job) == Answer::not_now);
  CHECK(answer(RunState::running, Liveness::unknown, JobStart{"8.pbs", 0, 1}) == Answer::not_now);
}

TEST_CASE("grace: in a job it is what its warning leaves when a record is to be written") {
  using std::chrono::seconds;
  const auto grace = [](std::optional<seconds> time, seconds warning) {
    execution::BatchPart part;
    part.plan.steps.resize(1);
    part.plan.steps[0].resources.time = time;
    part.plan.site.warning = warning;
    return execution::grace_in_job(part);
  };
  CHECK(execution::grace_in_job(std::nullopt) == seconds(5));
  CHECK(grace(std::nullopt, seconds(60)) == seconds(50));
  CHECK(grace(seconds(3600), seconds(300)) == seconds(290));
  CHECK(grace(seconds(40), seconds(60)) == seconds(10));  // warned when half of it is over
  CHECK(grace(seconds(3600), seconds(10)) == seconds(5));
}

TEST_CASE("attempts: those that are over are kept, and one of which nothing is known counts") {
  const test::TempHome home;
  const home::RunFiles files(home.path());
  CHECK_FALSE(execution::attempts_before(files, 1));
  auto status = status_of(RunState::interrupted, JobStart{"7", 0, 1});
  status.attempt = 2;
  status.stage = "train";
  execution::keep_attempt(files, status);
  const auto attempts = execution::attempts_before(files, 3);
  REQUIRE(attempts);
  REQUIRE(attempts->size() == 2);
  CHECK(attempts->front().number == 1);
  CHECK(attempts->front().state.empty());
  CHECK(attempts->back().state == "interrupted");
  CHECK(attempts->back().job == JobStart{"7", 0, 1});
  CHECK(attempts->back().stage == "train");
}

TEST_CASE("job facts: a job is called as its scheduler's tools call it") {
  using Variables = base::Environment;
  const auto start = [](const std::string& scheduler, const Variables& variables) {
    return execution::job_of(scheduler, variables).value().start;
  };
  CHECK(start("slurm", {{"SLURM_JOB_ID", "7"}}) == JobStart{"7", 0, 1});
  CHECK(start("slurm",
              {{"SLURM_JOB_ID", "8"},
               {"SLURM_ARRAY_JOB_ID", "7"},
               {"SLURM_ARRAY_TASK_ID", "3"},
               {"SLURM_RESTART_COUNT", "2"}}) == JobStart{"7_3", 2, 1});
  CHECK(start("mine", {{"SABATH_JOB_ID", "x1"}, {"SABATH_JOB_RESTARTS", "3"}}) ==
        JobStart{"x1", 3, 1});
  const Variables both{{"SABATH_JOB_ID", "7_3"}, {"SLURM_JOB_ID", "8"}, {"SLURM_JOB_GPUS", "0,1"}};
  CHECK(start("slurm", both).id == "7_3");
  CHECK(execution::job_of("slurm", both)->variables == Variables{{"SLURM_JOB_GPUS", "0,1"}});
  CHECK_FALSE(execution::job_of("slurm", {}));
  CHECK_FALSE(execution::job_of("mine", {{"SLURM_JOB_ID", "7"}}));
}

TEST_CASE("usage: steps follow one another, nodes are beside one another") {
  spec::UsageSummary one;
  one.samples = 2;
  one.mean_cpus = 1;
  one.max_rss_bytes = 100;
  one.read_bytes = 5U;
  one.gpus = {{"GPU-1", 0.5, 10U, {}, 60.0, {}, {}, {{"power cap", 1U}}}};
  spec::UsageSummary two = one;
  two.mean_cpus = 3;
  two.max_rss_bytes = 300;
  two.gpus->front().mean_utilisation = 1.0;
  const auto after = execution::one_after_other({one, 30}, {two, 10});
  CHECK(after.samples == 4);
  CHECK(after.mean_cpus == Approx(1.5));
  CHECK(after.max_rss_bytes == 300);
  CHECK(after.read_bytes == 10U);
  REQUIRE(after.gpus->size() == 1);
  CHECK(after.gpus->front().mean_utilisation.value() == Approx(0.625));
  CHECK(after.gpus->front().throttled.at("power cap") == 2);
  const auto beside = execution::side_by_side({one, 30}, {two, 10});
  CHECK(beside.mean_cpus == Approx(2));
  CHECK(beside.max_rss_bytes == 400);
}
