// A cluster with slurmdbd and MariaDB.

#include "jobs.hpp"

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;

TEST_CASE("slurm: sacct tells real states, where there is accounting") {
  const auto cluster = SlurmCluster::shared(true);
  const Jobs jobs{*cluster};
  const std::string good = jobs.submit("sleep 1.5", {"--comment=run=x"});
  const std::string bad = jobs.submit("exit 3");
  const std::string endless = jobs.submit("sleep 100");
  REQUIRE(jobs.reaches(endless, "RUNNING"));
  cluster->answer({"scancel", endless});
  const auto tell = [&](const std::string& job) {
    return cluster->answer(
        {"sacct", "-n", "-P", "-X", "-j", job, "-o", "JobIDRaw,State,ExitCode,Comment"});
  };
  CHECK(eventually([&] { return tell(good) == good + "|COMPLETED|0:0|run=x"; }));
  CHECK(eventually([&] { return tell(bad) == bad + "|FAILED|3:0|"; }));
  CHECK(eventually([&] { return tell(endless) == endless + "|CANCELLED by 0|0:0|"; }));
  const std::string step =
      cluster->answer({"sacct", "-n", "-P", "-j", good + ".batch", "-o", "ElapsedRaw,MaxRSS"});
  CHECK(step.ends_with('K'));
  CHECK(std::stoi(step) >= 1);
  CHECK_FALSE(cluster->run({"sbatch", "-A", "nobody", "--wrap=true"}).ok());
}
