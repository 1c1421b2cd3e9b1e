// The scheduler's side of launching, with Slurm's description and recording stand-ins of its tools,
// which say what Slurm 22.05 was seen to say.
#include "fake_tools.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>

#include <catch2/catch.hpp>

#include <thread>

using namespace sabath;
using Catch::Matchers::Contains;
using launch::JobPhase;
using test::FakeTools;
using Texts = std::vector<std::string>;

namespace {

const std::stop_token never;

template <class Action>
base::Error error_of(Action action) {
  try {
    action();
  } catch (const base::Error& error) {
    return error;
  }
  throw std::logic_error("there was no error");
}

spec::SchedulerDescription slurm() {
  return test::shipped_scheduler("slurm");
}

/// Gives up soon.
spec::SchedulerDescription impatient() {
  auto description = slurm();
  description.patience = std::chrono::seconds(0);
  return description;
}

}  // namespace

TEST_CASE("scheduler: a job is submitted with a script that starts sabath, and its id comes back") {
  FakeTools tools;
  tools.answer("sbatch", "4711\n");
  auto scheduler = tools.scheduler(slurm());
  CHECK(scheduler.submit(tools.job(), never) == "4711");
  CHECK(tools.calls() == Texts{"sbatch --parsable " + tools.path("job-1.sh").string()});
  const std::string script = tools.read("job-1.sh");
  CHECK(script.starts_with("#!/bin/bash\n# supercell, written by sabath and submitted with: "));
  CHECK_THAT(script,
             Contains("\n#SBATCH --job-name=supercell\n#SBATCH --comment=batch-abcdefgh\n"));
  CHECK_THAT(script, Contains("#SBATCH --output=" + tools.path("job-1.log-1").string() + "\n"));
  CHECK_THAT(script, Contains("\nexport SABATH_JOB_ID=\"$SLURM_JOB_ID\"\n"));
  CHECK(script.ends_with("\nexec /opt/bin/sabath exec --batch '/runs/it'\\''s' --task \"1\"\n"));
  CHECK_THAT(script, !Contains("--array"));
  CHECK_THAT(script, !Contains("--ntasks-per-node"));
  CHECK_THAT(script, !Contains("--time"));
  CHECK_THAT(script, !Contains("--dependency"));
}

TEST_CASE("scheduler: what a site asks for and a job needs become options") {
  FakeTools tools;
  tools.answer("sbatch", "1;far\n");
  spec::Site site;
  site.request = {{"partition", "gpu"},
                  {"account", "m1"},
                  {"qos", "q"},
                  {"constraint", "a|b"},
                  {"cluster", "far"}};
  site.options = {"--exclusive", "--licenses=x:1"};
  site.setup = {"module load gcc"};
  site.variables = {{"A", "it's"}};
  site.at_once = 2;
  auto scheduler = tools.scheduler(slurm(), site);
  auto job = tools.job();
  job.tasks = 7;
  job.after = "17";
  job.resources = {2, 8, 3, 1, 5000000, std::chrono::seconds(5400), {}};
  CHECK(scheduler.submit(job, never) == "1");
  const std::string script = tools.read("job-1.sh");
  for (const std::string& line : Texts{"--clusters=far",
                                       "--partition=gpu",
                                       "--account=m1",
                                       "--qos=q",
                                       "--constraint=a|b",
                                       "--time=1:30:00",
                                       "--nodes=2",
                                       "--ntasks=8",
                                       "--ntasks-per-node=4",
                                       "--cpus-per-task=3",
                                       "--gpus-per-node=1",
                                       "--mem=5M",
                                       "--signal=B:TERM@60",
                                       "--requeue",
                                       "--array=1-7%2",
                                       "--dependency=aftercorr:17 --kill-on-invalid-dep=yes",
                                       "--exclusive",
                                       "--licenses=x:1"}) {
    CHECK_THAT(script, Contains("\n#SBATCH " + line + "\n"));
  }
  CHECK_THAT(script, Contains("#SBATCH --output=" + tools.path("job-1.log-%a").string() + "\n"));
  CHECK(script.starts_with("#!/bin/bash -l\n"));
  CHECK_THAT(script, Contains("\nexport A='it'\\''s'\n") && Contains("\nmodule load gcc\n"));
  CHECK(script.ends_with(" --task \"$SLURM_ARRAY_TASK_ID\"\n"));
}

