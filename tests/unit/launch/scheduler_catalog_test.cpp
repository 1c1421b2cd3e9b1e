// Every scheduler that ships, against stand-ins of its tools, whose answers are as in their
// manuals: docs/adding/scheduler.md says what a new one needs here.
#include "fake_tools.hpp"

#include <sabath/base/error.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace sabath;
using Catch::Matchers::Contains;
using launch::JobPhase;
using test::FakeTools;
using Texts = std::vector<std::string>;
using Phases = std::map<std::string, JobPhase>;

namespace {

const std::stop_token never;

/// What a scheduler's tools say, and what must come of it.
struct Case {
  std::string name{};
  std::string submit_tool{};
  std::string single_answer{};  ///< of the tool for one job
  std::string single{};         ///< its id
  std::string array_answer{};
  std::string array{};
  std::string third_task{};
  Texts script{};                                ///< parts of an array's script, or submit file
  std::map<std::string, std::string> request{};  ///< of a site where all can be asked for
  int nodes = 2;                                 ///< of such a job
  std::map<std::string, std::string> answers{};  ///< of the tools that are asked
  Phases phases{};
  std::string refusal{};  ///< of the submit tool for a queue that there is not
  std::string cancelled_by{};
};

Case slurm() {
  Case c;
  c.name = "slurm";
  c.submit_tool = "sbatch";
  c.single_answer = "2\n";
  c.single = "2";
  c.array_answer = "14\n";
  c.array = "14";
  c.third_task = "14_3";
  c.script = {"#SBATCH --partition=gpu\n", "#SBATCH --array=1-5%2\n", "\"$SLURM_ARRAY_TASK_ID\""};
  c.answers = {{"squeue", "14_3|RUNNING|None\n14_4|PENDING|JobArrayTaskLimit\n"},
               {"sacct",
                "2|COMPLETED|None\n14_1|OUT_OF_MEMORY|None\n14_2|TIMEOUT|None\n"
                "14_5|CANCELLED by 0|None\n15|NODE_FAIL|None\n16|FAILED|None\n"
                "18|PREEMPTED|None\n"}};
  c.phases = {{"14_3", JobPhase::running},
              {"14_4", JobPhase::pending},
              {"2", JobPhase::done},
              {"14_1", JobPhase::out_of_memory},
              {"14_2", JobPhase::timed_out},
              {"14_5", JobPhase::cancelled},
              {"15", JobPhase::node_failed},
              {"16", JobPhase::failed},
              {"17", JobPhase::unknown},
              {"18", JobPhase::preempted}};
  c.refusal = "sbatch: error: Batch job submission failed: Invalid partition name specified";
  c.cancelled_by = "scancel 2 14_3";
  return c;
}

const std::string pbs_answer =
    "Job Id: 1234.pbs01\n    Job_Name = batch-abcdefgh\n    Job_Owner = ada@login\n"
    "    resources_used.cput = 00:00:01\n    resources_used.mem = 2048kb\n"
    "    resources_used.walltime = 00:01:05\n    job_state = F\n    queue = workq\n"
    "    exec_host = n1/0*4+n2/0*4\n    comment = Job run at Sun Nov 22 at 08:00 on (n1:ncpus=4) "
    "and finished\n    Exit_status = 0\n    project = _pbs_project_default\n\n"
    "Job Id: 1235[3].pbs01\n    Job_Name = batch-abcdefgh\n    job_state = R\n    queue = workq\n"
    "    array_index = 3\n\n"
    "Job Id: 1235[4].pbs01\n    Job_Name = batch-abcdefgh\n    job_state = Q\n    comment = Not "
    "Running: Insufficient amount of resource: ncpus\n\n"
    "Job Id: 1235[1].pbs01\n    job_state = F\n    Exit_status = 271\n\n"
    "Job Id: 1235[2].pbs01\n    job_state = F\n    Exit_status = -29\n\n"
    "Job Id: 1235[5].pbs01\n    job_state = X\n\n"
    "Job Id: 1236.pbs01\n    job_state = F\n    Exit_status = 3\n\n"
    // Tasks that have ended, of an array that goes on.
    "Job Id: 1238[1].pbs01\n    job_state = X\n    Exit_status = 0\n\n"
    "Job Id: 1238[2].pbs01\n    job_state = X\n    Exit_status = 1\n\n"
    "Job Id: 1238[3].pbs01\n    job_state = X\n    Exit_status = 265\n\n"
    "Job Id: 1238[4].pbs01\n    job_state = X\n    Exit_status = 271\n\n"
    "Job Id: 1238[5].pbs01\n    job_state = X\n    Exit_status = -29\n\n"
    "Job Id: 1238[6].pbs01\n    job_state = X\n    Exit_status = -27\n\n"
    "Job Id: 1238[7].pbs01\n    job_state = X\n    Exit_status = -26\n\n"
    "Job Id: 1238[8].pbs01\n    job_state = X\n\n"
    "Job Id: 1238[9].pbs01\n    job_state = R\n\n";

Case pbs() {
  Case c;
  c.name = "pbs";
  c.submit_tool = "qsub";
  c.single_answer = "1234.pbs01\n";
  c.single = "1234.pbs01";
  c.array_answer = "1235[].pbs01\n";
  c.array = "1235[].pbs01";
  c.third_task = "1235[3].pbs01";
  c.script = {"#PBS -q gpu\n",
              "#PBS -J 1-5%2\n",
              "#PBS -l select=2:ncpus=12:mpiprocs=4:ngpus=1:mem=5mb\n",
              "#PBS -l place=scatter\n",
              "#PBS -l walltime=1:30:00\n",
              ".log-^array_index^\n",
              "exec timeout --signal=TERM 5340 /opt/bin/sabath",
              "\"$PBS_ARRAY_INDEX\""};
  c.answers = {{"qstat", pbs_answer}};
  c.phases = {{"1234.pbs01", JobPhase::done},
              {"1235[3].pbs01", JobPhase::running},
              {"1235[4].pbs01", JobPhase::pending},
              {"1235[1].pbs01", JobPhase::cancelled},
              {"1235[2].pbs01", JobPhase::timed_out},
              {"1235[5].pbs01", JobPhase::unknown},
              {"1236.pbs01", JobPhase::failed},
              {"1237.pbs01", JobPhase::unknown},
              {"1238[1].pbs01", JobPhase::done},
              {"1238[2].pbs01", JobPhase::failed},
              {"1238[3].pbs01", JobPhase::failed},
              {"1238[4].pbs01", JobPhase::cancelled},
              {"1238[5].pbs01", JobPhase::timed_out},
              {"1238[6].pbs01", JobPhase::out_of_memory},
              {"1238[7].pbs01", JobPhase::out_of_memory},
              {"1238[8].pbs01", JobPhase::unknown},
              {"1238[9].pbs01", JobPhase::running}};
  c.refusal = "qsub: Unknown queue";
  c.cancelled_by = "qdel 1234.pbs01 1235[3].pbs01";
  return c;
}

Case torque() {
  Case c = pbs();
  c.name = "torque";
  c.script = {"#PBS -q gpu\n",
              "#PBS -t 1-5%2\n",
              "#PBS -l nodes=2:ppn=12:gpus=1\n",
              "#PBS -l mem=10mb\n",
              "#PBS -l walltime=1:30:00\n",
              "/job-1.log\n",
              "\"$PBS_ARRAYID\""};
  c.answers = {{"qstat",
                "Job Id: 1234.pbs01\n    job_state = C\n    exit_status = 0\n\n"
                "Job Id: 1235[3].pbs01\n    job_state = R\n\n"
                "Job Id: 1235[2].pbs01\n    job_state = C\n    exit_status = -11\n\n"
                "Job Id: 1235[1].pbs01\n    job_state = C\n    exit_status = 1\n\n"}};
  c.phases = {{"1234.pbs01", JobPhase::done},
              {"1235[3].pbs01", JobPhase::running},
              {"1235[2].pbs01", JobPhase::timed_out},
              {"1235[1].pbs01", JobPhase::failed},
              {"1235[4].pbs01", JobPhase::unknown}};
  c.refusal = "qsub: submit error (Unknown queue MSG=cannot locate queue)";
  return c;
}

Case lsf() {
  const std::string end = std::string(78, '-') + "\n\n";
  Case c;
  c.name = "lsf";
  c.submit_tool = "bsub";
  c.single_answer = "Job <930> is submitted to queue <normal>.\n";
  c.single = "930";
  c.array_answer = "Job <931> is submitted to default queue <normal>.\n";
  c.array = "931";
  c.third_task = "931[3]";
  c.script = {"#BSUB -q gpu\n",
              "#BSUB -J \"batch-abcdefgh[1-5]%2\"\n",
              "#BSUB -W 1:30\n",
              "#BSUB -n 24\n",
              "#BSUB -R \"span[ptile=12]\"\n",
              "#BSUB -wa TERM -wt 1\n",
              ".log-%I\n",
              "\"$LSB_JOBINDEX\""};
  c.answers = {
      {"bjobs",
       "930|0|DONE|-|-\n931|3|RUN|-|-\n931|4|PEND|-|Job array has reached its running "
       "element limit;\n931|1|EXIT|TERM_RUNLIMIT: job killed after reaching LSF run time "
       "limit|-\n931|2|EXIT|TERM_MEMLIMIT: job killed after reaching LSF memory usage "
       "limit|-\n931|5|EXIT|TERM_OWNER: job killed by owner|-\n932|0|EXIT|-|-\n"
       "934|0|EXIT|TERM_PREEMPT: job killed after preemption|-\n"},
      {"bacct",
       "\nAccounting information about jobs that are:\n  - submitted by all users.\n" + end +
           "Job <935>, Job Name <batch-abcdefgh>, User <ada>, Project <default>, Status "
           "<DONE>, Queue <normal>, Command <exec /opt/bin/sabath>\n"
           "Thu Apr 18 22:32:01: Submitted from host <login>, CWD <$HOME>;\n"
           "Thu Apr 18 23:34:12: Completed <done>.\n\n"
           "Accounting information about this job:\n     CPU_T     WAIT     TURNAROUND   "
           "STATUS     HOG_FACTOR    MEM    SWAP\n      0.02        0              0     "
           "done         0.0000     123M      3.2G\n" +
           end +
           "Job <936[2]>, Job Name <batch-abcdefgh[2]>, User <ada>, Project <default>, "
           "Status <EXIT>, Queue <normal>, Command <exec /opt/bin/sabath>\n"
           "Thu Apr 18 22:32:01:  [2] dispatched to <n1>;\n"
           "Thu Apr 18 23:34:12: Completed <exit>.\n" +
           end +
           "Job <936[3]>, Job Name <batch-abcdefgh[3]>, User <ada>, Project <default>, "
           "Status <EXIT>, Queue <normal>, Command <exec /opt/bin/sabath>\n"
           "Thu Apr 18 23:34:12: Completed <exit>; TERM_RUNLIMIT: job killed after "
           "reaching LSF run time limit.\n" +
           end}};
  c.phases = {{"935", JobPhase::done},
              {"936[2]", JobPhase::failed},
              {"936[3]", JobPhase::timed_out},
              {"930", JobPhase::done},
              {"931[3]", JobPhase::running},
              {"931[4]", JobPhase::pending},
              {"931[1]", JobPhase::timed_out},
              {"931[2]", JobPhase::out_of_memory},
              {"931[5]", JobPhase::cancelled},
              {"932", JobPhase::failed},
              {"933", JobPhase::unknown},
              {"934", JobPhase::preempted}};
  c.refusal = "nosuch: No such queue. Job not submitted.";
  c.cancelled_by = "bkill 930 931[3]";
  return c;
}

std::string qacct_stanza(const std::string& job,
                         const std::string& task,
                         const std::string& failed,
                         const std::string& status,
                         const std::string& deleted_by = "") {
  return "==============================================================\n"
         "qname        all.q               \nhostname     n1                  \n"
         "jobname      batch-abcdefgh      \njobnumber    " +
         job + "                 \ntaskid       " + task +
         "           \naccount      sge                 \n"
         "failed       " +
         failed + "    \n" + (deleted_by.empty() ? "" : "deleted_by   " + deleted_by + "\n") +
         "exit_status  " + status +
         "                   \nru_wallclock 12s\nru_maxrss    4.000KB\nmaxvmem      1.000M\n";
}

Case sge() {
  Case c;
  c.name = "sge";
  c.submit_tool = "qsub";
  c.single_answer = "7\n";
  c.single = "7";
  c.array_answer = "8.1-5:1\n";
  c.array = "8";
  c.third_task = "8.3";
  c.request = {{"pe", "mpi"}, {"gpu", "gpu"}, {"memory", "h_vmem"}};
  c.nodes = 1;
  c.script = {"#$ -q gpu\n",
              "#$ -pe mpi 24\n",
              "#$ -l gpu=1\n",
              "#$ -l h_vmem=1M\n",
              "#$ -t 1-5\n",
              "#$ -tc 2\n",
              "#$ -l h_rt=5400,s_rt=5340\n",
              ".log-$TASK_ID\n",
              "(trap '' USR1 USR2; exec /opt/bin/sabath exec",
              "\"$SGE_TASK_ID\""};
  c.answers = {
      {"qstat",
       "job-ID  prior   name       user         state submit/start at     queue                    "
       "      slots ja-task-ID \n"
       "-------------------------------------------------------------------------------------\n"
       "      8 0.55500 batch-abcd ada          r     11/22/2026 08:00:00 all.q@n1                 "
       "          1 3\n"
       "      8 0.55500 batch-abcd ada          qw    11/22/2026 08:00:00                          "
       "          1 4\n"
       "      9 0.00000 batch-abcd ada          Eqw   11/22/2026 08:00:00                          "
       "          1        \n"},
      {"qacct",
       qacct_stanza("7", "undefined", "0", "0") + qacct_stanza("8", "1", "0", "3") +
           qacct_stanza("8", "2", "37  : qmaster enforced h_rt limit", "137") +
           qacct_stanza("8", "5", "26  : opening input/output file", "0") +
           // Univa's and Altair's say who has deleted it.
           qacct_stanza("11", "undefined", "0", "0", "NONE") +
           qacct_stanza("12", "undefined", "0", "3", "NONE") +
           qacct_stanza("13", "undefined", "100 : assumedly after job", "137", "ada@login") +
           qacct_stanza("14", "undefined", "37  : qmaster enforced h_rt", "137", "NONE")}};
  c.phases = {{"8.3", JobPhase::running},
              {"8.4", JobPhase::pending},
              {"9", JobPhase::failed},
              {"7", JobPhase::done},
              {"8.1", JobPhase::failed},
              {"8.2", JobPhase::timed_out},
              {"8.5", JobPhase::unknown},
              {"11", JobPhase::done},
              {"12", JobPhase::failed},
              {"13", JobPhase::cancelled},
              {"14", JobPhase::timed_out},
              {"10", JobPhase::unknown}};
  c.refusal = "Unable to run job: Job was rejected because job requests unknown queue \"gpu\".";
  c.cancelled_by = "qdel 7 8.3";
  return c;
}

Case htcondor() {
  Case c;
  c.name = "htcondor";
  c.submit_tool = "condor_submit";
  c.single_answer = "50.0 - 50.0\n";
  c.single = "50";
  c.array_answer = "51.0 - 51.4\n";
  c.array = "51";
  c.third_task = "51.2";
  c.nodes = 1;
  c.script = {"universe = vanilla\n",
              "My.SabathBatch = \"batch-abcdefgh\"\n",
              "request_cpus = 24\n",
              "request_memory = 5\n",
              ".log-$INT(sabath_task)\n",
              "max_materialize = 2\n",
              "periodic_remove = JobStatus == 5 && member(HoldReasonCode, {6, 7, ",
              "--an-option\nqueue 5\n"};
  c.answers = {{"condor_q",
                "51 2 2 undefined undefined\n51 3 1 undefined undefined\n51 1 5 34 Job has gone "
                "over memory limit of 128 megabytes.\n51 6 5 12 Transfer output files failure\n"
                "51 7 5 1 via condor_hold (by user ada)\n51 8 5 6 Failed to execute\n"
                "51 9 5 26 The system macro SYSTEM_PERIODIC_HOLD evaluated to TRUE\n"
                // Of the factories: what has not been materialized yet.
                "51 10 unmaterialized undefined\n53 2 removed via condor_rm (by user ada)\n"},
               {"condor_history",
                "50 0 4 0 undefined\n51 0 4 3 undefined\n51 4 3 undefined via condor_rm (by user "
                "ada)\n"
                // Held, then removed by what the submit file says of such a job.
                "54 0 3 13 Transfer input files failure\n54 1 3 47 Job execution time exceeded\n"}};
  c.phases = {{"51.2", JobPhase::running},
              {"51.3", JobPhase::pending},
              {"51.1", JobPhase::out_of_memory},
              {"50", JobPhase::done},
              {"51.0", JobPhase::failed},
              {"51.4", JobPhase::cancelled},
              {"51.6", JobPhase::pending},
              {"51.7", JobPhase::pending},
              {"51.8", JobPhase::failed},
              {"51.9", JobPhase::pending},
              {"51.10", JobPhase::pending},
              {"51.51", JobPhase::pending},
              {"52", JobPhase::unknown},
              {"53.1", JobPhase::unknown},
              {"53.2", JobPhase::cancelled},
              {"54.0", JobPhase::failed},
              {"54.1", JobPhase::timed_out}};
  c.refusal = "ERROR: Failed to create cluster";
  c.cancelled_by = "condor_rm 50 51.2";
  return c;
}

Case osg() {
  Case c = htcondor();
  c.name = "osg";
  c.script = {"universe = container\n",
              "should_transfer_files = YES\n",
              "transfer_input_files = /opt/bin/sabath,/runs/x\n",
              "transfer_output_files = x\n",
              "queue 5\n"};
  return c;
}

Case flux() {
  Case c;
  c.name = "flux";
  c.submit_tool = "flux";
  c.single_answer = "f2oBnTHsqT\n";
  c.single = "f2oBnTHsqT";
  c.script = {"# flux: --queue=gpu\n",
              "# flux: --time-limit=5400s\n",
              "# flux: --nslots=2\n",
              "# flux: --cores-per-slot=12\n",
              "# flux: --gpus-per-slot=1\n",
              "# flux: --dependency=afterok:f1\n",
              "--task \"1\"\n"};
  c.answers = {{"flux",
                "f2oBnTHsqT|COMPLETED|\nf2|RUNNING|\nf3|PENDING|\nf4|FAILED|exit status "
                "1\nf5|TIMEOUT|\nf6|CANCELED|\n"}};
  c.phases = {{"f2oBnTHsqT", JobPhase::done},
              {"f2", JobPhase::running},
              {"f3", JobPhase::pending},
              {"f4", JobPhase::failed},
              {"f5", JobPhase::timed_out},
              {"f6", JobPhase::cancelled},
              {"f7", JobPhase::unknown}};
  c.refusal = "flux-batch: ERROR: [Errno 22] Invalid queue 'gpu'";
  c.cancelled_by = "flux cancel f2oBnTHsqT";
  return c;
}

Case oar() {
  Case c;
  c.name = "oar";
  c.submit_tool = "oarsub";
  c.single_answer = "[ADMISSION RULE] Set default walltime to 7200.\nOAR_JOB_ID=42\n";
  c.single = "42";
  c.request = {{"gpu", "gpu"}, {"memory", "memnode"}};
  c.script = {"#OAR -q gpu\n",
              "#OAR -l /nodes=2/gpu=1/core=12,walltime=1:30:00\n",
              "#OAR -p memnode >= 5\n",
              "#OAR --checkpoint 60\n",
              "#OAR --signal 15\n",
              "#OAR -a f1\n"};
  c.answers = {{"oarstat",
                "Job_Id: 42\n    job_array_id = 42\n    name = batch-abcdefgh\n    state = "
                "Terminated\n    exit_code = 0 (0,0,0)\n\nJob_Id: 43\n    state = Running\n\n"
                "Job_Id: 44\n    state = Waiting\n\nJob_Id: 45\n    state = Terminated\n    "
                "exit_code = 256 (1,0,0)\n\nJob_Id: 46\n    state = Error\n"}};
  c.phases = {{"42", JobPhase::done},
              {"43", JobPhase::running},
              {"44", JobPhase::pending},
              {"45", JobPhase::failed},
              {"46", JobPhase::failed},
              {"47", JobPhase::unknown}};
  c.refusal = "[ERROR] queue gpu does not exist";
  c.cancelled_by = "oardel 42";
  return c;
}

std::vector<Case> cases() {
  return {slurm(), pbs(), torque(), lsf(), sge(), htcondor(), osg(), flux(), oar()};
}

/// A job that asks for everything that can be.
launch::BatchJob greedy_job(const FakeTools& tools, const Case& c, bool in_array) {
  launch::BatchJob job = tools.job();
  job.tasks = in_array ? 5 : 0;
  job.resources = {c.nodes, 8, 3, 1, 5000000, std::chrono::seconds(5400), {}};
  const auto description = test::shipped_scheduler(c.name);
  if (description.has_dependencies()) job.after = "f1";
  job.inputs = {"/opt/bin/sabath", "/runs/x"};
  job.outputs = {"x"};
  return job;
}

spec::Site greedy_site(const Case& c) {
  spec::Site site;
  site.at_once = 2;
  site.options = {"--an-option"};
  const auto known = test::shipped_scheduler(c.name).requests();
  if (std::find(known.begin(), known.end(), "partition") != known.end()) {
    site.request = {{"partition", "gpu"}};
  }
  site.request.insert(c.request.begin(), c.request.end());
  if (c.name == "flux") site.implied = {"memory"};
  return site;
}

}  // namespace

