#include "scheduler_memo.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/batch/scheduler_monitor.hpp>
#include <sabath/execution/host_lock.hpp>
#include <sabath/home/dated_folder.hpp>

#include <algorithm>
#include <set>

namespace sabath::batch {
namespace {

using spec::JobPhase;
using std::chrono::seconds;

constexpr seconds often{5};
constexpr seconds seldom{10};
constexpr seconds short_wait{60};
/// Longest wait for the process that asks.
constexpr seconds lock_patience{3};
/// Between the clocks of two login nodes.
constexpr seconds most_skew{300};
/// Without an answer for this long a process asks although another holds the lock.
constexpr seconds long_silence{60};
/// Tasks that nobody wanted for this long are not asked about.
constexpr seconds stale{600};
/// For a job that nobody wrote down.
constexpr seconds between_searches{10};
/// For accounting: twice as long after each question without an answer.
constexpr seconds first_accounts{5};
constexpr int most_doublings = 8;
constexpr std::chrono::hours without_accounting{1};
/// The end of a job is remembered for this long.
constexpr std::chrono::hours memory{24};

/// These tasks, and those of others that may change and that somebody still wants.
std::vector<std::string> tasks_to_ask(const SchedulerMemo& memo,
                                      const std::vector<std::string>& tasks,
                                      base::WallTime now) {
  std::vector<std::string> all = tasks;
  for (const auto& [task, row] : memo.tasks) {
    const JobPhase phase = row.view.phase;
    const bool may_change =
        phase == JobPhase::pending || phase == JobPhase::running || phase == JobPhase::unknown;
    if (may_change && now - row.wanted < stale) all.push_back(task);
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

void take_answer(launch::JobView view, base::WallTime now, TaskView& row) {
  const bool same = row.since != base::WallTime{} && row.view.phase == view.phase &&
                    row.view.is_unheard == view.is_unheard;
  if (!same) row.since = now;
  row.view = std::move(view);
  row.asked = now;
}

}  // namespace

SchedulerMonitor::SchedulerMonitor(launch::Scheduler& scheduler,
                                   std::filesystem::path memo,
                                   base::Clock& clock,
                                   base::Observer& observer)
    : scheduler_(scheduler),
      file_(std::move(memo)),
      lock_("ask-" + base::sha256_of(file_.string()).hex),
      clock_(clock),
      observer_(observer) {}

bool SchedulerMonitor::is_due(const SchedulerMemo& memo, const std::vector<std::string>& tasks) {
  const base::WallTime now = clock_.now();
  const auto pause = now - memo.first < short_wait ? often : seldom;
  // Up to a fifth later, at random.
  const auto late = pause / 5 * (home::random_bits() % 1000) / 1000.0;
  if (now < memo.asked) {
    if (memo.asked - now > most_skew) return true;  // the clock was set back
    // Another login node's clock is ahead: its answer is as old as it has been seen here.
    if (memo.asked != ahead_.asked) ahead_ = {memo.asked, clock_.steady()};
    return clock_.steady() - ahead_.seen >= seldom + late;
  }
  if (now - memo.asked >= pause + late) return true;
  // Asks about a new task at once, a moment after the last question. A question also says that the
  // tasks of others are still wanted.
  const auto wants = [&](const std::string& task) {
    const auto row = memo.tasks.find(task);
    return row == memo.tasks.end() || now - row->second.wanted > stale / 2;
  };
  return now - memo.asked >= seconds(1) && std::ranges::any_of(tasks, wants);
}

void SchedulerMonitor::ask(SchedulerMemo& memo,
                           const std::vector<std::string>& tasks,
                           const std::stop_token& stop) {
  const base::WallTime now = clock_.now();
  if (now - memo.asked > stale || memo.tasks.empty()) memo.first = now;
  try {
    for (auto& [task, view] : scheduler_.poll(tasks_to_ask(memo, tasks, now), stop))
      take_answer(std::move(view), now, memo.tasks[task]);
    reported_.clear();
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    if (reported_ != error.what()) {
      observer_.warn(error.what(), "what it said before is shown; it is asked again");
      reported_ = error.what();
    }
    for (const std::string& task : tasks) {
      const bool is_first = !memo.tasks.contains(task);
      TaskView& row = memo.tasks[task];
      if (is_first) row.since = now;
      if (is_first || row.view.is_unheard) row.view = {JobPhase::unknown, {}, error.what(), true};
    }
  }
  // Without an answer too: else each look would ask for an unknown task.
  for (const std::string& task : tasks)
    memo.tasks[task].wanted = now;
  std::erase_if(memo.tasks, [&](const auto& entry) {
    return now - entry.second.since > memory && now - entry.second.wanted > stale;
  });
  memo.asked = clock_.now();
  write_memo(file_, memo);
}

std::map<std::string, TaskView> SchedulerMonitor::views(const std::vector<std::string>& tasks,
                                                        const std::stop_token& stop) {
  if (tasks.empty()) return {};
  SchedulerMemo memo = read_memo(file_);
  if (is_due(memo, tasks)) {
    // A process that comes while another asks takes its answer, after a limited wait.
    const execution::HostLock lock(lock_, lock_patience, clock_);
    memo = read_memo(file_);
    // Any user can take the name of the lock: that must not stop this user for ever.
    const bool may_ask = lock.is_held() || clock_.now() - memo.asked > long_silence;
    if (may_ask && is_due(memo, tasks)) ask(memo, tasks, stop);
  }
  std::map<std::string, TaskView> found;
  for (const std::string& task : tasks) {
    const auto row = memo.tasks.find(task);
    if (row != memo.tasks.end()) found.emplace(task, row->second);
  }
  return found;
}

SchedulerMonitor::Search SchedulerMonitor::find(const std::string& comment,
                                                const std::stop_token& stop) {
  const auto is_early = [&](const SchedulerMemo& memo) {
    const auto before = memo.searches.find(comment);
    if (before == memo.searches.end()) return false;
    const auto passed = clock_.now() - before->second.last;
    return passed >= passed.zero() && passed < between_searches;
  };
  if (is_early(read_memo(file_))) return {};
  const execution::HostLock lock(lock_, lock_patience, clock_);
  SchedulerMemo memo = read_memo(file_);
  if (is_early(memo)) return {};
  Search search{true, scheduler_.find(comment, stop)};
  std::erase_if(memo.searches,
                [&](const auto& entry) { return clock_.now() - entry.second.last > memory; });
  SchedulerMemo::Asked& asked = memo.searches[comment];
  asked = {clock_.now(), asked.times + 1};
  if (search.job) memo.searches.erase(comment);
  write_memo(file_, memo);
  return search;
}

std::map<std::string, launch::JobUse> SchedulerMonitor::ask_for_accounts(
    SchedulerMemo& memo,
    const std::vector<std::vector<std::string>>& groups,
    const std::stop_token& stop) {
  const base::WallTime now = clock_.now();
  const auto passed = [&](base::WallTime time) {
    return now < time ? std::chrono::nanoseconds::max() : now - time;
  };
  if (passed(memo.no_accounting) < without_accounting || passed(memo.accounted) < often) return {};
  const auto is_due = [&](const std::string& task) {
    const auto row = memo.accounts.find(task);
    if (row == memo.accounts.end()) return true;
    const int doublings = std::clamp(row->second.times - 1, 0, most_doublings);
    return passed(row->second.last) >= first_accounts * (1 << doublings);
  };
  std::vector<std::string> due;
  for (const auto& group : groups) {
    if (std::ranges::all_of(group, is_due)) due.insert(due.end(), group.begin(), group.end());
  }
  if (due.empty()) return {};
  launch::Accounting found = scheduler_.accounting(due, stop);
  memo.accounted = now;
  if (found.is_absent) memo.no_accounting = now;
  std::erase_if(memo.accounts,
                [&](const auto& entry) { return passed(entry.second.last) > memory; });
  const std::set<std::string> asked(due.begin(), due.end());
  for (const auto& group : groups) {
    const bool has_all =
        std::ranges::all_of(group, [&](const auto& task) { return found.uses.contains(task); });
    for (const std::string& task : group) {
      if (!asked.contains(task)) continue;
      if (has_all) memo.accounts.erase(task);
      if (!has_all) memo.accounts[task] = {now, memo.accounts[task].times + 1};
    }
  }
  write_memo(file_, memo);
  return std::move(found.uses);
}

std::map<std::string, launch::JobUse> SchedulerMonitor::accounting(
    const std::vector<std::vector<std::string>>& groups, const std::stop_token& stop) {
  if (groups.empty() || scheduler_.description().accounting.empty()) return {};
  const execution::HostLock lock(lock_, lock_patience, clock_);
  if (!lock.is_held()) return {};
  SchedulerMemo memo = read_memo(file_);
  return ask_for_accounts(memo, groups, stop);
}

void SchedulerMonitor::forget() {
  SchedulerMemo memo = read_memo(file_);
  memo.asked = {};
  memo.first = {};
  memo.tasks.clear();
  write_memo(file_, memo);
}

}  // namespace sabath::batch