TEST_CASE("scheduler: jobs of another cluster are asked for, ended and limited there") {
  FakeTools tools;
  for (const char* tool : {"squeue", "sacct", "scancel", "scontrol"})
    tools.answer(tool, "");
  spec::Site site;
  site.request = {{"cluster", "far"}};
  auto scheduler = tools.scheduler(slurm(), site);
  scheduler.poll({"1"}, never);
  scheduler.cancel({"1"}, never);
  scheduler.find("x", never);
  scheduler.accounting({"1"}, never);
  scheduler.largest_array(never);
  const Texts calls = tools.calls();
  REQUIRE(calls.size() == 6);
  for (const std::string& call : calls)
    CHECK_THAT(call, Contains(" --clusters=far "));
}

TEST_CASE("scheduler: a job that went to a cluster that nobody would ask is taken back") {
  const auto requested = GENERATE(as<std::string>{}, "", "near");
  FakeTools tools;
  tools.answer("sbatch", "12;far\n");
  tools.answer("scancel", "");
  spec::Site site;
  if (!requested.empty()) site.request = {{"cluster", requested}};
  auto error = error_of([&] { tools.scheduler(slurm(), site).submit(tools.job(), never); });
  CHECK(std::string(error.what()) ==
        "slurm: sbatch: job 12 is of cluster 'far', which site 'here' does not request: it was "
        "ended there");
  CHECK_THAT(error.hint(), Contains(R"({"cluster": "far"})"));
  REQUIRE(tools.calls().size() == 2);
  CHECK(tools.calls()[1] == "scancel --clusters=far 12");
  tools.refuse("scancel", "scancel: error: 'far' can't be reached now");
  error = error_of([&] { tools.scheduler(slurm(), site).submit(tools.job(), never); });
  CHECK_THAT(error.what(), Contains("could not be ended there") && Contains("can't be reached"));
  CHECK_THROWS_AS(tools.scheduler(slurm(), site).submit(tools.job(), never), launch::Refusal);
}

TEST_CASE("scheduler: a short job is warned in its middle, not as it begins") {
  FakeTools tools;
  tools.answer("sbatch", "1\n");
  auto job = tools.job();
  job.resources.time = std::chrono::seconds(60);
  tools.scheduler(slurm()).submit(job, never);
  CHECK_THAT(tools.read("job-1.sh"), Contains("--signal=B:TERM@30\n"));
}

TEST_CASE("scheduler: variables of the caller that its tools, or the job, would obey do not leak") {
  FakeTools tools;
  tools.tool("sbatch", "env > seen; echo 1");
  base::SystemProcessRunner processes;
  base::Environment environment = tools.environment();
  environment.insert({{"SBATCH_PARTITION", "x"},
                      {"SLURM_NTASKS", "7"},
                      {"SQUEUE_STATES", "PD"},
                      {"LD_PRELOAD", ""},
                      {"SLURM_CONF", "/etc/slurm.conf"},
                      {"LC_ALL", "C"}});
  launch::Scheduler scheduler(slurm(), {}, processes, environment);
  scheduler.submit(tools.job(), never);
  const std::string seen = "\n" + tools.read("seen");
  CHECK_THAT(seen, Contains("\nSLURM_CONF=/etc/slurm.conf\n"));
  CHECK_THAT(seen, Contains("\nLC_ALL=C\n"));
  CHECK_THAT(seen, Contains("\nHOME=/home/ada\n"));
  for (const char* name : {"SBATCH_", "SLURM_NTASKS", "SQUEUE_", "LD_PRELOAD"})
    CHECK_THAT(seen, !Contains(name));
}

