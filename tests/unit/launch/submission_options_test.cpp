// What a job wants and what the shipped schedulers are asked for; how they make jobs wait, and what
// they call their states.
#include "fake_tools.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>

#include <catch2/catch.hpp>

#include <map>

using namespace sabath;
using Catch::Matchers::Contains;
using test::FakeTools;
using Texts = std::vector<std::string>;

namespace {

const std::stop_token never;

/// A tool that submits, and its answer.
struct Submission {
  std::string tool{};
  std::string answer{};
};

const std::map<std::string, Submission> submissions{
    {"slurm", {"sbatch", "2\n"}},
    {"pbs", {"qsub", "1234.pbs01\n"}},
    {"torque", {"qsub", "1234.pbs01\n"}},
    {"lsf", {"bsub", "Job <930> is submitted to queue <normal>.\n"}},
    {"sge", {"qsub", "7\n"}},
    {"htcondor", {"condor_submit", "50.0 - 50.0\n"}},
    {"osg", {"condor_submit", "50.0 - 50.0\n"}},
    {"flux", {"flux", "f2oBnTHsqT\n"}},
    {"oar", {"oarsub", "OAR_JOB_ID=42\n"}}};

/// What the script, or the submit file, of a job is; nothing where it was refused, as `why` says.
std::string options_of(const std::string& name,
                       const spec::Resources& resources,
                       spec::Site site,
                       std::string& why) {
  FakeTools tools;
  const auto description = test::shipped_scheduler(name);
  const Submission& submission = submissions.at(name);
  tools.answer(submission.tool, submission.answer);
  auto job = tools.job();
  job.resources = resources;
  try {
    tools.scheduler(description, std::move(site)).submit(job, never);
  } catch (const base::Error& error) {
    CHECK(error.kind() == base::ErrorKind::usage);
    CHECK(tools.calls().empty());
    why = std::string(error.what()) + "\n" + error.hint();
    return {};
  }
  return tools.read("job-1.sh") + tools.read("job-1.submit");
}

/// Why such a job is refused at a site that says nothing of what things are called there.
std::string refusal_of(const std::string& name, const spec::Resources& resources) {
  std::string why;
  CHECK(options_of(name, resources, {}, why).empty());
  return why;
}

}  // namespace

TEST_CASE("shipped schedulers: what a job wants and no line asks for is refused with a hint") {
  const spec::Resources cores{.cpus = 4, .memory_bytes = 64ULL << 30U};
  const spec::Resources gpus{.gpus = 2};
  const spec::Resources nodes{.nodes = 2};
  const spec::Resources memory{.memory_bytes = 8ULL << 30U};
  CHECK_THAT(refusal_of("sge", cores),
             Contains("site 'here': the job needs resources that submissions to sge do not "
                      "request: cpus (4), memory "
                      "(64.0 GiB)") &&
                 Contains("\"pe\" in the site's \"request\"") && Contains("qconf -sc") &&
                 Contains("\"implied\": [\"cpus\", \"memory\"]"));
  CHECK_THAT(refusal_of("sge", gpus), Contains("gpus (2)") && Contains("\"gpu\""));
  CHECK_THAT(refusal_of("sge", nodes), Contains("nodes (2)") && Contains("allocation_rule"));
  CHECK_THAT(refusal_of("htcondor", nodes), Contains("nodes (2)") && Contains("one machine"));
  CHECK_THAT(refusal_of("osg", nodes), Contains("nodes (2)"));
  CHECK_THAT(refusal_of("flux", memory), Contains("memory (8.0 GiB)") && Contains("no option"));
  CHECK_THAT(refusal_of("oar", memory), Contains("memory (8.0 GiB)") && Contains("memnode"));
  CHECK_THAT(refusal_of("oar", gpus), Contains("gpus (2)"));
}

TEST_CASE("shipped schedulers: what the site says that jobs have anyway is not asked for") {
  const spec::Resources wanted{.nodes = 2, .tasks = 2, .cpus = 4, .memory_bytes = 64ULL << 30U};
  std::string why;
  spec::Site site;
  site.request = {{"memory", "h_vmem"}};
  site.implied = {"nodes", "tasks", "cpus"};
  // Memory is for each slot, and of those it has as many as it wants, whoever asks for them.
  CHECK_THAT(options_of("sge", wanted, site, why), Contains("#$ -l h_vmem=16384M\n"));
  site.request["pe"] = "mpi";
  CHECK_THAT(options_of("sge", wanted, site, why),
             Contains("#$ -pe mpi 8\n") && Contains("#$ -l h_vmem=16384M\n"));
  site.request.erase("pe");
  site.implied = {"cpus"};
  site.options = {"-pe smp 8"};
  CHECK_THAT(options_of("sge", {.cpus = 8, .memory_bytes = 64ULL << 30U}, site, why),
             Contains("#$ -pe smp 8\n") && Contains("#$ -l h_vmem=8192M\n"));
  CHECK(why.empty());
}

