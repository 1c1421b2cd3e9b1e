// Grid Engine with one host: what tests of described schedulers rely on.

#include "support/cluster.hpp"
#include "support/errors.hpp"
#include "support/program.hpp"
#include "support/temp_home.hpp"

#include <catch2/catch.hpp>

#include <filesystem>
#include <string>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

struct Jobs {
  GridEngine cluster{};
  TempHome folder{};

  /// Returns what qsub -terse says: the job's id.
  std::string submit(const std::string& line, const std::vector<std::string>& options = {}) const {
    const fs::path file = folder / "job.sh";
    write_text(file, "#!/bin/bash\n" + line + "\n");
    std::vector<std::string> argv{
        "qsub", "-terse", "-wd", folder.path().string(), "-o", "out", "-j", "y"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back(file.string());
    return cluster.answer(argv);
  }
  std::string output() const { return text_of(folder / "out"); }
  /// Of an ended job, as qacct has it: "exit_status  3".
  bool told(const std::string& job, const std::string& field, const std::string& value) const {
    return eventually(
        [&] {
          const std::string text = cluster.run({"qacct", "-j", job}).output;
          const auto begin = text.find("\n" + field + " ");
          if (begin == std::string::npos) return false;
          const auto end = text.find('\n', begin + 1);
          const std::string line =
              text.substr(begin + 1 + field.size(), end - begin - 1 - field.size());
          return line.substr(line.find_first_not_of(' ')).starts_with(value + " ");
        },
        std::chrono::seconds(60));
  }
  bool runs(const std::string& job) const {
    return eventually([&] {
      return contains(cluster.answer({"qstat", "-s", "r"}), " " + job + " ");
    });
  }
};

}  // namespace

TEST_CASE("grid engine: a job runs, and qacct tells its exit status") {
  const Jobs jobs;
  const std::string job = jobs.submit("echo job $JOB_ID; exit 3", {"-ac", "sabath=run-x"});
  CHECK(jobs.told(job, "exit_status", "3"));
  CHECK(jobs.told(job, "failed", "0"));
  CHECK(jobs.output() == "job " + job + "\n");
}

TEST_CASE("grid engine: a job's context is told while it is there") {
  const Jobs jobs;
  const std::string job = jobs.submit("sleep 100", {"-ac", "sabath=run-x"});
  CHECK(contains(jobs.cluster.answer({"qstat", "-j", job}), "sabath=run-x"));
}

TEST_CASE("grid engine: tasks of an array have numbers") {
  const Jobs jobs;
  const std::string job = jobs.submit("echo task $SGE_TASK_ID", {"-t", "1-3", "-tc", "1"});
  CHECK(job == "1.1-3:1");
  CHECK(eventually([&] { return jobs.output() == "task 1\ntask 2\ntask 3\n"; }));
}

TEST_CASE("grid engine: qdel and a limit of wall time end jobs") {
  const Jobs jobs;
  const std::string deleted = jobs.submit("sleep 1000");
  const std::string late = jobs.submit("sleep 1000", {"-l", "h_rt=2"});
  REQUIRE(jobs.runs(deleted));
  jobs.cluster.answer({"qdel", deleted});
  CHECK(jobs.told(deleted, "failed", "100"));
  CHECK(jobs.told(late, "failed", "37"));
  CHECK(jobs.told(late, "exit_status", "137"));
}

TEST_CASE("grid engine: nothing is left of one that ends, nor of a host that is lost") {
  fs::path place;
  for (const bool lost : {true, false}) {
    {
      const Jobs jobs;
      place = jobs.cluster.folder();
      jobs.submit("sleep 43434343");
      REQUIRE(eventually([] { return !processes_with("43434343").empty(); }));
      if (lost) jobs.cluster.command({"crash-host"});
      if (lost) CHECK(eventually([] { return processes_with("43434343").empty(); }));
    }
    CHECK(processes_with("43434343").empty());
    CHECK_FALSE(fs::exists(place));
  }
}