TEST_CASE("scheduler: what it refuses for good is told at once in its words, with a hint") {
  FakeTools tools;
  tools.refuse("sbatch",
               "sbatch: error: invalid partition specified: nosuch\n"
               "sbatch: error: Batch job submission failed: Invalid partition name specified");
  auto scheduler = tools.scheduler(slurm());
  const auto error = error_of([&] { scheduler.submit(tools.job(), never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK(std::string(error.what()) ==
        "slurm: sbatch: sbatch: error: invalid partition specified: nosuch; sbatch: error: Batch "
        "job submission failed: Invalid partition name specified");
  CHECK_THAT(error.hint(), Contains("sinfo"));
  CHECK(tools.calls().size() == 1);
}

TEST_CASE("scheduler: where its tools are not, that is told") {
  FakeTools tools;
  auto description = slurm();
  description.submit.command.front() = "no-such-sbatch";
  description.poll.front().command.front() = "no-such-squeue";
  auto scheduler = tools.scheduler(description);
  auto error = error_of([&] { scheduler.submit(tools.job(), never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK_THAT(error.what(), Catch::Matchers::StartsWith("slurm: ") && Contains("no-such-sbatch"));
  CHECK(error.hint() == "on nodes where jobs of slurm are submitted its tools are on PATH");
  CHECK_THROWS_AS(scheduler.submit(tools.job(), never), launch::Refusal);  // there is no job
  error = error_of([&] { scheduler.poll({"1"}, never); });
  CHECK_THAT(error.what(), Catch::Matchers::StartsWith("slurm: ") && Contains("no-such-squeue"));
}

TEST_CASE("scheduler: a tool behind env is looked for itself, and has the variables") {
  FakeTools tools;
  auto description = slurm();
  description.submit.command = {"env", "A=1", "B=x=y", "no-such-flux", "batch"};
  auto scheduler = tools.scheduler(description);
  const auto error = error_of([&] { scheduler.submit(tools.job(), never); });
  CHECK_THAT(error.what(), Contains("slurm: no-such-flux: cannot be started: no such command"));
  CHECK(error.hint() == "on nodes where jobs of slurm are submitted its tools are on PATH");
  tools.tool("there", "echo \"$A $B $1\" > seen; echo no; exit 1");
  description.submit.command[3] = "there";
  auto other = tools.scheduler(description);
  CHECK_THAT(error_of([&] { other.submit(tools.job(), never); }).what(),
             Contains("slurm: there: no"));
  CHECK(tools.read("seen") == "1 x=y batch\n");
}

TEST_CASE("scheduler: a controller that is down is tried again, after looking for the job") {
  FakeTools tools;
  tools.answer("squeue", "");
  tools.tool("sbatch",
             "test -e tried && { echo 5; exit; }; touch tried\n"
             "echo 'sbatch: error: Batch job submission failed: Unable to contact slurm controller "
             "(connect failure)' >&2; exit 1");
  auto scheduler = tools.scheduler(slurm());
  CHECK(scheduler.submit(tools.job(), never) == "5");
  const Texts calls = tools.calls();
  REQUIRE(calls.size() == 4);
  CHECK(calls[1] == "squeue --noheader --me --states=all --format=%i|%k");
  CHECK(calls[2] == calls[1]);
  CHECK(calls[3] == calls[0]);
}

TEST_CASE("scheduler: one that stays down is given up within its patience") {
  FakeTools tools;
  tools.answer("squeue", "");
  tools.refuse("sbatch", "sbatch: error: ... Unable to contact slurm controller (connect failure)");
  auto scheduler = tools.scheduler(impatient());
  const auto error = error_of([&] { scheduler.submit(tools.job(), never); });
  CHECK_THAT(error.what(), Contains("Unable to contact slurm controller"));
  CHECK(error.hint() == "try again when it answers");
}

TEST_CASE("scheduler: a job that was accepted without our hearing it is found, not sent twice") {
  const auto body = GENERATE(as<std::string>{},
                             "exec sleep 60",
                             "echo nonsense",
                             "kill -9 $$",
                             "echo 'Socket timed out on send/recv operation' >&2; exit 1");
  FakeTools tools;
  tools.tool("sbatch", body);
  tools.answer("squeue", "16|other\n15|batch-abcdefgh \n14_[1-3%2]|batch-abcdefgh\n17_2|(null)\n");
  auto description = slurm();
  description.timeout = std::chrono::seconds(1);
  auto scheduler = tools.scheduler(description);
  CHECK(scheduler.submit(tools.job(), never) == "15");
  CHECK(tools.calls().size() == 2);
}

TEST_CASE("scheduler: a search that is not answered is repeated before anything is sent again") {
  FakeTools tools;
  tools.tool("sbatch", "echo 'Socket timed out' >&2; exit 1");
  tools.tool("squeue",
             "test -e tried && { echo '9|batch-abcdefgh'; exit; }; touch tried\n"
             "echo 'slurm_load_jobs error: Socket timed out on send/recv operation' >&2; exit 1");
  auto scheduler = tools.scheduler(slurm());
  CHECK(scheduler.submit(tools.job(), never) == "9");
  CHECK(tools.calls().size() == 3);
}

TEST_CASE("scheduler: with no answer at all nothing is sent again, and the error says so") {
  FakeTools tools;
  tools.tool("sbatch", "echo 'Socket timed out' >&2; exit 1");
  tools.refuse("squeue", "slurm_load_jobs error: Socket timed out on send/recv operation");
  auto scheduler = tools.scheduler(impatient());
  const auto error = error_of([&] { scheduler.submit(tools.job(), never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK_THAT(error.what(), Contains("squeue: slurm_load_jobs error: Socket timed out"));
  CHECK(tools.calls().size() == 2);
}

TEST_CASE("scheduler: it can be interrupted while it waits for a tool, or between tries") {
  const auto body = GENERATE(as<std::string>{}, "exec sleep 60", "echo 'Socket timed out'; exit 1");
  FakeTools tools;
  tools.tool("sbatch", body);
  tools.refuse("squeue", "Socket timed out");
  auto scheduler = tools.scheduler(slurm());
  std::stop_source source;
  const std::jthread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    source.request_stop();
  });
  const auto error = error_of([&] { scheduler.submit(tools.job(), source.get_token()); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
}

TEST_CASE("scheduler: what cannot stand in a directive is refused before anything is submitted") {
  FakeTools tools;
  tools.answer("sbatch", "1\n");
  spec::Site site;
  site.request = {{"partitoin", "gpu"}};
  auto error = error_of([&] { tools.scheduler(slurm(), site).submit(tools.job(), never); });
  CHECK(std::string(error.what()) == "site 'here': slurm has no request 'partitoin'");
  CHECK(error.hint() == "did you mean 'partition'?");
  site.request = {{"partition", "gpu --wrap=x"}};
  error = error_of([&] { tools.scheduler(slurm(), site).submit(tools.job(), never); });
  CHECK(std::string(error.what()) == "slurm: cannot pass 'gpu --wrap=x' (request.partition)");
  CHECK_THAT(error.hint(), Contains("\"options\" are taken as they stand"));
  auto job = tools.job();
  job.log = "/runs/100%/x.log";
  error = error_of([&] { tools.scheduler(slurm()).submit(job, never); });
  CHECK_THAT(error.what(), Contains("(log)"));
  CHECK_THAT(error.hint(), !Contains("options"));
  CHECK(tools.calls().empty());
}

TEST_CASE("scheduler: all tasks are asked for in one question, and the rest of accounting") {
  FakeTools tools;
  tools.answer("squeue", "7_1|RUNNING|None\n7_2|PENDING|JobArrayTaskLimit\n8|COMPLETING|None\n");
  tools.answer("sacct", "7_3|COMPLETED|None\n9|CANCELLED by 1000|None\n");
  auto scheduler = tools.scheduler(slurm());
  const auto views = scheduler.poll({"7_1", "7_2", "7_3", "8", "9", "10"}, never);
  REQUIRE(views.size() == 6);
  CHECK(views.at("7_1") == launch::JobView{JobPhase::running, "RUNNING", ""});
  CHECK(views.at("7_2") == launch::JobView{JobPhase::pending, "PENDING", "JobArrayTaskLimit"});
  CHECK(views.at("7_3") == launch::JobView{JobPhase::done, "COMPLETED", ""});
  CHECK(views.at("8").phase == JobPhase::running);
  CHECK(views.at("9") == launch::JobView{JobPhase::cancelled, "CANCELLED", ""});
  CHECK(views.at("10") == launch::JobView{});
  const Texts calls = tools.calls();
  REQUIRE(calls.size() == 2);
  CHECK_THAT(calls[0], Catch::Matchers::EndsWith(" --jobs=10,7_1,7_2,7_3,8,9"));
  CHECK_THAT(calls[1], Catch::Matchers::EndsWith(" --jobs=10,7_3,9"));
}

TEST_CASE("scheduler: a single id that Slurm does not know is unknown, as one of several is") {
  FakeTools tools;
  tools.refuse("squeue", "slurm_load_jobs error: Invalid job id specified");
  tools.refuse("sacct", "Slurm accounting storage is disabled");
  const auto views = tools.scheduler(slurm()).poll({"99999"}, never);
  CHECK(views.at("99999") == launch::JobView{});
}

TEST_CASE("scheduler: one that cannot be asked tells nothing") {
  FakeTools tools;
  tools.refuse("squeue", "slurm_load_jobs error: Unable to contact slurm controller");
  auto scheduler = tools.scheduler(slurm());
  const auto error = error_of([&] { scheduler.poll({"1"}, never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK(std::string(error.what()) ==
        "slurm: squeue: slurm_load_jobs error: Unable to contact slurm controller");
}

TEST_CASE("scheduler: a tool that fails without a word may mean that it knows none of the ids") {
  auto description = slurm();
  description.poll.front().nothing = "^\\s*$";
  description.timeout = std::chrono::seconds(1);
  FakeTools tools;
  tools.tool("squeue", "exit 1");
  tools.answer("sacct", "7|COMPLETED|None\n");
  CHECK(tools.scheduler(description).poll({"7"}, never).at("7").phase == JobPhase::done);
  tools.refuse("squeue", "slurm_load_jobs error: Unable to contact slurm controller");
  CHECK_THROWS_AS(tools.scheduler(description).poll({"7"}, never), base::Error);
  // One that was ended had no time for a word.
  tools.tool("squeue", "exec sleep 60");
  CHECK_THROWS_AS(tools.scheduler(description).poll({"7"}, never), base::Error);
  tools.tool("squeue", "kill -9 $$");
  CHECK_THROWS_AS(tools.scheduler(description).poll({"7"}, never), base::Error);
}

TEST_CASE("scheduler: an answer that cannot be read to its end is no answer") {
  FakeTools tools;
  auto description = slurm();
  description.poll.front().rows = R"((?m)^(?<id>\d+)\|(?<state>\w+)$|^(?:a+)+!$)";
  tools.answer("squeue", "1|RUNNING\n" + std::string(64, 'a') + "\n2|RUNNING\n");
  auto scheduler = tools.scheduler(description);
  const auto error = error_of([&] { scheduler.poll({"1", "2"}, never); });
  CHECK(error.kind() == base::ErrorKind::launch);
  CHECK_THAT(error.what(), Contains("squeue: its answer takes too many steps to be read"));
}

TEST_CASE("scheduler: who is asked about is who this process runs as, whatever USER says") {
  FakeTools tools;
  tools.answer("squeue", "");
  auto description = slurm();
  description.poll = {description.poll.front()};
  description.poll.front().command = {"squeue", "-u", "{user}"};
  base::SystemProcessRunner processes;
  base::Environment environment = tools.environment();
  environment["USER"] = "somebody-else";
  launch::Scheduler scheduler(description, {}, processes, environment);
  scheduler.poll({"1"}, never);
  CHECK(tools.calls() == Texts{"squeue -u " + base::user_name()});
}

TEST_CASE("scheduler: without its accounting an ended job is unknown, with the reason") {
  FakeTools tools;
  tools.answer("squeue", "");
  tools.refuse("sacct", "sacct: error: Problem talking to the database: Connection refused");
  auto views = tools.scheduler(slurm()).poll({"1"}, never);
  CHECK(views.at("1").phase == JobPhase::unknown);
  CHECK_THAT(views.at("1").reason, Contains("Connection refused"));
  std::filesystem::remove(tools.path("bin/sacct"));
  auto description = slurm();
  description.poll.back().command.front() = "no-such-sacct";
  views = tools.scheduler(description).poll({"1"}, never);
  CHECK(views.at("1") == launch::JobView{});
}

TEST_CASE("scheduler: whatever a tool writes, nothing is done that is not said to be") {
  const auto text = GENERATE(as<std::string>{},
                             "",
                             "COMPLETED\n",
                             "1|COMPLETED",
                             "11|COMPLETED|None\n",
                             "1_1|COMPLETED|None\n",
                             "1|completed|None\n",
                             "1|COMPLETED?|None\n",
                             "1|NEW_STATE|None\n",
                             "x1|COMPLETED|None\n",
                             "<html>504 Gateway Timeout</html>\n",
                             std::string("1|\0COMPLETED|None\n", 18),
                             std::string(300000, '|'));
  FakeTools tools;
  tools.answer("squeue", text);
  tools.answer("sacct", text);
  const auto views = tools.scheduler(slurm()).poll({"1"}, never);
  CHECK(views.at("1").phase == JobPhase::unknown);
}

TEST_CASE("scheduler: ids that are none reach no tool") {
  FakeTools tools;
  tools.answer("squeue", "");
  tools.answer("sacct", "");
  tools.answer("scancel", "");
  auto scheduler = tools.scheduler(slurm());
  const Texts odd{"", "-u root", "--me", "1,2", "1 2", "$(x)", "1\n2"};
  CHECK(scheduler.poll(odd, never).at("--me").phase == JobPhase::unknown);
  scheduler.cancel(odd, never);
  CHECK(scheduler.accounting(odd, never).uses.empty());
  CHECK(tools.calls().empty());
  tools.answer("sbatch", "--me\n-1\n");
  CHECK_THROWS_AS(tools.scheduler(impatient()).submit(tools.job(), never), base::Error);
}

TEST_CASE("scheduler: many ids become few calls") {
  FakeTools tools;
  tools.answer("squeue", "");
  tools.answer("sacct", "");
  Texts ids;
  for (int i = 1; i <= 1000; ++i)
    ids.push_back("123456_" + std::to_string(i));
  auto scheduler = tools.scheduler(slurm());
  CHECK(scheduler.poll(ids, never).size() == 1000);
  CHECK(tools.calls().size() == 2);
  for (int i = 1001; i <= 20000; ++i)
    ids.push_back("123456_" + std::to_string(i));
  tools.answer("scancel", "");
  scheduler.cancel(ids, never);
  CHECK(tools.calls().size() == 2 + 5);
}

TEST_CASE("scheduler: jobs are cancelled together, and those that are gone are no error") {
  FakeTools tools;
  tools.refuse("scancel", "scancel: error: Kill job error on job id 1: Invalid job id specified");
  auto scheduler = tools.scheduler(slurm());
  scheduler.cancel({"1", "2_3"}, never);
  scheduler.cancel({}, never);
  CHECK(tools.calls() == Texts{"scancel 1 2_3"});
  tools.refuse("scancel", "scancel: error: Kill job error on job id 1: Access/permission denied");
  CHECK_THAT(error_of([&] { scheduler.cancel({"1"}, never); }).what(),
             Contains("Access/permission denied"));
  tools.refuse("scancel",
               "scancel: error: Kill job error on job id 1: Unable to contact slurm controller",
               8);
  CHECK(error_of([&] { scheduler.cancel({"1"}, never); }).hint() == "try again when it answers");
}

TEST_CASE("scheduler: accounting takes the largest of a job's steps") {
  FakeTools tools;
  tools.answer("sacct",
               "7_1|COMPLETED|93||120|n[1-2]\n7_1.batch|COMPLETED|93|1234K|110|n1\n"
               "7_1.0|COMPLETED|90|2M|18446744073709551614|n2\n"
               "7_10|CANCELLED by 1000|5|1.5G||n1\n8|COMPLETED|||||\n");
  const auto uses = tools.scheduler(slurm()).accounting({"7_1", "7_10", "9"}, never).uses;
  REQUIRE(uses.size() == 2);
  CHECK(uses.at("7_1") == launch::JobUse{93.0, 2097152U, 120.0, "n[1-2]"});
  CHECK(uses.at("7_10") == launch::JobUse{5.0, 1610612736U, std::nullopt, "n1"});
  tools.refuse("sacct", "Slurm accounting storage is disabled");
  const auto none = tools.scheduler(slurm()).accounting({"7_1"}, never);
  CHECK(none.uses.empty());
  CHECK(none.is_absent);
}

TEST_CASE("scheduler: of a job that still goes on accounting says nothing yet") {
  FakeTools tools;
  tools.answer("sacct",
               "7|RUNNING|2|||n1\n7.batch|RUNNING|2|||n1\n8|COMPLETING|2|||n1\n"
               "8.batch|COMPLETED|2|1M||n1\n9|A_NEW_STATE|2|||n1\n10|FAILED|2|||n1\n");
  const auto uses = tools.scheduler(slurm()).accounting({"7", "8", "9", "10"}, never).uses;
  REQUIRE(uses.size() == 1);
  CHECK(uses.count("10") == 1);
}

TEST_CASE("scheduler: a name for jobs is one that every scheduler takes") {
  CHECK(launch::job_word("supercell-study-20261122-080000-abcdef.1") ==
        "supercell-study-20261122-080000-abcdef-1");
  CHECK(launch::job_word("site-2026-11-22T15:53:17.843Z") == "site-2026-11-22T15-53-17-843Z");
  CHECK(launch::job_word("a/1_b") == "a-1_b");
  CHECK(launch::job_word("3d") == "s3d");
  CHECK(launch::job_word("-x") == "s-x");
  CHECK(launch::job_word("\xc3\xa9t\xc3\xa9") == "s--t--");
  CHECK(launch::job_word("") == "s");
}

TEST_CASE("scheduler: the largest array is what Slurm's indices allow") {
  FakeTools tools;
  tools.answer("scontrol", "MaxArraySize            = 1001\nMaxJobCount = 10000\n");
  CHECK(tools.scheduler(slurm()).largest_array(never) == 1000U);
  tools.answer("scontrol", "MaxArraySize            = 0\n");
  CHECK_FALSE(tools.scheduler(slurm()).largest_array(never));
  tools.refuse("scontrol", "down");
  CHECK_FALSE(tools.scheduler(slurm()).largest_array(never));
}

TEST_CASE("scheduler: every state of Slurm means something, and requeued jobs wait") {
  const auto states = slurm().states;
  for (const char* word :
       {"PENDING",       "RUNNING",       "SUSPENDED",     "COMPLETED",     "COMPLETING",
        "CONFIGURING",   "CANCELLED",     "FAILED",        "TIMEOUT",       "PREEMPTED",
        "REQUEUED",      "REQUEUE_HOLD",  "REQUEUE_FED",   "SPECIAL_EXIT",  "STOPPED",
        "SIGNALING",     "RESV_DEL_HOLD", "STAGE_OUT",     "RESIZING",      "REVOKED",
        "NODE_FAIL",     "BOOT_FAIL",     "DEADLINE",      "OUT_OF_MEMORY", "EXPEDITING",
        "POWER_UP_NODE", "UPDATE_DB",     "LAUNCH_FAILED", "RECONFIG_FAIL"}) {
    INFO(word);
    REQUIRE(states.count(word) == 1);
    CHECK(states.at(word) != JobPhase::unknown);
    CHECK((states.at(word) == JobPhase::done) == (std::string(word) == "COMPLETED"));
  }
  CHECK(states.at("REQUEUED") == JobPhase::pending);
  CHECK(states.at("REQUEUE_HOLD") == JobPhase::pending);
}