TEST_CASE("shipped schedulers: each has its case here") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(
           std::filesystem::path(SABATH_SOURCE_DIR) / "catalog" / "schedulers"))
    names.push_back(entry.path().stem().string());
  std::vector<std::string> tested;
  for (const Case& c : cases())
    tested.push_back(c.name);
  std::sort(names.begin(), names.end());
  std::sort(tested.begin(), tested.end());
  CHECK(names == tested);
}

TEST_CASE("shipped schedulers: a single job is submitted, and its id is read") {
  for (const Case& c : cases()) {
    INFO(c.name);
    FakeTools tools;
    tools.answer(c.submit_tool, c.single_answer);
    CHECK(tools.scheduler(test::shipped_scheduler(c.name)).submit(tools.job(), never) == c.single);
    const std::string script = tools.read("job-1.sh");
    CHECK(script.starts_with("#!/bin/bash\n# supercell, written by sabath"));
    CHECK_THAT(script, Contains("/opt/bin/sabath exec --batch '/runs/it'\\''s' --task \"1\""));
    const std::string all = script + tools.read("job-1.submit");
    CHECK_THAT(all, Contains("batch-abcdefgh"));
    CHECK_THAT(all, Contains(tools.path("job-1.log-1").string()));
    base::SystemProcessRunner processes;
    base::Command check;
    check.argv = {"bash", "-n", tools.path("job-1.sh").string()};
    CHECK(processes.run(check).ok());
  }
}

