#pragma once

#include "support/cluster.hpp"
#include "support/program.hpp"
#include "support/temp_home.hpp"

#include <string>
#include <vector>

namespace sabath::test {

/// Jobs of one line of shell, whose output stays in a folder of the test's own.
struct Jobs {
  const SlurmCluster& cluster;
  TempHome folder{};

  /// Returns the job's id.
  std::string submit(const std::string& line, const std::vector<std::string>& options = {}) const {
    std::vector<std::string> argv{
        "sbatch", "--parsable", "--chdir=" + folder.path().string(), "--open-mode=append"};
    argv.insert(argv.end(), options.begin(), options.end());
    argv.push_back("--wrap=" + line);
    return cluster.answer(argv);
  }
  /// The state, or one line of states for an array's tasks.
  std::string state(const std::string& job) const {
    return cluster.answer({"squeue", "-h", "-r", "-t", "all", "-o", "%T", "-j", job});
  }
  bool reaches(const std::string& job,
               const std::string& wanted,
               std::chrono::seconds patience = std::chrono::seconds(30)) const {
    return eventually([&] { return state(job) == wanted; }, patience);
  }
  std::string output(const std::string& name) const {
    return text_of(folder / ("slurm-" + name + ".out"));
  }
};

}  // namespace sabath::test
