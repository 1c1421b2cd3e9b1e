#pragma once

#include <sabath/base/process/process.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// A real scheduler that one of the scripts cluster.py beneath tests/support has started. Wants
/// root.
class Cluster {
 public:
  ~Cluster();
  Cluster(const Cluster&) = delete;
  Cluster& operator=(const Cluster&) = delete;

  /// What a client needs; to be set over the caller's.
  const base::Environment& variables() const { return variables_; }
  /// Runs one of the scheduler's commands, with nothing of any scheduler in its environment but
  /// what it needs.
  base::ProcessResult run(const std::vector<std::string>& argv,
                          const base::Environment& more = {}) const;
  /// What it says, without the last line end. Throws std::runtime_error when it fails.
  std::string answer(const std::vector<std::string>& argv) const;
  /// A fault, or its end: {"stop-controller"}, {"crash-node", "n1"}... as cluster.py lists them.
  void command(const std::vector<std::string>& words) const;

  const std::filesystem::path& folder() const { return folder_; }

 protected:
  /// Starts one, in seconds, that ends with this object, or with this process. Throws
  /// std::runtime_error with what is wrong.
  Cluster(std::filesystem::path script, const std::vector<std::string>& options);
  struct Running {};
  Cluster(Running, std::filesystem::path script, std::filesystem::path folder);

 private:
  void read_variables();

  std::filesystem::path script_;
  std::filesystem::path folder_;
  base::Environment variables_{};
  base::SystemProcessRunner processes_{};
  base::ProcessResult result_{};
  std::atomic<bool> ended_ = false;
  std::jthread thread_{};
};

/// Slurm with four nodes, without accounting unless asked for: Debian's slurmctld, slurmd,
/// slurm-client and munge, and for accounting slurmdbd,
/// mariadb-server-core and mariadb-client-core.
class SlurmCluster : public Cluster {
 public:
  /// `options` as of tests/support/slurm/cluster.py.
  explicit SlurmCluster(const std::vector<std::string>& options = {});
  /// The one that CTest's fixture "slurm" or "slurm_accounting" has started and other tests use,
  /// too: no faults here. Where there is none, because the executable was started by hand, one of
  /// its own.
  static std::unique_ptr<SlurmCluster> shared(bool accounting = false);

  /// The same path on each node, with other content, and neither is seen from outside.
  std::filesystem::path scratch() const { return folder() / "scratch"; }
  /// Where that of a node is outside.
  std::filesystem::path scratch_of(const std::string& node) const {
    return folder() / "local" / node;
  }

 private:
  SlurmCluster(Running, std::filesystem::path folder);
};

/// Grid Engine with one host, from Debian's packages as CTest's fixture "gridengine" has unpacked
/// them; Debian's libjemalloc2.
class GridEngine : public Cluster {
 public:
  /// `options` as of tests/support/gridengine/cluster.py, but --from.
  explicit GridEngine(const std::vector<std::string>& options = {});
};

}  // namespace sabath::test