TEST_CASE("shipped schedulers: an array and all its resources become options") {
  for (const Case& c : cases()) {
    INFO(c.name);
    FakeTools tools;
    const bool in_array = !c.array.empty();
    CHECK(test::shipped_scheduler(c.name).has_arrays() == in_array);
    tools.answer(c.submit_tool, in_array ? c.array_answer : c.single_answer);
    auto scheduler = tools.scheduler(test::shipped_scheduler(c.name), greedy_site(c));
    const std::string id = scheduler.submit(greedy_job(tools, c, in_array), never);
    CHECK(id == (in_array ? c.array : c.single));
    if (in_array) CHECK(scheduler.task_id(id, 3) == c.third_task);
    const std::string all = tools.read("job-1.sh") + tools.read("job-1.submit");
    for (const std::string& part : c.script)
      CHECK_THAT(all, Contains(part));
    CHECK_THAT(all, Contains("--an-option\n"));
  }
}

TEST_CASE("shipped schedulers: states are told as they are, and what is not told is unknown") {
  for (const Case& c : cases()) {
    FakeTools tools;
    for (const auto& [tool, text] : c.answers)
      tools.answer(tool, text);
    Texts ids;
    for (const auto& [id, phase] : c.phases)
      ids.push_back(id);
    const auto views = tools.scheduler(test::shipped_scheduler(c.name)).poll(ids, never);
    for (const auto& [id, phase] : c.phases) {
      INFO(c.name << " " << id << " " << views.at(id).state);
      CHECK(to_string(views.at(id).phase) == to_string(phase));
    }
  }
}