TEST_CASE("shipped schedulers: each process of a Torque job may use all of the job's memory") {
  // Its mom makes "pmem", and "mem" of a job on one node, the limit of each process.
  std::string why;
  const spec::Resources threads{.cpus = 8, .memory_bytes = 16ULL << 30U};
  CHECK_THAT(options_of("torque", threads, {}, why),
             Contains("#PBS -l mem=16384mb\n") && !Contains("pmem"));
  const spec::Resources nodes{.nodes = 2, .tasks = 8, .memory_bytes = 16ULL << 30U};
  CHECK_THAT(options_of("torque", nodes, {}, why),
             Contains("#PBS -l mem=32768mb\n") && !Contains("pmem"));
  CHECK(why.empty());
}

TEST_CASE(
    "shipped schedulers: GPUs of Flux are those of each node, however many ranks share them") {
  std::string why;
  const spec::Resources shared{.nodes = 2, .tasks = 8, .cpus = 2, .gpus = 2};
  CHECK_THAT(options_of("flux", shared, {}, why),
             Contains("# flux: --nodes=2\n# flux: --nslots=2\n# flux: --cores-per-slot=8\n# flux: "
                      "--gpus-per-slot=2\n"));
  CHECK(why.empty());
}

TEST_CASE("shipped schedulers: a site that says in its own words what a job gets is believed") {
  const spec::Resources wanted{.nodes = 2, .tasks = 2, .cpus = 4, .gpus = 1};
  std::string why;
  spec::Site site;
  site.request = {{"nodes", "2:ppn=4:gpus=1:fast"}};
  CHECK_THAT(options_of("torque", wanted, site, why), Contains("nodes=2:ppn=4:gpus=1:fast\n"));
  site.request = {{"select", "2:ncpus=4:accelerators=1"}};
  CHECK_THAT(options_of("pbs", wanted, site, why),
             Contains("select=2:ncpus=4:accelerators=1\n") && !Contains("place"));
  site.request = {{"place", "scatter:excl"}};
  CHECK_THAT(options_of("pbs", wanted, site, why),
             Contains("-l place=scatter:excl\n") && !Contains("place=scatter\n"));
  site.request.clear();
  site.implied = {"gpus"};
  CHECK_THAT(options_of("pbs", {.nodes = 2}, site, why), Contains("-l place=scatter\n"));
  site.options = {"-l place=pack:excl"};
  CHECK_THAT(options_of("pbs", {.nodes = 2}, site, why),
             Contains("-l place=pack:excl\n") && !Contains("place=scatter"));
  CHECK_THAT(options_of("pbs", {.cpus = 4}, {}, why), !Contains("place"));
  CHECK(why.empty());
}

TEST_CASE("shipped schedulers: what a job needs that asks for little needs no word of the site") {
  for (const auto& [name, submission] : submissions) {
    INFO(name);
    std::string why;
    const spec::Resources little{.nodes = 1, .tasks = 1, .cpus = 1, .gpus = 0};
    CHECK_FALSE(options_of(name, little, {}, why).empty());
    CHECK(why.empty());
  }
}

TEST_CASE("shipped schedulers: a batch waits for the end of another wherever a job can") {
  const std::map<std::string, std::string> lines{{"slurm", "#SBATCH --dependency=afterany:17\n"},
                                                 {"pbs", "#PBS -W depend=afterany:17\n"},
                                                 {"torque", "#PBS -W depend=afterany:17\n"},
                                                 {"lsf", "#BSUB -w \"ended(17)\"\n"},
                                                 {"sge", "#$ -hold_jid 17\n"},
                                                 {"flux", "# flux: --dependency=afterany:17\n"}};
  for (const auto& [name, submission] : submissions) {
    INFO(name);
    FakeTools tools;
    tools.answer(submission.tool, submission.answer);
    auto job = tools.job();
    job.after_any = "17";
    auto scheduler = tools.scheduler(test::shipped_scheduler(name));
    if (lines.count(name) == 0) {
      CHECK_THROWS_WITH(scheduler.submit(job, never), Contains("cannot wait for the end"));
      continue;
    }
    scheduler.submit(job, never);
    CHECK_THAT(tools.read("job-1.sh"), Contains(lines.at(name)));
    if (name != "torque") continue;
    job.after_any = "17[].pbs01";
    job.after_any_is_array = true;
    scheduler.submit(job, never);
    CHECK_THAT(tools.read("job-1.sh"), Contains("#PBS -W depend=afteranyarray:17[].pbs01\n"));
  }
}

