#include "escape.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

using spec::CaseFigures;
using spec::CaseKind;
using spec::CheckCase;
using spec::CheckGroup;
using spec::Expectation;
using spec::Verdict;

/// GitHub counts characters, and a character has at least one byte.
constexpr std::size_t longest_comment = 65'536;
/// Room for tables and notes; the rest is for the folded reasons.
constexpr std::size_t room_of_tables = 44'000;
constexpr std::size_t room_of_reasons = longest_comment - 1'000;
constexpr std::size_t longest_reason = 2'000;
constexpr std::size_t longest_cell = 120;
constexpr std::size_t most_notes = 10;

/// A text that ends before it is too long, and counts what did not fit.
class CommentText {
 public:
  /// Adds a part if it fits into `room` bytes. Returns whether it did.
  bool add(const std::string& part, std::size_t room) {
    if (text_.size() + part.size() > room) return false;
    text_ += part;
    return true;
  }
  std::string text() const {
    std::string cut;
    const auto tell = [&](std::size_t count, const char* what) {
      if (count > 0) cut += (cut.empty() ? "" : ", ") + base::counted(count, what);
    };
    tell(metrics_cut, "row");
    tell(reasons_cut, "reason");
    tell(notes_cut, "note");
    if (cut.empty()) return text_;
    return text_ + fmt::format(
                       "\nCut, because a comment has at most {} characters: {}. "
                       "The reports of `--junit` and `--json` have all.\n",
                       longest_comment,
                       cut);
  }

  std::size_t metrics_cut = 0;
  std::size_t reasons_cut = 0;
  std::size_t notes_cut = 0;

 private:
  std::string text_{};
};

std::string cell(const std::string& text) {
  return text.empty() ? "–" : comment_text(text, longest_cell);
}

std::string verdict_cell(const CheckCase& one) {
  const std::string verdict(to_string(one.verdict));
  if (one.expectation == Expectation::none)
    return one.verdict == Verdict::pass ? verdict : "**" + verdict + "**";
  return fmt::format("{} ({})", verdict, to_string(one.expectation));
}

std::string case_name(const CheckCase& one) {
  std::string name = one.judge ? fmt::format("{} ({})", one.name, *one.judge) : one.name;
  if (one.kind == CaseKind::performance) name += " (performance)";
  return name;
}

bool is_good_run(const CheckCase& one) {
  return one.kind == CaseKind::run && one.verdict == Verdict::pass;
}

void add_notes(const std::vector<std::string>& notes, CommentText& comment) {
  if (!notes.empty()) comment.add("\n", room_of_tables);
  for (std::size_t i = 0; i < notes.size(); ++i) {
    const bool is_added =
        i < most_notes &&
        comment.add("- " + comment_text(notes[i], longest_reason) + "\n", room_of_tables);
    if (!is_added) ++comment.notes_cut;
  }
}

std::string metric_row(const CheckCase& one) {
  const CaseFigures figures = one.figures.value_or(CaseFigures{});
  return fmt::format("| {} | {} | {} | {} | {} | {} |\n",
                     cell(case_name(one)),
                     cell(figures.baseline),
                     cell(figures.now),
                     cell(figures.difference),
                     cell(figures.limit),
                     verdict_cell(one));
}

void add_table(const CheckGroup& group,
               const std::string& title,
               const std::string& reference,
               CommentText& comment) {
  const std::string head = "\n### " + comment_text(title) + "\n\n" +
                           base::counted(group.runs.size(), "run") + " against " +
                           comment_text(group.against) + "\n";
  const std::string columns = fmt::format(
      "\n| metric | {} | now | difference | limit | verdict |\n|---|---|---|---|---|---|\n",
      reference);
  const bool fits = comment.add(head, room_of_tables);
  if (fits) add_notes(group.notes, comment);
  const bool has_rows = !std::ranges::all_of(group.cases, is_good_run);
  bool has_room = fits && has_rows && comment.add(columns, room_of_tables);
  for (const CheckCase& one : group.cases) {
    if (is_good_run(one)) continue;
    has_room = has_room && comment.add(metric_row(one), room_of_tables);
    if (!has_room) ++comment.metrics_cut;
  }
}