TEST_CASE("shipped schedulers: silence and nonsense are never success") {
  const auto text = GENERATE(as<std::string>{}, "", "0\n", "DONE COMPLETED Terminated\n");
  for (const Case& c : cases()) {
    FakeTools tools;
    for (const auto& [tool, answer] : c.answers)
      tools.answer(tool, text);
    const auto views = tools.scheduler(test::shipped_scheduler(c.name)).poll({c.single}, never);
    INFO(c.name);
    CHECK(views.at(c.single).phase == JobPhase::unknown);
  }
}

TEST_CASE("shipped schedulers: a refusal is told in its own words, and not repeated") {
  for (const Case& c : cases()) {
    INFO(c.name);
    FakeTools tools;
    tools.refuse(c.submit_tool, c.refusal);
    auto scheduler = tools.scheduler(test::shipped_scheduler(c.name));
    CHECK_THROWS_WITH(scheduler.submit(tools.job(), never), Contains(c.refusal));
    CHECK(tools.calls().size() == 1);
  }
}

TEST_CASE("shipped schedulers: jobs and tasks are cancelled in one call") {
  for (const Case& c : cases()) {
    INFO(c.name);
    FakeTools tools;
    const auto description = test::shipped_scheduler(c.name);
    tools.answer(description.cancel.front(), "");
    Texts ids{c.single};
    if (!c.third_task.empty()) ids.push_back(c.third_task);
    tools.scheduler(description).cancel(ids, never);
    CHECK(tools.calls() == Texts{c.cancelled_by});
  }
}

