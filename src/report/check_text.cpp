#include "labelled_lines.hpp"

#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace sabath::report {
namespace {

using spec::CheckCase;
using spec::CheckGroup;
using spec::Expectation;
using spec::Verdict;

constexpr std::size_t label_width = 16;
constexpr std::size_t columns = 100;

std::string label_of(const CheckCase& one) {
  if (one.expectation == Expectation::expected_failure) return "FAIL (known)";
  return std::string(to_string(one.verdict));
}

std::string case_text(const CheckCase& one) {
  std::string text = one.name;
  if (one.kind == spec::CaseKind::performance) text += " (performance)";
  if (!one.reason.empty()) text += ": " + one.reason;
  return text;
}

void add_group(const CheckGroup& group, LabelledLines& lines) {
  lines.gap();
  lines.add("runs",
            fmt::format("{}: {} against {}",
                        group_title(group),
                        group.runs.empty() ? "none" : std::to_string(group.runs.size()),
                        group.against));
  for (const std::string& note : group.notes)
    lines.add("note", note);
  for (const CheckCase& one : group.cases) {
    const bool is_good_run = one.kind == spec::CaseKind::run && one.verdict == Verdict::pass;
    if (!is_good_run) lines.add(label_of(one), case_text(one));
  }
}

}  // namespace

std::string group_title(const CheckGroup& group) {
  std::string text = group.recipe;
  if (!group.of.site.empty()) text += " at " + group.of.site;
  if (!group.of.device.empty()) text += ", " + group.of.device;
  return text;
}

std::string counts_text(const spec::CheckReport& report) {
  std::string text;
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count > 0) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, what);
  };
  add(report.count(Verdict::fail), "failed");
  add(report.count(Verdict::not_comparable), "not comparable");
  add(report.count(Verdict::inconclusive), "inconclusive");
  const std::uint64_t known = report.count(Expectation::expected_failure);
  add(report.count(Verdict::pass) - known, "passed");
  add(known, "failed as expected");
  add(report.count(Expectation::unexpected_pass),
      "of them passed although they were expected to fail");
  return text.empty() ? "nothing was judged" : text;
}

std::string check_text(const spec::CheckReport& report) {
  LabelledLines lines(label_width, columns);
  lines.add("check", fmt::format("{}: {}", to_string(report.verdict), report.reason));
  if (report.result) lines.add("RESULT", to_string(*report.result));
  if (report.performance) lines.add("PERFORMANCE", to_string(*report.performance));
  lines.add("cases", counts_text(report));
  lines.add("baseline", report.baseline);
  for (const std::string& note : report.notes)
    lines.add("note", note);
  for (const CheckGroup& group : report.groups)
    add_group(group, lines);
  return lines.text();
}

}  // namespace sabath::report
