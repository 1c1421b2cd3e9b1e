#include "escape.hpp"

#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <string_view>

namespace sabath::report {
namespace {

using spec::CheckCase;
using spec::CheckGroup;
using spec::Expectation;

constexpr std::size_t longest_text = 4000;

std::string plain(std::string_view text) {
  return markdown_text(text, longest_text);
}

std::string verdict_cell(const CheckCase& one) {
  const std::string verdict(to_string(one.verdict));
  if (one.expectation == Expectation::none) return verdict;
  return fmt::format("{} ({})", verdict, to_string(one.expectation));
}

std::string group_markdown(const CheckGroup& group, const std::string& title) {
  std::string text = "\n### " + plain(title);
  text += fmt::format("\n\n{} run{} against {}\n",
                      group.runs.size(),
                      group.runs.size() == 1 ? "" : "s",
                      plain(group.against));
  for (const std::string& note : group.notes)
    text += fmt::format("\n- {}", plain(note));
  text += "\n\n| verdict | | what | why |\n|---|---|---|---|\n";
  for (const CheckCase& one : group.cases) {
    const bool is_good_run = one.kind == spec::CaseKind::run && one.verdict == spec::Verdict::pass;
    if (is_good_run) continue;
    text += fmt::format("| {} | {} | {} | {} |\n",
                        verdict_cell(one),
                        to_string(one.kind),
                        plain(one.name),
                        plain(one.reason));
  }
  return text;
}

}  // namespace

std::string check_markdown(const spec::CheckReport& report) {
  std::string text = fmt::format("## sabath check {}: {}\n\n{}\n\n",
                                 plain(report.what),
                                 to_string(report.verdict),
                                 plain(report.reason));
  if (report.result) text += fmt::format("RESULT **{}**; ", to_string(*report.result));
  if (report.performance)
    text += fmt::format("PERFORMANCE **{}**; ", to_string(*report.performance));
  text += counts_text(report) + "\n";
  for (const std::string& note : report.notes)
    text += "\n" + plain(note) + "\n";
  const std::vector<std::string> titles = group_titles(report);
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    text += group_markdown(report.groups[i], titles[i]);
  return text;
}

}  // namespace sabath::report
