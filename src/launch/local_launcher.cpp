#include <sabath/base/error.hpp>
#include <sabath/base/process/detached_process.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/launch/launcher.hpp>

#include <cerrno>
#include <map>
#include <mutex>

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

namespace sabath::launch {
namespace {

base::UniqueFd open_log(const Job& job) {
  const auto path = job.run_directory / "exec.log";
  base::UniqueFd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log) base::throw_errno(path.string(), "cannot write", errno);
  return log;
}

/// Runs a job as a process on this node, in a session of its own: Ctrl-C and the end of the
/// terminal do not reach it. Its output goes to exec.log in the run directory. A job id is
/// base::ProcessIdentity::text.
class LocalLauncher final : public Launcher {
 public:
  JobId submit(const Job& job) override {
    const auto log = open_log(job);
    try {
      const base::Command command{.argv = job.argv, .environment = job.environment};
      // A child that has ended stays a zombie until it is polled.
      return base::ProcessIdentity::of(base::start_detached(command, log.get())).text();
    } catch (const base::Error& error) {
      throw base::Error(error.kind(), job.run_id + ": " + error.what(), error.hint());
    }
  }

  JobState poll(const JobId& id) override {
    const std::lock_guard lock(mutex_);
    if (const auto known = finished_.find(id); known != finished_.end()) return known->second;
    const auto process = base::ProcessIdentity::parse(id);
    if (!process) return Vanished{"'" + id + "' is not a process of this launcher"};
    const auto liveness = base::liveness_of(*process, self_);
    if (liveness == base::Liveness::running) return Running{};
    const std::string name = "process " + std::to_string(process->pid);
    if (liveness == base::Liveness::unknown) return Vanished{name + " cannot be seen from here"};
    siginfo_t info{};
    const auto pid = static_cast<id_t>(process->pid);
    const bool ours = base::ProcessIdentity::of(process->pid) == process &&
                      ::waitid(P_PID, pid, &info, WEXITED | WNOHANG) == 0 && info.si_pid != 0;
    if (!ours) return Vanished{name + " is gone"};
    const bool exited = info.si_code == CLD_EXITED;
    const Finished end{exited ? info.si_status : 0, exited ? 0 : info.si_status};
    finished_.emplace(id, end);
    return end;
  }

  void cancel(const JobId& id) override {
    const std::lock_guard lock(mutex_);
    const auto process = base::ProcessIdentity::parse(id);
    if (process && base::liveness_of(*process, self_) == base::Liveness::running)
      ::kill(process->pid, SIGTERM);
  }

 private:
  /// Host and container of this process; found once, since polls are frequent.
  const base::ProcessIdentity self_ = base::ProcessIdentity::current();
  std::mutex mutex_;
  std::map<JobId, Finished> finished_;  ///< the kernel reports the end of a process only once
};

}  // namespace

std::unique_ptr<Launcher> local_launcher() {
  return std::make_unique<LocalLauncher>();
}

}  // namespace sabath::launch
