#pragma once

#include <sabath/base/process.hpp>

#include <atomic>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace sabath::test {

/// A real Slurm of four nodes on this machine (tests/support/slurm/cluster.py), without accounting
/// unless asked for. Wants root, and Debian's slurmctld, slurmd, slurm-client and munge.
class SlurmCluster {
 public:
  /// Starts one, in seconds, that ends with this object, or with this process. `options` as of
  /// `cluster.py start`. Throws std::runtime_error with what is wrong.
  explicit SlurmCluster(const std::vector<std::string>& options = {});
  /// The one that CTest's fixture "slurm" or "slurm_accounting" has started and other tests use,
  /// too: no faults here. Where there is none, because the executable was started by hand, one of
  /// its own.
  static std::unique_ptr<SlurmCluster> shared(bool accounting = false);
  ~SlurmCluster();
  SlurmCluster(const SlurmCluster&) = delete;
  SlurmCluster& operator=(const SlurmCluster&) = delete;

  /// What a client needs; to be set over the caller's.
  const base::Environment& variables() const { return variables_; }
  /// Runs one of Slurm's commands, with nothing of Slurm in its environment but what it needs.
  base::ProcessResult run(const std::vector<std::string>& argv,
                          const base::Environment& more = {}) const;
  /// What it says, without the last line end. Throws std::runtime_error when it fails.
  std::string answer(const std::vector<std::string>& argv) const;
  /// A fault, or its end: "stop-controller", {"crash-node", "n1"}... as cluster.py lists them.
  void command(const std::vector<std::string>& words) const;

  const std::filesystem::path& folder() const { return folder_; }
  /// The same path on each node, with other content, and neither is seen from outside.
  std::filesystem::path scratch() const { return folder_ / "scratch"; }
  /// Where that of a node is outside.
  std::filesystem::path scratch_of(const std::string& node) const {
    return folder_ / "local" / node;
  }

 private:
  struct Running {};
  SlurmCluster(Running, std::filesystem::path folder);

  std::filesystem::path folder_;
  base::Environment variables_{};
  base::SystemProcessRunner processes_{};
  base::ProcessResult result_{};
  std::atomic<bool> ended_ = false;
  std::jthread thread_{};
};

}  // namespace sabath::test
