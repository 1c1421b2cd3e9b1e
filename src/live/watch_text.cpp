#include <sabath/base/text/text_table.hpp>
#include <sabath/live/study_text.hpp>
#include <sabath/live/watch_text.hpp>

#include <algorithm>
#include <map>

namespace sabath::live {
namespace {

using spec::RunState;

std::string detail_of(const batch::WatchedRun& run) {
  const std::string text = base::printable(run.detail);
  return run.is_stuck ? text + stays_so : text;
}

/// What most of those that are planned wait for.
std::string usual_reason(const std::vector<batch::WatchedRun>& runs) {
  std::map<std::string, std::size_t> reasons;
  for (const batch::WatchedRun& run : runs) {
    if (run.state == RunState::planned && !run.detail.empty()) ++reasons[detail_of(run)];
  }
  const auto most =
      std::ranges::max_element(reasons, {}, [](const auto& reason) { return reason.second; });
  return most == reasons.end() ? "" : most->first;
}

std::string rows_text(const std::vector<batch::WatchedRun>& runs, bool every) {
  base::TextTable table({"run", "state", ""});
  std::size_t rows = 0;
  std::size_t left = 0;
  const auto add = [&](const batch::WatchedRun& run) {
    if (!every && rows >= most_rows) {
      ++left;
      return;
    }
    ++rows;
    table.add({run.run_id, std::string(spec::to_string(run.state)), detail_of(run)});
  };
  const std::string usual = usual_reason(runs);
  const auto stands_out = [&](const batch::WatchedRun& run) {
    return !every && run.is_stuck && detail_of(run) != usual;
  };
  for (const batch::WatchedRun& run : runs) {
    if (stands_out(run)) add(run);
  }
  for (const batch::WatchedRun& run : runs) {
    const bool odd = run.state != RunState::ok && run.state != RunState::planned;
    const bool is_shown = every || odd || runs.size() == 1;
    if (is_shown && !stands_out(run)) add(run);
  }
  if (table.empty()) return "";
  return table.text() + (left > 0 ? "... and " + std::to_string(left) + " more\n" : "");
}

}  // namespace

std::string counts_line(const std::vector<batch::WatchedRun>& runs, std::size_t left) {
  std::map<RunState, std::size_t> counts;
  for (const batch::WatchedRun& run : runs)
    ++counts[run.state];
  return counts_line(counts, usual_reason(runs), left);
}

std::string watch_text(const std::vector<batch::WatchedRun>& runs,
                       bool every,
                       const WatchedStudies& whole) {
  std::map<std::string, std::vector<batch::WatchedRun>> studies;
  for (const batch::WatchedRun& run : runs)
    studies[run.study].push_back(run);
  for (const WatchedStudy& study : whole)
    studies[study.id];
  std::string text;
  for (const auto& [study, members] : studies) {
    if (study.empty()) {
      text += rows_text(members, true);
      continue;
    }
    const auto found = std::ranges::find(whole, study, &WatchedStudy::id);
    const std::size_t left = found == whole.end() ? 0 : not_run(*found, members);
    // Without the whole study these are some of its runs.
    text += std::string(found == whole.end() ? "of study " : "study ") + base::printable(study) +
            ": " + counts_line(members, left) + "\n" + rows_text(members, every);
    if (left > 0 && !found->is_driven) {
      text += std::to_string(left) + " of " + std::to_string(found->points) +
              " runs were not run: sabath run --resume " + base::printable(study) + "\n";
    }
  }
  return text;
}

}  // namespace sabath::live