TEST_CASE("shipped schedulers: letters and numbers for states are told in words") {
  const auto word = [](const std::string& name, const std::string& tool, const std::string& text) {
    FakeTools tools;
    for (const char* each : {"condor_q", "condor_history", "qstat", "qacct"})
      tools.answer(each, each == tool ? text : "");
    return tools.scheduler(test::shipped_scheduler(name)).poll({"7"}, never).at("7").text();
  };
  CHECK(word("htcondor", "condor_q", "7 0 1 undefined undefined\n") == "idle");
  CHECK(word("htcondor", "condor_q", "7 0 5 34 over the limit\n") == "held (over the limit)");
  CHECK(word("osg", "condor_q", "7 0 6 undefined undefined\n") == "brings its output back");
  CHECK(word("pbs", "qstat", "Job Id: 7\n    job_state = H\n    comment = not now\n\n") ==
        "held (not now)");
  CHECK(word("torque", "qstat", "Job Id: 7\n    job_state = C\n\n") == "completed");
  CHECK(word("sge", "qstat", "7 0.5 x ada hqw 11/22/2026 08:00:00 1\n") == "held");
  CHECK(word("sge", "qstat", "") == "the scheduler does not know it");
  for (const std::string& name : Texts{"htcondor", "osg", "pbs", "torque", "sge"}) {
    const auto description = test::shipped_scheduler(name);
    for (const auto& [state, phase] : description.states) {
      INFO(name << " " << state);
      if (state.size() > 5) continue;  // a word already, and none of Grid Engine's
      const bool is_called = description.called.count(state) > 0 ||
                             description.called.count(state.substr(0, state.find(' '))) > 0;
      CHECK(is_called);
    }
  }
}

TEST_CASE("shipped schedulers: which reasons of Slurm's pass by themselves") {
  base::Regex stuck(test::shipped_scheduler("slurm").stuck);
  const auto stays = [&](const std::string& reason) {
    return stuck.search("PENDING (" + reason + ")") == base::Regex::Outcome::found;
  };
  for (const char* reason : {"PartitionConfig",
                             "PartitionTimeLimit",
                             "PartitionNodeLimit",
                             "BadConstraints",
                             "AssocMaxCpuPerJobLimit",
                             "QOSMaxWallDurationPerJobLimit",
                             "QOSMaxGRESPerNode",
                             "JobHeldUser",
                             "JobHeldAdmin",
                             "InvalidAccount",
                             "InvalidQOS",
                             "launch failed requeued held",
                             "launch_failed_requeued_held",
                             "job requeued in held state",
                             "job_requeued_in_held_state"}) {
    INFO(reason);
    CHECK(stays(reason));
  }
  for (const char* reason : {"Resources",
                             "Priority",
                             "Dependency",
                             "JobArrayTaskLimit",
                             "BeginTime",
                             "AssocGrpCpuLimit",
                             "AssocMaxJobsLimit",
                             "QOSMaxJobsPerUserLimit",
                             "ReqNodeNotAvail, UnavailableNodes:n1"}) {
    INFO(reason);
    CHECK_FALSE(stays(reason));
  }
}

TEST_CASE("shipped schedulers: who waits for a held job is told that it does not pass by itself") {
  for (const std::string& name : Texts{"htcondor", "osg"}) {
    FakeTools tools;
    tools.answer("condor_q", "7 0 5 13 Transfer input files failure\n");
    tools.answer("condor_history", "");
    const auto description = test::shipped_scheduler(name);
    const auto view = tools.scheduler(description).poll({"7"}, never).at("7");
    INFO(name);
    // A pool may release it.
    CHECK(view.phase == spec::JobPhase::pending);
    CHECK(base::Regex(description.stuck).search(view.text()) == base::Regex::Outcome::found);
    CHECK_THAT(view.text(), Contains("Transfer input files failure"));
  }
  CHECK(base::Regex(test::shipped_scheduler("oar").stuck)
            .search("Waiting (dependency with the job 3)") == base::Regex::Outcome::found);
}