TEST_CASE("shipped schedulers: accounting is read where there is one") {
  const std::map<std::string, std::pair<std::string, std::string>> answers{
      {"pbs", {"qstat", pbs_answer}},
      {"lsf", {"bjobs", "930|0|DONE|65 second(s)|2 Mbytes|n1\n"}},
      {"sge", {"qacct", qacct_stanza("7", "undefined", "0", "0")}},
      {"htcondor", {"condor_history", "50 0 65.0 2048 slot1@n1\n"}},
      {"flux", {"flux", "f2oBnTHsqT|COMPLETED|65.25|n1\n"}}};
  for (const Case& c : cases()) {
    if (answers.count(c.name) == 0) continue;
    INFO(c.name);
    const auto& [tool, text] = answers.at(c.name);
    FakeTools tools;
    tools.answer(tool, text);
    auto scheduler = tools.scheduler(test::shipped_scheduler(c.name));
    const auto uses = scheduler.accounting({c.single}, never).uses;
    REQUIRE(uses.size() == 1);
    const double elapsed = uses.at(c.single).elapsed_s.value_or(-1);
    CHECK((elapsed == 65 || elapsed == 65.25 || (c.name == "sge" && elapsed == 12)));
    const auto rss = uses.at(c.single).max_rss_bytes.value_or(0);
    CHECK((rss == 2097152 || (c.name == "sge" && rss == 4096) || c.name == "flux"));
    CHECK_THAT(uses.at(c.single).nodes, Contains("n1"));
  }
}
