#include "plots/labelled_lines.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>

namespace sabath::report {
namespace {

/// Limit of the counted sets: there may be more.
constexpr std::uint64_t countless = std::uint64_t{1} << 53U;
constexpr std::uint64_t largest_budget = 10'000;

using base::TextTable;

std::string changes_text(const spec::Explanation& explanation) {
  if (explanation.changes.empty()) return {};
  TextTable table({"can be changed", "A", "B"});
  const auto text = [](const std::string& value) { return value.empty() ? "(absent)" : value; };
  for (const spec::Change& change : explanation.changes)
    table.add({change.name, text(change.a), text(change.b)});
  return table.text() + "\n";
}

std::string text_of(const spec::ChangeNames& changes) {
  return fmt::format("{}", fmt::join(changes, ", "));
}

/// Notes: repeats another hybrid, made by an earlier call, why without verdict.
std::string note_of(const spec::Hybrid& hybrid, bool is_once_more) {
  const bool is_open =
      hybrid.verdict != spec::Verdict::pass && hybrid.verdict != spec::Verdict::fail;
  std::vector<std::string> notes;
  if (is_once_more) notes.emplace_back("once more");
  if (hybrid.reused) notes.emplace_back("made before");
  if (is_open) notes.push_back(hybrid.reason);
  return fmt::format("{}", fmt::join(notes, "; "));
}

std::string hybrids_text(const spec::Explanation& explanation) {
  if (explanation.hybrids.empty()) return {};
  TextTable table({"A with B's", "against A", "against B", "run", ""});
  std::set<spec::ChangeNames> seen;
  for (const spec::Hybrid& hybrid : explanation.hybrids) {
    table.add({hybrid.changes.empty() ? "(nothing: A again)" : text_of(hybrid.changes),
               std::string(spec::to_string(hybrid.verdict)),
               hybrid.against_b ? std::string(spec::to_string(*hybrid.against_b)) : "",
               hybrid.run,
               note_of(hybrid, !seen.insert(hybrid.changes).second)});
  }
  return table.text() + "\n";
}

std::string reservation_of(const spec::SufficientChanges& sufficient) {
  std::string text = sufficient.minimal ? "" : "a part of these may be enough";
  if (!sufficient.confirmed) text += std::string(text.empty() ? "" : "; ") + "not made once more";
  return text.empty() ? text : " (" + text + ")";
}

std::string smallest_text(const std::vector<spec::ChangeNames>& sets, std::uint64_t count) {
  constexpr std::size_t most = 5;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(sets.size(), most); ++i)
    texts.push_back(sets[i].empty() ? "A again" : text_of(sets[i]));
  if (texts.empty()) return ", not listed";
  std::string text = fmt::format(": {}", fmt::join(texts, "; "));
  if (count >= countless) return text + "; the others are not listed";
  if (count == texts.size()) return text;
  return fmt::format("{}; {} more not listed", text, count - texts.size());
}

/// "1 run", "5 runs", "more than 10^15 runs"
std::string counted(std::uint64_t count, std::string_view one, std::string_view many) {
  if (count >= countless) return fmt::format("more than 10^15 {}", many);
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

std::uint64_t enough_runs(const spec::UntriedChanges& untried) {
  return std::max(untried.runs, untried.most_runs);
}

std::string runs_text(const spec::UntriedChanges& untried) {
  const std::uint64_t runs = enough_runs(untried);
  return (runs >= countless ? "perhaps " : "at most ") + counted(runs, "run", "runs");
}

/// ", about 9.6 s" for these runs; empty: unknown, or useless.
std::string duration_text(const spec::UntriedChanges& untried) {
  // In nanoseconds 292 years are all that there is.
  constexpr double most_seconds = 100.0 * 365 * 24 * 3600;
  if (!untried.seconds || untried.runs == 0) return {};
  const double of_all = *untried.seconds / static_cast<double>(untried.runs) *
                        static_cast<double>(enough_runs(untried));
  if (of_all > most_seconds) return {};
  return ", about " + base::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(
                          std::chrono::duration<double>(of_all)));
}

void add_untried(LabelledLines& lines, const spec::Explanation& explanation) {
  const spec::UntriedChanges& untried = explanation.untried;
  if (untried.runs == 0) return;
  if (untried.sets > 0) {
    lines.add("not tried",
              counted(untried.sets, "set of changes", "sets of changes") +
                  smallest_text(untried.smallest, untried.sets));
  }
  const std::uint64_t budget = enough_runs(untried);
  const char* const other = explanation.assumed.empty() ? "; --assume-monotone needs fewer" : "";
  const std::string how = budget <= largest_budget
                              ? fmt::format("the same command with --budget {}", budget)
                              : fmt::format("too many for one command{}", other);
  lines.add("to try", runs_text(untried) + duration_text(untried) + ": " + how);
}

std::string_view label_of(const spec::Explanation& explanation) {
  if (explanation.complete) return explanation.sufficient.size() > 1 ? "CAUSES" : "CAUSE";
  return explanation.sufficient.empty() ? "no cause" : "INCOMPLETE";
}

std::string necessary_text(const spec::Explanation& explanation) {
  if (explanation.necessary) {
    return explanation.necessary->empty() ? "none: no change is in every sufficient set"
                                          : text_of(*explanation.necessary);
  }
  constexpr std::size_t most = 3;
  std::vector<std::string> failed;
  for (std::size_t i = 0; i < std::min(explanation.failed.size(), most); ++i)
    failed.push_back(text_of(explanation.failed[i]));
  const std::size_t more = explanation.failed.size() - failed.size();
  return fmt::format("unknown, since A failed with {}{}; in every sufficient set that is known: {}",
                     fmt::join(failed, "; "),
                     more == 0 ? "" : fmt::format("; {} more", more),
                     text_of(explanation.maybe_necessary.value_or(spec::ChangeNames())));
}

std::string foot_text(const spec::Explanation& explanation) {
  LabelledLines foot(12);
  for (const spec::SufficientChanges& sufficient : explanation.sufficient)
    foot.add("sufficient", text_of(sufficient.changes) + reservation_of(sufficient));
  if (explanation.complete) foot.add("necessary", necessary_text(explanation));
  for (const spec::ChangeNames& set : explanation.masking)
    foot.add("masked", text_of(set) + ": agree with A, although some of these do not");
  for (const spec::ChangeNames& set : explanation.failed)
    foot.add("no result", text_of(set));
  for (const spec::ChangeNames& set : explanation.unresolved)
    foot.add("no verdict", text_of(set));
  add_untried(foot, explanation);
  foot.add(label_of(explanation), explanation.reason);
  return foot.text();
}

}  // namespace

std::string explanation_text(const spec::Explanation& explanation) {
  LabelledLines head(12);
  head.add("A", explanation.a);
  head.add("B", explanation.b);
  head.add("RESULT", "{}: {}", spec::to_string(explanation.verdict), explanation.verdict_reason);
  for (const std::string& impossible : explanation.impossible)
    head.add("not made", impossible);
  head.gap();
  return head.text() + changes_text(explanation) + hybrids_text(explanation) +
         foot_text(explanation);
}

}  // namespace sabath::report
