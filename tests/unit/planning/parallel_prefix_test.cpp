#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/planning/parallel_prefix.hpp>
#include <sabath/spec/scheduler.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Words = std::vector<std::string>;

namespace {

/// A PATH with just these programs.
class Tools {
 public:
  explicit Tools(const Words& programs) {
    for (const std::string& program : programs) {
      base::write_file_atomically(folder_ / program, "#!/bin/sh\n");
      std::filesystem::permissions(folder_ / program, std::filesystem::perms::owner_all);
    }
  }
  base::Environment environment() const { return {{"PATH", folder_.path().string()}}; }

 private:
  test::TempHome folder_;
};

spec::Resources resources(int nodes, int tasks, int cpus = 0) {
  spec::Resources wanted;
  wanted.nodes = nodes;
  wanted.tasks = tasks;
  wanted.cpus = cpus;
  return wanted;
}

}  // namespace

TEST_CASE("prefix: auto is srun in a job of Slurm's, else mpirun, else mpiexec") {
  const Tools all({"srun", "mpirun", "mpiexec"});
  base::Environment environment = all.environment();
  CHECK(planning::prefix_for("auto", "", resources(1, 4), false, environment).argv ==
        Words{"mpirun", "-n", "4"});
  environment["SLURM_JOB_ID"] = "7";
  CHECK(planning::prefix_for("auto", "", resources(2, 4, 3), false, environment).argv ==
        Words{"srun", "--nodes=2", "--ntasks=4", "--kill-on-bad-exit=1", "--cpus-per-task=3"});
  CHECK(planning::prefix_for("auto", "", resources(1, 1), true, environment).argv ==
        Words{"srun", "--nodes=1", "--ntasks=1", "--kill-on-bad-exit=1", "--exact", "--mem=0"});
  const Tools one({"mpiexec"});
  CHECK(planning::prefix_for("auto", "", resources(1, 2), false, one.environment()).argv ==
        Words{"mpiexec", "-n", "2"});
  const auto error = test::error_of(
      [&] { planning::prefix_for("auto", "", resources(1, 2), false, Tools({}).environment()); });
  CHECK(error.kind() == base::ErrorKind::launch);
}

TEST_CASE(
    "prefix: ranks of mpirun stay within the cores of their run, unless the user binds them") {
  const Tools all({"srun", "mpirun"});
  base::Environment environment = all.environment();
  const auto defaults = [&](const std::string& wanted) {
    return planning::prefix_for(wanted, "", resources(1, 2), false, environment).defaults;
  };
  CHECK(defaults("mpirun") == base::Environment{{"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                                {"PRTE_MCA_hwloc_default_binding_policy", "none"}});
  CHECK(defaults("srun").empty());
  environment["OMPI_MCA_hwloc_base_binding_policy"] = "core";
  CHECK(defaults("mpirun") == base::Environment{{"PRTE_MCA_hwloc_default_binding_policy", "none"}});
}

TEST_CASE("prefix: a site says how, and a recipe's word goes before it") {
  const Tools all({"srun", "mpirun", "aprun"});
  const auto argv = [&](const std::string& wanted, const std::string& site, int nodes = 1) {
    return planning::prefix_for(wanted, site, resources(nodes, 4), false, all.environment()).argv;
  };
  CHECK(argv("auto", "srun --mpi=pmix") ==
        Words{"srun", "--nodes=1", "--ntasks=4", "--kill-on-bad-exit=1", "--mpi=pmix"});
  CHECK(argv("auto", "aprun -n {tasks} -N {tasks_per_node}", 2) ==
        Words{"aprun", "-n", "4", "-N", "2"});
  CHECK(argv("mpirun", "srun --mpi=pmix") == Words{"mpirun", "-n", "4"});
  CHECK(argv("mpirun", "mpirun --bind-to none", 2) ==
        Words{"mpirun", "-n", "4", "-N", "2", "--bind-to", "none"});
  const auto error = test::error_of([&] { argv("mpiexec", ""); });
  CHECK(test::contains(error.what(), "'mpiexec' starts the ranks, and was not found"));
}

TEST_CASE("prefix: ranks at a Flux get GPUs where the stage has some") {
  const Tools all({"flux", "mpirun"});
  const std::string file = SABATH_SOURCE_DIR "/catalog/schedulers/flux.json";
  const std::string shipped = spec::parse_scheduler(base::read_file(file), file).prefix;
  const auto options = [&](int nodes, int tasks, std::optional<int> gpus) {
    spec::Resources wanted = resources(nodes, tasks, 3);
    wanted.gpus = gpus;
    Words argv = planning::prefix_for("auto", shipped, wanted, false, all.environment()).argv;
    REQUIRE(argv.size() >= 5);
    CHECK(Words(argv.begin(), argv.begin() + 5) == Words{"flux",
                                                         "run",
                                                         "--nodes=" + std::to_string(nodes),
                                                         "--ntasks=" + std::to_string(tasks),
                                                         "--cores-per-task=3"});
    argv.erase(argv.begin(), argv.begin() + 5);
    return argv;
  };
  CHECK(options(1, 2, 2) == Words{"--gpus-per-task=1"});
  CHECK(options(2, 4, 4) == Words{"--gpus-per-task=2"});
  CHECK(options(1, 1, 4) == Words{"--gpus-per-task=4"});
  CHECK(options(1, 2, 1) == Words{"--setopt=gpu-affinity=off"});
  CHECK(options(1, 2, 3) == Words{"--setopt=gpu-affinity=off"});
  CHECK(options(1, 2, 0).empty());
  CHECK(options(1, 2, std::nullopt).empty());
}

TEST_CASE("prefix: a word of a site with what there is none of is left out") {
  const Tools all({"mpirun"});
  const auto argv = [&](const std::string& site) {
    return planning::prefix_for("auto", site, resources(1, 2), false, all.environment()).argv;
  };
  CHECK(argv("mpirun --gpus={gpus_per_task} -np {tasks}") == Words{"mpirun", "-np", "2"});
  // It was one of the site's placeholders: mpirun gets no options of its own.
  CHECK(argv("mpirun --gpus={gpus_per_task}") == Words{"mpirun"});
}

TEST_CASE("prefix: torchrun's way is one process a node") {
  const Tools all({"srun", "mpirun"});
  base::Environment environment = all.environment();
  const auto here = planning::prefix_for("torchrun", "", resources(1, 4), false, environment);
  CHECK(here.argv.empty());
  CHECK(here.ranks_a_node == 4);
  environment["SLURM_JOB_ID"] = "7";
  const auto there = planning::prefix_for("torchrun", "", resources(2, 8, 2), false, environment);
  CHECK(there.ranks_a_node == 4);
  CHECK(there.argv ==
        Words{"srun", "--nodes=2", "--ntasks=2", "--kill-on-bad-exit=1", "--cpus-per-task=8"});
}

TEST_CASE("prefix: what is not srun brings no variables to other nodes") {
  const Tools all({"srun", "mpirun"});
  const auto loses = [&](const char* wanted, int nodes) {
    return planning::prefix_for(wanted, "", resources(nodes, 4), false, all.environment())
        .loses_variables;
  };
  CHECK(loses("mpirun", 2));
  CHECK_FALSE(loses("mpirun", 1));
  CHECK_FALSE(loses("srun", 2));
}
