// What is peculiar to some of the shipped schedulers, against stand-ins of their tools.
#include "fake_tools.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Matchers::Contains;
using launch::JobPhase;
using test::FakeTools;
using Texts = std::vector<std::string>;

namespace {

const std::stop_token never;

}  // namespace

TEST_CASE(
    "shipped schedulers: without a common file system the job names its files as they arrive") {
  FakeTools tools;
  tools.answer("condor_submit", "50.0 - 50.0\n");
  auto job = tools.job();
  job.argv = {"/opt/bin/sabath", "exec", "--batch", "/runs/x/jobs/1", "/runs/xy", "/runs/x"};
  job.inputs = {"/opt/bin/sabath", "/runs/x"};
  job.outputs = {"x"};
  tools.scheduler(test::shipped_scheduler("osg")).submit(job, never);
  CHECK_THAT(tools.read("job-1.sh"),
             Contains("\nexec ./sabath exec --batch ./x/jobs/1 /runs/xy ./x\n"));
  job.outputs = {"back-{task}"};
  job.tasks = 3;
  tools.answer("condor_submit", "51.0 - 51.2\n");
  tools.scheduler(test::shipped_scheduler("osg")).submit(job, never);
  CHECK_THAT(tools.read("job-1.sh"), Contains("\nmkdir -p back-\"$SABATH_TASK\"\n"));
  tools.scheduler(test::shipped_scheduler("htcondor")).submit(job, never);
  CHECK_THAT(tools.read("job-1.sh"),
             Contains("\nexec /opt/bin/sabath exec --batch /runs/x/jobs/1") && !Contains("mkdir"));
}

TEST_CASE(
    "shipped schedulers: a PBS that keeps no history tells what is queued, and knows no more") {
  FakeTools tools;
  const std::string no_history =
      "case \"$*\" in *-x*) echo 'PBS is not configured to maintain job history' >&2; exit 1;; "
      "esac\n";
  tools.tool("qstat",
             no_history +
                 "printf 'Job Id: 1234.pbs01\\n    job_state = R\\n    queue = workq\\n\\n'\n"
                 "echo 'qstat: Unknown Job Id 1235.pbs01' >&2; exit 153");
  tools.tool("qselect", no_history + "echo 1234.pbs01");
  auto scheduler = tools.scheduler(test::shipped_scheduler("pbs"));
  const auto views = scheduler.poll({"1234.pbs01", "1235.pbs01"}, never);
  CHECK(to_string(views.at("1234.pbs01").phase) == to_string(JobPhase::running));
  CHECK(to_string(views.at("1235.pbs01").phase) == to_string(JobPhase::unknown));
  CHECK_FALSE(views.at("1235.pbs01").is_unheard);
  CHECK(scheduler.find("batch-abcdefgh", never).value_or("") == "1234.pbs01");
  CHECK(scheduler.accounting({"1235.pbs01"}, never).is_absent);
}

TEST_CASE("shipped schedulers: an array of Torque's whose answer was lost is not sent twice") {
  // Without -t its qstat tells the templates of arrays, not their tasks; qselect tells neither.
  FakeTools tools;
  tools.tool("qsub", "echo 'qsub: End of File' >&2; exit 1");
  tools.tool("qselect", "exit 0");
  tools.answer("qstat",
               "Job Id: 7[].pbs01\n    Job_Name = batch-zyxwvuts\n    job_state = Q\n\n"
               "Job Id: 8[].pbs01\n    Job_Name = batch-abcdefgh\n    Job_Owner = ada@login\n\n"
               "Job Id: 9.pbs01\n    Job_Name = batch-abcdefgh2\n    job_state = R\n\n");
  auto job = tools.job();
  job.tasks = 5;
  CHECK(tools.scheduler(test::shipped_scheduler("torque")).submit(job, never) == "8[].pbs01");
  CHECK(tools.calls() == Texts{"qsub " + job.script.string(), "qstat -f -1"});
}

TEST_CASE(
    "shipped schedulers: many jobs of OAR are asked for in one call, ended ones by their id") {
  FakeTools tools;
  tools.tool(
      "oarstat",
      "case \"$*\" in\n"
      "*-u*) for job in 41 42; do printf 'Job_Id: %s\\n    state = Running\\n\\n' $job; done;;\n"
      "*'-j 43') printf 'Job_Id: 43\\n    state = Terminated\\n    exit_code = 0 "
      "(0,0,0)\\n';;\n"
      "esac");
  const auto views =
      tools.scheduler(test::shipped_scheduler("oar")).poll({"41", "42", "43"}, never);
  CHECK(to_string(views.at("41").phase) == to_string(JobPhase::running));
  CHECK(to_string(views.at("42").phase) == to_string(JobPhase::running));
  CHECK(to_string(views.at("43").phase) == to_string(JobPhase::done));
  CHECK(tools.calls().size() == 2);
}

TEST_CASE("shipped schedulers: a job of LSF's tells each of its nodes once") {
  FakeTools tools;
  tools.answer("bsub", "Job <930> is submitted to queue <normal>.\n");
  tools.scheduler(test::shipped_scheduler("lsf")).submit(tools.job(), never);
  const std::string script = tools.read("job-1.sh");
  const auto from = script.find("export SABATH_JOB_NODES=");
  REQUIRE(from != std::string::npos);
  const std::string line = script.substr(from, script.find('\n', from) - from);
  const auto nodes = [&](base::Environment environment) {
    environment["PATH"] = "/usr/bin:/bin";
    base::Command shell;
    shell.argv = {"bash", "-c", line + "; printf '%s' \"$SABATH_JOB_NODES\""};
    shell.environment = std::move(environment);
    base::SystemProcessRunner processes;
    const auto result = processes.run(shell);
    return result.output + result.errors;
  };
  base::write_file_atomically(tools.path("hosts"), "hostB\nhostA\nhostA\n");
  CHECK(nodes({{"LSB_DJOB_HOSTFILE", tools.path("hosts").string()}}) == "hostA,hostB");
  CHECK(nodes({}).empty());
}
