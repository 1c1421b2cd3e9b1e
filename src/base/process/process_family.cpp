#include "process_family.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::base {
namespace {

using std::chrono::steady_clock;

/// What helpers that live by a pipe from their leader (Python's resource tracker, say) have to
/// clean up when it closes.
constexpr std::chrono::milliseconds settling_time(100);

/// The leaders that this process runs now. A process has one subreaper attribute, one disposition
/// of SIGCHLD and one list of children, so there is one of these too.
class Leaders {
 public:
  static Leaders& of_this_process() {
    static Leaders leaders;
    return leaders;
  }

  /// Under one lock, so that no other family ever sees a child that is not in the list yet.
  int add(const std::function<int()>& fork_leader, const std::string& mark) {
    const std::lock_guard lock(mutex_);
    if (running_.empty()) begin();
    try {
      const int pid = fork_leader();
      running_.push_back({process_stat(pid).value_or(ProcessStat{.pid = pid}), mark, {}});
      running_.back().own_group = own_group_of(pid);
      if (running_.size() == 1) first_start_ticks_ = running_.front().stat.start_ticks;
      return pid;
    } catch (...) {
      if (running_.empty()) end();
      throw;
    }
  }

  /// Reaps a leader that has ended and takes it off the list.
  ProcessFamily::End remove(int pid) {
    const std::lock_guard lock(mutex_);
    ProcessFamily::End end_of_leader;
    ::wait4(pid, &end_of_leader.status, 0, &end_of_leader.usage);
    std::erase_if(running_, [&](const Leader& leader) { return leader.stat.pid == pid; });
    std::erase_if(claims_, [&](const auto& claim) { return claim.second == pid; });
    ending_.erase(pid);
    if (running_.empty()) end();
    return end_of_leader;
  }

  /// From now on no orphan is spared for this leader's sake: it has ended, and what is left of it
  /// is being killed. Else two commands that end at once would each leave it to the other.
  void is_ending(int pid) {
    const std::lock_guard lock(mutex_);
    ending_.insert(pid);
  }

  /// Children of this process that belong to the family of `leader`, without itself.
  std::vector<ProcessStat> orphans_of(int leader) {
    const std::lock_guard lock(mutex_);
    std::vector<ProcessStat> orphans;
    for (const int child : children_of(::getpid())) {
      const auto facts = process_stat(child);
      if (!facts || !is_orphan_of(*facts, leader)) continue;
      // Two commands that are younger than it may both come upon it; only one shall count it.
      if (claims_.emplace(name_of(*facts), leader).first->second == leader)
        orphans.push_back(*facts);
    }
    return orphans;
  }

 private:
  struct Leader {
    ProcessStat stat{};
    std::string mark{};
    std::string own_group{};  ///< empty: it shares its group
  };

  /// A pid alone is used again.
  using Name = std::pair<int, std::uint64_t>;
  static Name name_of(const ProcessStat& process) { return {process.pid, process.start_ticks}; }

  std::string own_group_of(int pid) const {
    std::string group = control_group_of(pid);
    if (group == control_group_of(::getpid())) return {};
    const bool shared = std::any_of(running_.begin(), running_.end(), [&](const Leader& other) {
      return other.stat.pid != pid && control_group_of(other.stat.pid) == group;
    });
    return shared ? std::string() : group;
  }

  bool is_orphan_of(const ProcessStat& child, int leader) const {
    const auto is_itself = [&](const Leader& other) { return other.stat.pid == child.pid; };
    if (std::any_of(running_.begin(), running_.end(), is_itself)) return false;
    if (child.session == leader || child.group == leader) return true;
    if (child.session == ::getsid(0) || child.start_ticks < first_start_ticks_) return false;
    // A zombie has no environment any more.
    const auto claim = claims_.find(name_of(child));
    if (claim != claims_.end()) return claim->second == leader;
    if (const auto owner = told_owner_of(child)) return *owner == leader;
    return std::none_of(running_.begin(), running_.end(), [&](const Leader& other) {
      return other.stat.pid != leader && other.stat.start_ticks <= child.start_ticks &&
             !ending_.contains(other.stat.pid);
    });
  }

  /// The leader whose group or mark a process has, which it keeps when it becomes a daemon.
  std::optional<int> told_owner_of(const ProcessStat& child) const {
    if (running_.size() < 2) return std::nullopt;
    const std::string group = control_group_of(child.pid);
    for (const Leader& leader : running_) {
      const std::string& own = leader.own_group;
      if (!own.empty() && (group == own || group.starts_with(own + "/"))) return leader.stat.pid;
    }
    for (const Leader& leader : running_) {
      if (!leader.mark.empty() && began_with(child.pid, leader.mark)) return leader.stat.pid;
    }
    return std::nullopt;
  }

