#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>
#include <sabath/launch/launcher.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <system_error>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::launch {
namespace {

/// Settings of posix_spawn for a job. Descriptors: /dev/null as input, one log for both outputs, no
/// others of this process. A new process group, with no signals blocked or ignored.
class SpawnSettings {
 public:
  explicit SpawnSettings(int log) {
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, log, 1);
    ::posix_spawn_file_actions_adddup2(&actions, log, 2);
    close_others();
    ::posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes, &none);
    ::posix_spawnattr_setsigdefault(&attributes, &all);
    ::posix_spawnattr_setpgroup(&attributes, 0);
    ::posix_spawnattr_setflags(
        &attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;

  posix_spawn_file_actions_t actions{};
  posix_spawnattr_t attributes{};

 private:
  /// Closes descriptors that libraries opened without CLOEXEC. addclosefrom_np needs glibc 2.34,
  /// which some clusters lack.
  void close_others() {
    std::error_code code;
    std::filesystem::directory_iterator at("/proc/self/fd", code);
    for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
      const int fd = std::atoi(at->path().filename().c_str());
      if (fd > STDERR_FILENO) ::posix_spawn_file_actions_addclose(&actions, fd);
    }
  }
};

base::UniqueFd open_log(const Job& job) {
  const auto path = job.run_directory / "exec.log";
  base::UniqueFd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log) base::throw_errno(path.string(), "cannot write", errno);
  return log;
}

/// posix_spawn returns the error of exec in the child.
int spawn(const Job& job, int log) {
  std::vector<char*> argv;
  for (const auto& argument : job.argv)
    argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  std::vector<std::string> variables;
  if (job.environment) {
    for (const auto& [name, value] : *job.environment)
      variables.push_back(name + "=" + value);
  }
  std::vector<char*> environment;
  for (std::string& variable : variables)
    environment.push_back(variable.data());
  environment.push_back(nullptr);
  const SpawnSettings settings(log);
  int pid = 0;
  const int problem = ::posix_spawnp(&pid,
                                     argv.front(),
                                     &settings.actions,
                                     &settings.attributes,
                                     argv.data(),
                                     job.environment ? environment.data() : ::environ);
  if (problem != 0) {
    throw base::Error(
        base::ErrorKind::launch,
        job.run_id + ": cannot start '" + job.argv.front() + "': " + base::errno_text(problem));
  }
  return pid;
}

/// Runs a job as a process on this node, in a process group of its own: Ctrl-C and the end of the
/// terminal do not reach it. Its output goes to exec.log in the run directory. A job id is
/// base::ProcessIdentity::text.
class LocalLauncher final : public Launcher {
 public:
  std::string_view name() const override { return "local"; }
  std::string_view description() const override { return "as a process on this node"; }
  JobId submit(const Job& job) override {
    if (job.argv.empty()) {
      throw base::Error(base::ErrorKind::launch, job.run_id + ": cannot start: no command");
    }
    const auto log = open_log(job);
    const int pid = spawn(job, log.get());
    // A child that has ended stays a zombie until it is polled.
    return base::ProcessIdentity::of(pid).text();
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

std::vector<std::unique_ptr<Launcher>> builtin_launchers() {
  std::vector<std::unique_ptr<Launcher>> launchers;
  launchers.push_back(std::make_unique<LocalLauncher>());
  return launchers;
}

}  // namespace sabath::launch