std::string reason_row(const CheckCase& one, const std::string& title) {
  return fmt::format("| {} | {} | {} | {} | {} |\n",
                     cell(title),
                     cell(case_name(one)),
                     cell(one.test),
                     verdict_cell(one),
                     comment_text(one.reason, longest_reason));
}

void add_reasons(const spec::CheckReport& report,
                 const std::vector<std::string>& titles,
                 CommentText& comment) {
  constexpr std::size_t room_of_end = 20;  // the end of the folded part
  const std::string head =
      "\n<details><summary>Reasons and statistics</summary>\n\n"
      "| of | what | test | verdict | why |\n|---|---|---|---|---|\n";
  const bool fits = comment.add(head, room_of_reasons);
  bool has_room = fits;
  for (std::size_t i = 0; i < report.groups.size(); ++i) {
    for (const CheckCase& one : report.groups[i].cases) {
      if (is_good_run(one)) continue;
      has_room = has_room && comment.add(reason_row(one, titles[i]), room_of_reasons - room_of_end);
      if (!has_room) ++comment.reasons_cut;
    }
  }
  if (fits) comment.add("\n</details>\n", room_of_reasons);
}

std::string verdict_lines(const spec::CheckReport& report) {
  std::string text = fmt::format("## {}: {}\n\n**Reason:** {}\n\n",
                                 to_string(report.verdict),
                                 comment_text(report.what),
                                 comment_text(report.reason, longest_reason));
  if (report.result) text += fmt::format("RESULT **{}**; ", to_string(*report.result));
  if (report.performance)
    text += fmt::format("PERFORMANCE **{}**; ", to_string(*report.performance));
  text += counts_text(report);
  const std::string test = judged_by(report);
  if (!test.empty()) text += "; judged by " + test;
  text += "\n";
  if (report.runs) text += "\nRuns: " + comment_text(spec::count_text(*report.runs)) + "\n";
  if (!report.baseline.empty())
    text += "\nBaseline: <code>" + comment_text(report.baseline) + "</code>\n";
  return text;
}

}  // namespace

std::string judged_by(const spec::CheckReport& report) {
  std::optional<spec::Rung> weakest;
  bool has_bounds = false;
  bool has_statistics = false;
  bool has_performance = false;
  for (const CheckGroup& group : report.groups) {
    for (const CheckCase& one : group.cases) {
      if (one.kind == CaseKind::performance) has_performance = true;
      if (one.kind != CaseKind::result || one.test.empty()) continue;
      if (const auto rung = spec::parse_enum<spec::Rung>(one.test)) {
        weakest = std::min(weakest.value_or(*rung), *rung);
      } else if (one.test == "reviewed bounds") {
        has_bounds = true;
      } else {
        has_statistics = true;
      }
    }
  }
  if (has_statistics) return "statistics";
  if (has_bounds) return "bounds";
  if (weakest) return std::string(to_string(*weakest));
  return has_performance ? "performance" : "";
}

std::string check_markdown(const spec::CheckReport& report) {
  CommentText comment;
  comment.add(verdict_lines(report), longest_comment);
  add_notes(report.notes, comment);
  const std::vector<std::string> titles = group_titles(report);
  const std::string reference = report.baseline.empty() ? "first run" : "baseline";
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    add_table(report.groups[i], titles[i], reference, comment);
  const bool has_reasons = std::ranges::any_of(report.groups, [](const CheckGroup& group) {
    return !std::ranges::all_of(group.cases, is_good_run);
  });
  if (has_reasons) add_reasons(report, titles, comment);
  return comment.text();
}

}  // namespace sabath::report