  void begin() {
    ::prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    // The parent may have left SIGCHLD ignored; then no exit status would ever arrive.
    struct sigaction plain {};
    plain.sa_handler = SIG_DFL;
    ::sigaction(SIGCHLD, nullptr, &old_sigchld_);
    if (old_sigchld_.sa_handler == SIG_IGN) ::sigaction(SIGCHLD, &plain, nullptr);
  }

  void end() {
    ::prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
    if (old_sigchld_.sa_handler == SIG_IGN) ::sigaction(SIGCHLD, &old_sigchld_, nullptr);
  }

  std::mutex mutex_;
  std::vector<Leader> running_;
  std::map<Name, int> claims_;  ///< by orphan: the leader whose family deals with it
  std::set<int> ending_;        ///< leaders that have ended, but are not reaped yet
  std::uint64_t first_start_ticks_ = 0;
  int was_subreaper_ = 0;
  struct sigaction old_sigchld_ {};
};

void add_running(const ProcessStat& process, std::set<int>& found) {
  if (!process.has_ended()) found.insert(process.pid);
  for (const int child : children_of(process.pid)) {
    const auto facts = process_stat(child);
    if (facts) add_running(*facts, found);
  }
}

}  // namespace

ProcessFamily::ProcessFamily(const std::function<int()>& fork_leader, const std::string& mark)
    : leader_(Leaders::of_this_process().add(fork_leader, mark)) {}

ProcessFamily::~ProcessFamily() {
  if (reaped_) return;
  try {
    send(SIGKILL);
    ::kill(leader_, SIGKILL);  // it may not have come to its own group yet
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    kill_others();
    Leaders::of_this_process().remove(leader_);
  } catch (...) {
    return;  // out of memory: the leader is killed, the rest is left to the end of this process
  }
}

bool ProcessFamily::leader_has_ended() const noexcept {
  siginfo_t info{};
  return ::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         info.si_pid != 0;
}

void ProcessFamily::send(int signal) const noexcept {
  ::kill(-leader_, signal);
  if (signal == SIGKILL) return;  // kill_others() finds, counts and kills those that left the group
  try {
    // Those that left the group (setsid) and have lost their parent are asked too.
    for (const ProcessStat& orphan : orphans()) {
      if (!orphan.has_ended()) ::kill(orphan.pid, signal);
    }
  } catch (...) {
    return;  // out of memory: the group was asked, and what is left is killed at the end
  }
}

std::vector<ProcessStat> ProcessFamily::orphans() const {
  return Leaders::of_this_process().orphans_of(leader_);
}

bool ProcessFamily::others_run() const {
  const auto all = orphans();
  return std::any_of(
      all.begin(), all.end(), [](const ProcessStat& one) { return !one.has_ended(); });
}

void ProcessFamily::wait_for_others() const {
  const auto patience = steady_clock::now() + settling_time;
  while (others_run() && steady_clock::now() < patience)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

int ProcessFamily::kill_others() const {
  wait_for_others();
  Leaders::of_this_process().is_ending(leader_);
  const auto patience = steady_clock::now() + std::chrono::seconds(5);
  std::set<int> killed;
  // A process whose parent is killed becomes our child. So each pass kills only own children by
  // pid. Their pids cannot be given to other processes before they are reaped.
  for (auto all = orphans(); !all.empty(); all = orphans()) {
    for (const ProcessStat& orphan : all)
      add_running(orphan, killed);
    send(SIGKILL);
    for (const ProcessStat& orphan : all) {
      if (!orphan.has_ended()) ::kill(orphan.pid, SIGKILL);
      ::waitpid(orphan.pid, nullptr, WNOHANG);
    }
    if (steady_clock::now() > patience) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return static_cast<int>(killed.size());
}

ProcessFamily::End ProcessFamily::reap() {
  siginfo_t info{};
  while (::waitid(P_PID, static_cast<id_t>(leader_), &info, WEXITED | WNOWAIT) != 0) {
    if (errno != EINTR) {
      throw Error(ErrorKind::internal,
                  "process " + std::to_string(leader_) + ": cannot wait: " + errno_text(errno));
    }
  }
  reaped_ = true;
  return Leaders::of_this_process().remove(leader_);
}

}  // namespace sabath::base
