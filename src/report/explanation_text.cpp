#include "labelled_lines.hpp"

#include <sabath/base/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

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

/// Why there is no verdict, and whether it was made before.
std::string note_of(const spec::Hybrid& hybrid) {
  const bool is_open =
      hybrid.verdict != spec::Verdict::pass && hybrid.verdict != spec::Verdict::fail;
  std::string note = hybrid.reused ? "made before" : "";
  if (is_open) note += (note.empty() ? "" : "; ") + hybrid.reason;
  return note;
}

std::string hybrids_text(const spec::Explanation& explanation) {
  if (explanation.hybrids.empty()) return {};
  TextTable table({{"A with B's", Align::left},
                   {"against A", Align::left},
                   {"run", Align::left},
                   {"", Align::left}});
  for (const spec::Hybrid& hybrid : explanation.hybrids) {
    table.add({hybrid.changes.empty() ? "(nothing: A again)"
                                      : fmt::format("{}", fmt::join(hybrid.changes, ", ")),
               std::string(spec::to_string(hybrid.verdict)),
               hybrid.run,
               note_of(hybrid)});
  }
  return table.text() + "\n";
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
  LabelledLines foot(12);
  foot.add(explanation.cause.empty() ? "no cause" : "CAUSE", explanation.reason);
  return head.text() + changes_text(explanation) + hybrids_text(explanation) + foot.text();
}

}  // namespace sabath::report
