#include "local_launcher.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/base/unique_fd.hpp>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::launch {
namespace {

/// The descriptors of a job: nothing to read, both outputs to one log, no other of ours.
class FileActions {
 public:
  explicit FileActions(int log) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, log, 1);
    ::posix_spawn_file_actions_adddup2(&actions_, log, 2);
    close_others();
  }
  ~FileActions() { ::posix_spawn_file_actions_destroy(&actions_); }
  FileActions(const FileActions&) = delete;
  FileActions& operator=(const FileActions&) = delete;

  const posix_spawn_file_actions_t* get() const { return &actions_; }

 private:
  /// Those that some library opened without CLOEXEC. addclosefrom_np would do it, but is younger
  /// (glibc 2.34) than the systems of some large machines.
  void close_others() {
    std::error_code code;
    std::filesystem::directory_iterator at("/proc/self/fd", code);
    for (; !code && at != std::filesystem::directory_iterator(); at.increment(code)) {
      const int fd = std::atoi(at->path().filename().c_str());
      if (fd > STDERR_FILENO) ::posix_spawn_file_actions_addclose(&actions_, fd);
    }
  }

  posix_spawn_file_actions_t actions_{};
};

/// A process group of its own, and no signal blocked or ignored that was so here.
class SpawnAttributes {
 public:
  SpawnAttributes() {
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setpgroup(&attributes_, 0);
    ::posix_spawnattr_setflags(
        &attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~SpawnAttributes() { ::posix_spawnattr_destroy(&attributes_); }
  SpawnAttributes(const SpawnAttributes&) = delete;
  SpawnAttributes& operator=(const SpawnAttributes&) = delete;

  const posix_spawnattr_t* get() const { return &attributes_; }

 private:
  posix_spawnattr_t attributes_{};
};

base::UniqueFd open_log(const Job& job) {
  const auto path = job.run_directory / "exec.log";
  base::UniqueFd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
  if (!log) base::throw_errno(path.string(), "cannot write", errno);
  return log;
}

/// posix_spawn tells here what exec said in the child, so nothing need be guessed from a status.
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
  const FileActions actions(log);
  const SpawnAttributes attributes;
  int pid = 0;
  const int problem = ::posix_spawnp(&pid,
                                     argv.front(),
                                     actions.get(),
                                     attributes.get(),
                                     argv.data(),
                                     job.environment ? environment.data() : ::environ);
  if (problem != 0) {
    throw base::Error(
        base::ErrorKind::launch,
        job.run_id + ": cannot start '" + job.argv.front() + "': " + base::errno_text(problem));
  }
  return pid;
}

}  // namespace

JobId LocalLauncher::submit(const Job& job) {
  if (job.argv.empty()) {
    throw base::Error(base::ErrorKind::launch, job.run_id + ": cannot start: no command");
  }
  const auto log = open_log(job);
  const int pid = spawn(job, log.get());
  // A child that ended already is a zombie until it is polled, so that it can still be looked at.
  return base::ProcessIdentity::of(pid).text();
}

JobState LocalLauncher::poll(const JobId& id) {
  const std::lock_guard lock(mutex_);
  if (const auto known = finished_.find(id); known != finished_.end()) return known->second;
  const auto process = base::ProcessIdentity::parse(id);
  if (!process) return Vanished{"'" + id + "' is no process of this launcher"};
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

void LocalLauncher::cancel(const JobId& id) {
  const std::lock_guard lock(mutex_);
  const auto process = base::ProcessIdentity::parse(id);
  if (process && base::liveness_of(*process, self_) == base::Liveness::running)
    ::kill(process->pid, SIGTERM);
}

}  // namespace sabath::launch
