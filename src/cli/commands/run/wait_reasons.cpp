#include "wait_reasons.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

namespace sabath::cli {
namespace {

using Waiting = std::map<std::string, std::vector<const batch::WatchedRun*>>;

/// A scheduler may have a text of its own for each job.
constexpr std::size_t most_reasons = 3;
/// Schedulers go to and fro between some of their reasons.
constexpr std::chrono::minutes between_reasons{1};

/// Of the reasons that were reported.
constexpr std::size_t most_known = 1000;

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
  std::ranges::stable_sort(counts, [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (std::size_t i = 0; i < std::min(counts.size(), most_reasons); ++i)
    text += (i == 0 ? " " : ", ") + std::to_string(counts[i].first) + " " + counts[i].second;
  if (counts.size() > most_reasons)
    text += ", and " + std::to_string(counts.size() - most_reasons) + " other reasons";
  return std::to_string(all) + " runs wait:" + text;
}

/// What ends them: their studies, and the runs that are of none.
std::string cancel_command(const Waiting& waiting) {
  std::set<std::string> names;
  for (const auto& [reason, runs] : waiting) {
    for (const batch::WatchedRun* run : runs)
      names.insert(run->study.empty() ? run->run_id : run->study);
  }
  return fmt::format("sabath cancel {}", fmt::join(names, " "));
}

}  // namespace

std::string kind_of_reason(const std::string& reason) {
  std::string kind;
  for (const char c : reason) {
    const bool is_digit = c >= '0' && c <= '9';
    if (!is_digit || kind.empty() || kind.back() != '0') kind += is_digit ? '0' : c;
  }
  return kind;
}

void WaitReasons::tell(const std::vector<batch::WatchedRun>& runs) {
  Waiting waiting;
  std::map<std::string, Waiting> stuck;
  for (const batch::WatchedRun& run : runs) {
    if (!run.goes_on() || run.waits_for.empty()) continue;
    Waiting& its = run.is_stuck ? stuck[kind_of_reason(run.waits_for)] : waiting;
    its[run.waits_for].push_back(&run);
  }
  for (const auto& [kind, reasons] : stuck) {
    if (!warned_.insert(kind).second) continue;
    workspace_.observer().warn(reasons_text(reasons) + stays_so,
                               "'" + cancel_command(reasons) +
                                   "' ends what cannot start; where the reason is a limit, lower "
                                   "\"resources\" of the site (time, cpus, nodes, memory), or "
                                   "change its \"request\"");
  }
  std::set<std::string> reasons;
  for (const auto& [reason, members] : waiting)
    reasons.insert(kind_of_reason(reason));
  const bool is_known =
      runs.size() == 1 ? reasons == told_
                       : std::includes(told_.begin(), told_.end(), reasons.begin(), reasons.end());
  const base::SteadyTime now = workspace_.clock().steady();
  if (reasons.empty() || is_known || (last_ && now - *last_ < between_reasons)) return;
  last_ = now;
  workspace_.observer().note(reasons_text(waiting));
  if (runs.size() == 1 || told_.size() > most_known) told_.clear();
  told_.merge(reasons);
}

}  // namespace sabath::cli
