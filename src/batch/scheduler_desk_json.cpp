#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/batch/scheduler_desk.hpp>
#include <sabath/execution/machine_turn.hpp>
#include <sabath/home/dated_folder.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <set>

namespace sabath::batch {
namespace {

using nlohmann::json;
using spec::JobPhase;
using std::chrono::seconds;

constexpr seconds often{5};
constexpr seconds seldom{10};
constexpr seconds short_wait{60};
/// A scheduler that takes longer is not waited for by all.
constexpr seconds turn_patience{3};
/// Between the clocks of two login nodes.
constexpr seconds most_skew{300};
/// Without an answer for so long one asks even while somebody else has the turn, or says so.
constexpr seconds long_silence{60};
/// What nobody wanted to know for so long is not asked about for others.
constexpr seconds stale{600};
/// For a job that nobody wrote down.
constexpr seconds between_searches{10};
/// For what a scheduler accounts: twice as long after each question that brought nothing.
constexpr seconds first_accounts{5};
constexpr int most_doublings = 8;
constexpr std::chrono::hours without_accounting{1};
/// Since when a job has ended is known for so long.
constexpr std::chrono::hours memory{24};

std::string text_of(base::WallTime time) {
  return base::format_rfc3339(time);
}

base::WallTime time_of(const json& value) {
  return base::parse_rfc3339(value.get<std::string>()).value_or(base::WallTime{});
}

}  // namespace

SchedulerDesk::SchedulerDesk(launch::Scheduler& scheduler,
                             std::filesystem::path memo,
                             base::Clock& clock,
                             base::Observer& observer)
    : scheduler_(scheduler),
      file_(std::move(memo)),
      turn_("ask-" + base::sha256_of(file_.string()).hex),
      clock_(clock),
      observer_(observer) {}

/// An accelerator of this user's own: what cannot be read is asked again.
SchedulerDesk::Memo SchedulerDesk::read() const {
  try {
    const auto text = base::read_file_if_exists(file_);
    if (!text) return {};
    const json document = json::parse(*text);
    Memo memo;
    memo.asked = time_of(document.at("asked"));
    memo.first = time_of(document.at("first"));
    for (const auto& [task, row] : document.at("tasks").items()) {
      TaskView& view = memo.tasks[task];
      const auto phase = spec::parse_job_phase(row.at(0).get<std::string>());
      if (!phase) return {};
      view.view = {*phase,
                   row.at(1).get<std::string>(),
                   row.at(2).get<std::string>(),
                   row.at(5).get<bool>()};
      view.since = time_of(row.at(3));
      view.wanted = time_of(row.at(4));
      view.asked = time_of(row.at(6));
    }
    for (const auto& [comment, row] : document.at("searches").items())
      memo.searches[comment] = {time_of(row.at(0)), row.at(1).get<int>()};
    for (const auto& [task, row] : document.at("accounts").items())
      memo.accounts[task] = {time_of(row.at(0)), row.at(1).get<int>()};
    memo.accounted = time_of(document.at("accounted"));
    memo.no_accounting = time_of(document.at("no_accounting"));
    return memo;
  } catch (const json::exception&) {
    return {};
  } catch (const base::Error&) {
    return {};
  }
}

void SchedulerDesk::write(const Memo& memo) const noexcept {
  try {
    json tasks = json::object();
    for (const auto& [task, row] : memo.tasks) {
      tasks[task] = {spec::to_string(row.view.phase),
                     row.view.state,
                     row.view.reason,
                     text_of(row.since),
                     text_of(row.wanted),
                     row.view.is_unheard,
                     text_of(row.asked)};
    }
    const auto rows_of = [](const std::map<std::string, Asked>& questions) {
      json rows = json::object();
      for (const auto& [name, asked] : questions)
        rows[name] = {text_of(asked.last), asked.times};
      return rows;
    };
    base::make_directories(file_.parent_path());
    const json document = {{"asked", text_of(memo.asked)},
                           {"first", text_of(memo.first)},
                           {"tasks", tasks},
                           {"searches", rows_of(memo.searches)},
                           {"accounts", rows_of(memo.accounts)},
                           {"accounted", text_of(memo.accounted)},
                           {"no_accounting", text_of(memo.no_accounting)}};
    const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    base::write_file_atomically(file_, text, base::Durability::ordered_only, 0600);
  } catch (const std::exception&) {
    return;  // the next command asks again
  }
}

bool SchedulerDesk::is_due(const Memo& memo, const std::vector<std::string>& tasks) {
  const base::WallTime now = clock_.now();
  const auto pause = now - memo.first < short_wait ? often : seldom;
  // Up to a fifth later, by chance.
  const auto late = pause / 5 * (home::random_bits() % 1000) / 1000.0;
  if (now < memo.asked) {
    if (memo.asked - now > most_skew) return true;  // the clock was set back
    // Another login node's clock is ahead: its answer is as old as it has been seen here.
    if (memo.asked != ahead_.asked) ahead_ = {memo.asked, clock_.steady()};
    return clock_.steady() - ahead_.seen >= seldom + late;
  }
  if (now - memo.asked >= pause + late) return true;
  // A new task is asked about at once where nobody has asked for a moment; and who asks says that
  // the tasks of others are still wanted.
  const auto wants = [&](const std::string& task) {
    const auto row = memo.tasks.find(task);
    return row == memo.tasks.end() || now - row->second.wanted > stale / 2;
  };
  return now - memo.asked >= seconds(1) && std::any_of(tasks.begin(), tasks.end(), wants);
}

void SchedulerDesk::ask(Memo& memo,
                        const std::vector<std::string>& tasks,
                        const std::stop_token& stop) {
  const base::WallTime now = clock_.now();
  if (now - memo.asked > stale || memo.tasks.empty()) memo.first = now;
  std::vector<std::string> all = tasks;
  for (const auto& [task, row] : memo.tasks) {
    const JobPhase phase = row.view.phase;
    const bool may_change =
        phase == JobPhase::pending || phase == JobPhase::running || phase == JobPhase::unknown;
    if (may_change && now - row.wanted < stale) all.push_back(task);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  try {
    for (auto& [task, view] : scheduler_.poll(all, stop)) {
      TaskView& row = memo.tasks[task];
      const bool same = row.since != base::WallTime{} && row.view.phase == view.phase &&
                        row.view.is_unheard == view.is_unheard;
      if (!same) row.since = now;
      row.view = std::move(view);
      row.asked = now;
    }
    told_.clear();
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    if (told_ != error.what()) {
      observer_.warn(error.what(), "what it said before is shown; it is asked again");
      told_ = error.what();
    }
    for (const std::string& task : tasks) {
      const bool is_first = !memo.tasks.contains(task);
      TaskView& row = memo.tasks[task];
      if (is_first) row.since = now;
      if (is_first || row.view.is_unheard) row.view = {JobPhase::unknown, {}, error.what(), true};
    }
  }
  // Also where nothing was heard: or a task that is not known yet would be asked for at each look.
  for (const std::string& task : tasks)
    memo.tasks[task].wanted = now;
  std::erase_if(memo.tasks, [&](const auto& entry) {
    return now - entry.second.since > memory && now - entry.second.wanted > stale;
  });
  memo.asked = clock_.now();
  write(memo);
}

std::map<std::string, TaskView> SchedulerDesk::views(const std::vector<std::string>& tasks,
                                                     const std::stop_token& stop) {
  if (tasks.empty()) return {};
  Memo memo = read();
  if (is_due(memo, tasks)) {
    // Who comes while another asks takes its answer; one that does not come is not waited for.
    const execution::MachineTurn turn(turn_, turn_patience, clock_);
    memo = read();
    // The name of the turn is anybody's to take: it must not keep this user from asking for ever.
    const bool may_ask = turn.is_held() || clock_.now() - memo.asked > long_silence;
    if (may_ask && is_due(memo, tasks)) ask(memo, tasks, stop);
  }
  std::map<std::string, TaskView> found;
  for (const std::string& task : tasks) {
    const auto row = memo.tasks.find(task);
    if (row != memo.tasks.end()) found.emplace(task, row->second);
  }
  return found;
}

SchedulerDesk::Search SchedulerDesk::find(const std::string& comment, const std::stop_token& stop) {
  const auto is_early = [&](const Memo& memo) {
    const auto before = memo.searches.find(comment);
    if (before == memo.searches.end()) return false;
    const auto passed = clock_.now() - before->second.last;
    return passed >= passed.zero() && passed < between_searches;
  };
  if (is_early(read())) return {};
  const execution::MachineTurn turn(turn_, turn_patience, clock_);
  Memo memo = read();
  if (is_early(memo)) return {};
  Search search{true, scheduler_.find(comment, stop)};
  std::erase_if(memo.searches,
                [&](const auto& entry) { return clock_.now() - entry.second.last > memory; });
  Asked& asked = memo.searches[comment];
  asked = {clock_.now(), asked.times + 1};
  if (search.job) memo.searches.erase(comment);
  write(memo);
  return search;
}

void SchedulerDesk::ask_for_accounts(Memo& memo,
                                     const std::vector<std::vector<std::string>>& groups,
                                     std::map<std::string, launch::JobUse>& uses,
                                     const std::stop_token& stop) {
  const base::WallTime now = clock_.now();
  const auto passed = [&](base::WallTime time) {
    return now < time ? std::chrono::nanoseconds::max() : now - time;
  };
  if (passed(memo.no_accounting) < without_accounting || passed(memo.accounted) < often) return;
  const auto is_due = [&](const std::string& task) {
    const auto row = memo.accounts.find(task);
    if (row == memo.accounts.end()) return true;
    const int doublings = std::clamp(row->second.times - 1, 0, most_doublings);
    return passed(row->second.last) >= first_accounts * (1 << doublings);
  };
  std::vector<std::string> due;
  for (const auto& group : groups) {
    if (std::all_of(group.begin(), group.end(), is_due))
      due.insert(due.end(), group.begin(), group.end());
  }
  if (due.empty()) return;
  launch::Accounting found = scheduler_.accounting(due, stop);
  uses = std::move(found.uses);
  memo.accounted = now;
  if (found.is_absent) memo.no_accounting = now;
  std::erase_if(memo.accounts,
                [&](const auto& entry) { return passed(entry.second.last) > memory; });
  const std::set<std::string> asked(due.begin(), due.end());
  for (const auto& group : groups) {
    const bool has_all = std::all_of(
        group.begin(), group.end(), [&](const auto& task) { return uses.contains(task); });
    for (const std::string& task : group) {
      if (!asked.contains(task)) continue;
      if (has_all) memo.accounts.erase(task);
      if (!has_all) memo.accounts[task] = {now, memo.accounts[task].times + 1};
    }
  }
  write(memo);
}

std::map<std::string, launch::JobUse> SchedulerDesk::accounting(
    const std::vector<std::vector<std::string>>& groups, const std::stop_token& stop) {
  std::map<std::string, launch::JobUse> uses;
  if (groups.empty() || scheduler_.description().accounting.empty()) return uses;
  const execution::MachineTurn turn(turn_, turn_patience, clock_);
  Memo memo = read();
  if (turn.is_held()) ask_for_accounts(memo, groups, uses, stop);
  return uses;
}

void SchedulerDesk::forget() {
  Memo memo = read();
  memo.asked = {};
  memo.first = {};
  memo.tasks.clear();
  write(memo);
}

}  // namespace sabath::batch
