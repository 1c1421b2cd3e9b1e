#include "dated_folder.hpp"
#include "machine_turn.hpp"

#include <sabath/app/scheduler_desk.hpp>
#include <sabath/base/digest.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>

namespace sabath::app {
namespace {

using nlohmann::json;
using spec::JobPhase;
using std::chrono::seconds;

constexpr seconds often{5};
constexpr seconds seldom{10};
constexpr seconds short_wait{60};
/// A scheduler that takes longer is not waited for by all.
constexpr seconds turn_patience{3};
/// What nobody wanted to know for so long is not asked about for others.
constexpr seconds stale{600};
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
      view.view = {static_cast<spec::JobPhase>(row.at(0).get<int>()),
                   row.at(1).get<std::string>(),
                   row.at(2).get<std::string>()};
      if (view.view.phase < JobPhase::pending || view.view.phase > JobPhase::unknown) return {};
      view.since = time_of(row.at(3));
      view.wanted = time_of(row.at(4));
    }
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
      tasks[task] = {static_cast<int>(row.view.phase),
                     row.view.state,
                     row.view.reason,
                     text_of(row.since),
                     text_of(row.wanted)};
    }
    base::make_directories(file_.parent_path());
    const json document = {
        {"asked", text_of(memo.asked)}, {"first", text_of(memo.first)}, {"tasks", tasks}};
    const std::string text = document.dump(-1, ' ', false, json::error_handler_t::replace);
    base::write_file_atomically(file_, text, base::Durability::ordered_only, 0600);
  } catch (const std::exception&) {
    return;  // the next command asks again
  }
}

bool SchedulerDesk::is_due(const Memo& memo, const std::vector<std::string>& tasks) const {
  const base::WallTime now = clock_.now();
  if (now < memo.asked) return true;  // the clock was set back
  const auto pause = now - memo.first < short_wait ? often : seldom;
  // Up to a fifth later, by chance.
  const auto late = pause / 5 * (random_bits() % 1000) / 1000.0;
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
      const bool same = row.since != base::WallTime{} && row.view.phase == view.phase;
      if (!same) row.since = now;
      row.view = std::move(view);
    }
    for (const std::string& task : tasks)
      memo.tasks[task].wanted = now;
    std::erase_if(memo.tasks, [&](const auto& entry) {
      return now - entry.second.since > memory && now - entry.second.wanted > stale;
    });
    told_.clear();
  } catch (const base::Error& error) {
    if (error.kind() == base::ErrorKind::interrupted) throw;
    if (told_ != error.what()) {
      observer_.warn(error.what(), "what it said before is shown; it is asked again");
      told_ = error.what();
    }
  }
  memo.asked = clock_.now();
  write(memo);
}

std::map<std::string, TaskView> SchedulerDesk::views(const std::vector<std::string>& tasks,
                                                     const std::stop_token& stop) {
  if (tasks.empty()) return {};
  Memo memo = read();
  if (is_due(memo, tasks)) {
    // Who comes while another asks takes its answer; one that does not come is not waited for.
    const MachineTurn turn(turn_, turn_patience, clock_);
    memo = read();
    if (turn.is_held() && is_due(memo, tasks)) ask(memo, tasks, stop);
  }
  std::map<std::string, TaskView> found;
  for (const std::string& task : tasks) {
    const auto row = memo.tasks.find(task);
    if (row != memo.tasks.end()) found.emplace(task, row->second);
  }
  return found;
}

void SchedulerDesk::forget() {
  Memo memo = read();
  memo.asked = {};
  memo.first = {};
  memo.tasks.clear();
  write(memo);
}

}  // namespace sabath::app
