#include "wait_reasons.hpp"

#include <sabath/base/text_table.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace sabath::cli {
namespace {

using Waiting = std::map<std::string, std::vector<const app::WatchedRun*>>;

/// A scheduler may have a text of its own for each job.
constexpr std::size_t most_reasons = 3;
/// Schedulers go to and fro between some of their reasons.
constexpr std::chrono::minutes between_reasons{1};

/// "run X waits: PENDING (Resources)", "13 runs wait: 12 PENDING (Priority), 1 PENDING
/// (Resources)".
std::string reasons_text(const Waiting& waiting) {
  std::vector<std::pair<std::size_t, std::string>> counts;
  std::size_t all = 0;
  for (const auto& [reason, runs] : waiting) {
    counts.emplace_back(runs.size(), base::printable(reason));
    all += runs.size();
  }
  if (all == 1)
    return "run " + waiting.begin()->second.front()->run_id + " waits: " + counts.front().second;
  std::stable_sort(
      counts.begin(), counts.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), most_reasons); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(counts[i].first) + " " + counts[i].second;
  if (counts.size() > most_reasons)
    text += ", and " + std::to_string(counts.size() - most_reasons) + " other reasons";
  return std::to_string(all) + " runs wait:" + text;
}

/// What ends them: their studies, and the runs that are of none.
std::string cancel_command(const std::vector<const app::WatchedRun*>& runs) {
  std::set<std::string> names;
  for (const app::WatchedRun* run : runs)
    names.insert(run->study.empty() ? run->run_id : run->study);
  std::string command = "sabath cancel";
  for (const std::string& name : names)
    command += " " + name;
  return command;
}

}  // namespace

void WaitReasons::tell(const std::vector<app::WatchedRun>& runs) {
  Waiting waiting;
  Waiting stuck;
  for (const app::WatchedRun& run : runs) {
    if (!run.goes_on() || run.waits_for.empty()) continue;
    (run.is_stuck ? stuck : waiting)[run.waits_for].push_back(&run);
  }
  for (const auto& [reason, members] : stuck) {
    if (!warned_.insert(reason).second) continue;
    workspace_.observer().warn(
        reasons_text({{reason, members}}) + ", which as a rule does not pass by itself",
        "'" + cancel_command(members) + "' ends what cannot start");
  }
  std::set<std::string> reasons;
  for (const auto& [reason, members] : waiting)
    reasons.insert(reason);
  const bool is_known =
      runs.size() == 1 ? reasons == told_
                       : std::includes(told_.begin(), told_.end(), reasons.begin(), reasons.end());
  const base::SteadyTime now = workspace_.clock().steady();
  if (reasons.empty() || is_known || (last_ && now - *last_ < between_reasons)) return;
  last_ = now;
  workspace_.observer().note(reasons_text(waiting));
  if (runs.size() == 1) told_.clear();
  told_.merge(reasons);
}

}  // namespace sabath::cli
