#include "execution/rank/failed_rank.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <csignal>

using namespace sabath;
using namespace sabath::execution;
using sabath::planning::ParallelPrefix;

namespace {

/// As Slurm 22.05 wrote it for a step of three ranks.
constexpr const char* of_srun =
    "of the code's own: task 0: failed\n"
    "srun: error: n3: task 2: Exited with exit code 9\n"
    "srun: Terminating StepId=12.0\n"
    "slurmstepd: error: *** STEP 12.0 ON n1 CANCELLED AT 2026-11-22T10:00:00 ***\n"
    "srun: error: n1: task 0: Terminated\n"
    "srun: error: n2: task 1: Exited with exit code 143\n";
/// As Open MPI 4.1 wrote it.
constexpr const char* of_mpirun =
    "Primary job  terminated normally, but 1 process returned\n"
    "a non-zero exit code. Per user-direction, the job has been aborted.\n"
    "--------------------------------------------------------------------------\n"
    "mpirun detected that one or more processes exited with non-zero status, thus causing\n"
    "the job to be terminated. The first process to do so was:\n\n"
    "  Process name: [[46512,1],1]\n"
    "  Exit code:    7\n";

std::string how(const std::vector<std::string>& starter,
                const std::string& errors,
                const base::ProcessResult& process) {
  const base::TempDir folder(std::filesystem::temp_directory_path());
  base::write_file_atomically(folder.path() / "stderr.log", errors);
  spec::PlannedStage stage;
  stage.argv = {"/bin/sh", "-c", "true"};
  return how_it_ended(stage, ParallelPrefix{starter, 0, false, {}}, process, folder.path());
}

}  // namespace

TEST_CASE("failed rank: the first that its starter tells of") {
  CHECK(failed_rank(of_srun) == "rank 2 on n3 exited with status 9");
  CHECK(failed_rank(of_mpirun) == "rank 1 exited with status 7");
  CHECK(failed_rank("srun: error: n1: tasks 0,2-3: Segmentation fault (core dumped)\n") ==
        "ranks 0,2-3 on n1: Segmentation fault (core dumped)");
  CHECK(failed_rank("mpirun noticed that process rank 1 with PID 0 on node n2 exited on signal 11 "
                    "(Segmentation fault).\n") == "rank 1 on n2: signal 11 (Segmentation fault)");
  CHECK(failed_rank(failed_rank_line("4", "n2", 3 << 8)) == "rank 4 on n2 exited with status 3");
  CHECK(failed_rank(failed_rank_line("4", "n2", SIGSEGV)) == "rank 4 on n2: SIGSEGV");
  CHECK(failed_rank("no word of any: Exited with exit code 9\n").empty());
}

TEST_CASE("failed rank: the status of what started ranks is never said to be their command's") {
  base::ProcessResult process;
  process.exit_code = 143;
  CHECK(how({"/opt/slurm/bin/srun", "-n", "3"}, of_srun, process) ==
        "rank 2 on n3 exited with status 9 (srun exited with status 143)");
  CHECK(how({"srun"}, "", process) == "srun, which started the ranks, exited with status 143");
  CHECK(how({}, "", process) == "the ranks of /bin/sh: exited with status 143");
  CHECK(how({}, "sabath: rank 1 on n1: exited with status 143\n", process) ==
        "rank 1 on n1 exited with status 143");
  process.end = base::ProcessEnd::stopped;
  CHECK(how({"srun"}, of_srun, process) == "srun, which started the ranks, was stopped");
}

TEST_CASE("failed rank: it is told although the ranks had written much before") {
  base::ProcessResult process;
  process.exit_code = 9;
  CHECK(how({"srun"}, std::string(3U << 20U, 'x') + "\n" + of_srun, process) ==
        "rank 2 on n3 exited with status 9 (srun exited with status 9)");
}
