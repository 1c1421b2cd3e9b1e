#include "labelled_lines.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <set>

namespace sabath::report {
namespace {

using base::Align;
using base::TextTable;

std::string changes_text(const spec::Explanation& explanation) {
  if (explanation.changes.empty()) return {};
  TextTable table({{"can be changed", Align::left}, {"A", Align::left}, {"B", Align::left}});
  for (const spec::Change& change : explanation.changes)
    table.add({change.name, change.a, change.b});
  return table.text() + "\n";
}

std::string text_of(const spec::ChangeNames& changes) {
  return fmt::format("{}", fmt::join(changes, ", "));
}

/// Whether it repeats another hybrid, was made by an earlier call, and why it has no verdict.
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
  TextTable table({{"A with B's", Align::left},
                   {"against A", Align::left},
                   {"against B", Align::left},
                   {"run", Align::left},
                   {"", Align::left}});
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

/// Where it is not shown that a set is sufficient, and no part of it.
std::string reservation_of(const spec::SufficientChanges& sufficient) {
  std::string text = sufficient.minimal ? "" : "a part of these may be enough";
  if (!sufficient.confirmed) text += std::string(text.empty() ? "" : "; ") + "not made once more";
  return text.empty() ? text : " (" + text + ")";
}

/// The smallest of the sets, and how many there are besides.
std::string smallest_text(const std::vector<spec::ChangeNames>& sets, std::uint64_t count) {
  constexpr std::size_t most = 5;
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < std::min(sets.size(), most); ++i)
    texts.push_back(sets[i].empty() ? "A again" : text_of(sets[i]));
  std::string text = fmt::format("{}", fmt::join(texts, "; "));
  if (count > texts.size()) text += fmt::format("; and {} more", count - texts.size());
  return text;
}

std::string count_text(std::uint64_t count) {
  constexpr std::uint64_t countless = std::uint64_t{1} << 53U;
  return count < countless ? std::to_string(count) : "more than 10^15";
}

void add_untried(LabelledLines& lines, const spec::UntriedChanges& untried) {
  if (untried.runs == 0) return;
  if (untried.sets > 0) {
    lines.add("not tried",
              fmt::format("{} sets of changes: {}",
                          count_text(untried.sets),
                          smallest_text(untried.smallest, untried.sets)));
  }
  std::string cost = fmt::format("{} runs", count_text(untried.runs));
  // In nanoseconds 292 years are all that there is.
  constexpr double most_seconds = 100.0 * 365 * 24 * 3600;
  if (untried.seconds && *untried.seconds < most_seconds) {
    const std::chrono::duration<double> seconds(*untried.seconds);
    cost += ", about " +
            base::format_duration(std::chrono::duration_cast<std::chrono::nanoseconds>(seconds));
  }
  lines.add("to try",
            fmt::format("{}: the same command with --budget {}", cost, count_text(untried.runs)));
}

std::string_view label_of(const spec::Explanation& explanation) {
  if (explanation.complete) return explanation.sufficient.size() > 1 ? "CAUSES" : "CAUSE";
  return explanation.sufficient.empty() ? "no cause" : "INCOMPLETE";
}

std::string foot_text(const spec::Explanation& explanation) {
  LabelledLines foot(12);
  for (const spec::SufficientChanges& sufficient : explanation.sufficient)
    foot.add("sufficient", text_of(sufficient.changes) + reservation_of(sufficient));
  if (explanation.complete) {
    foot.add("necessary",
             explanation.necessary.empty() ? "none: no change is in every sufficient set"
                                           : text_of(explanation.necessary));
  }
  for (const spec::ChangeNames& set : explanation.masking)
    foot.add("masked", text_of(set) + ": agree with A, although some of these do not");
  for (const spec::ChangeNames& set : explanation.failed)
    foot.add("no result", text_of(set));
  for (const spec::ChangeNames& set : explanation.unresolved)
    foot.add("no verdict", text_of(set));
  add_untried(foot, explanation.untried);
  foot.add(label_of(explanation), explanation.reason);
  return foot.text();
}

}  // namespace

std::string explanation_text(const spec::Explanation& explanation) {
  LabelledLines head(12);
  head.add("A", explanation.a);
  head.add("B", explanation.b);
  head.add("RESULT",
           fmt::format("{}: {}", spec::to_string(explanation.verdict), explanation.verdict_reason));
  for (const std::string& impossible : explanation.impossible)
    head.add("not made", impossible);
  head.gap();
  return head.text() + changes_text(explanation) + hybrids_text(explanation) +
         foot_text(explanation);
}

}  // namespace sabath::report
