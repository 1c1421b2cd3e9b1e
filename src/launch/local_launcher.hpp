#pragma once

#include <sabath/base/process/process_identity.hpp>
#include <sabath/launch/launcher.hpp>

#include <map>
#include <mutex>

namespace sabath::launch {

/// Runs a job as a process on this node, in a process group of its own: neither Ctrl-C at the
/// terminal nor its closing reaches it. Its output goes to exec.log in the run directory. An id is
/// base::ProcessIdentity::text.
class LocalLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "local"; }
  std::string_view description() const override { return "as a process on this node"; }
  JobId submit(const Job& job) override;
  JobState poll(const JobId& id) override;
  void cancel(const JobId& id) override;

 private:
  /// Whose host and container a job is looked for in; found out once, since polls are many.
  const base::ProcessIdentity self_ = base::ProcessIdentity::current();
  std::mutex mutex_;
  std::map<JobId, Finished> finished_;  ///< a process tells its end only once
};

}  // namespace sabath::launch
