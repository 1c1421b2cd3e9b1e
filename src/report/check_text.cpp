#include "plots/labelled_lines.hpp"

#include <sabath/report/check.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>

namespace sabath::report {
namespace {

using spec::CheckCase;
using spec::CheckGroup;
using spec::Expectation;
using spec::Verdict;

constexpr std::size_t check_label_width = 16;
constexpr std::size_t check_columns = 100;

std::string label_of(const CheckCase& one) {
  if (one.expectation == Expectation::expected_failure) return "FAIL (known)";
  return std::string(to_string(one.verdict));
}

std::string name_of(const CheckCase& one) {
  return one.judge ? fmt::format("{} ({})", one.name, *one.judge) : one.name;
}

std::string case_text(const CheckCase& one) {
  std::string text = name_of(one);
  if (one.kind == spec::CaseKind::performance) text += " (performance)";
  if (!one.reason.empty()) text += ": " + one.reason;
  return text;
}

void add_group(const CheckGroup& group, const std::string& title, LabelledLines& lines) {
  lines.gap();
  lines.add("runs",
            "{}: {} against {}",
            title,
            group.runs.empty() ? "none" : std::to_string(group.runs.size()),
            group.against);
  for (const std::string& note : group.notes)
    lines.add("note", note);
  for (const CheckCase& one : group.cases) {
    const bool is_good_run = one.kind == spec::CaseKind::run && one.verdict == Verdict::pass;
    if (!is_good_run) lines.add(label_of(one), case_text(one));
  }
}

/// Parameters that differ between groups of this recipe, or that some lack.
std::set<std::string> shown_parameters(const spec::CheckReport& report, const std::string& recipe) {
  std::map<std::string, std::set<std::string>> values;
  std::size_t groups = 0;
  std::map<std::string, std::size_t> counts;
  for (const CheckGroup& group : report.groups) {
    if (group.recipe != recipe) continue;
    ++groups;
    for (const auto& [name, value] : group.of.parameters) {
      values[name].insert(spec::to_string(value));
      ++counts[name];
    }
  }
  std::set<std::string> shown;
  for (const auto& [name, distinct] : values) {
    if (distinct.size() > 1 || counts[name] < groups) shown.insert(name);
  }
  return shown;
}

std::string title_of(const CheckGroup& group, const std::set<std::string>& parameters) {
  std::string text = group.recipe;
  if (!group.of.task.empty()) text += ", task " + group.of.task;
  for (const auto& [name, value] : group.of.parameters) {
    if (parameters.contains(name))
      text += ", " + name + "=" + spec::shown_text(spec::to_string(value));
  }
  if (!group.of.site.empty()) text += " at " + group.of.site;
  if (!group.of.device.empty()) text += ", " + group.of.device;
  return text;
}

std::string beginning_of(const base::Digest& digest) {
  constexpr std::size_t digits = 8;
  return digest.hex.empty() ? "none" : digest.hex.substr(0, digits);
}

template <class More>
void make_distinct(std::vector<std::string>& titles, More more) {
  std::map<std::string, std::size_t> counts;
  for (const std::string& title : titles)
    ++counts[title];
  for (std::size_t i = 0; i < titles.size(); ++i) {
    if (counts[titles[i]] > 1) titles[i] += more(i);
  }
}

}  // namespace

std::vector<std::string> group_titles(const spec::CheckReport& report) {
  std::vector<std::string> titles;
  std::map<std::string, std::set<std::string>> parameters;
  for (const CheckGroup& group : report.groups) {
    auto shown = parameters.find(group.recipe);
    if (shown == parameters.end())
      shown = parameters.emplace(group.recipe, shown_parameters(report, group.recipe)).first;
    titles.push_back(title_of(group, shown->second));
  }
  make_distinct(titles, [&](std::size_t i) {
    return ", data " + beginning_of(report.groups[i].of.data) + ", definition " +
           beginning_of(report.groups[i].of.recipe_definition);
  });
  make_distinct(titles, [&](std::size_t i) { return fmt::format(" ({})", i + 1); });
  return titles;
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
  LabelledLines lines(check_label_width, check_columns);
  lines.add("check", "{}: {}", to_string(report.verdict), report.reason);
  if (report.result) lines.add("RESULT", to_string(*report.result));
  if (report.performance) lines.add("PERFORMANCE", to_string(*report.performance));
  if (report.runs) lines.add("counted", spec::count_text(*report.runs));
  lines.add("cases", counts_text(report));
  lines.add("baseline", report.baseline);
  for (const std::string& note : report.notes)
    lines.add("note", note);
  const std::vector<std::string> titles = group_titles(report);
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    add_group(report.groups[i], titles[i], lines);
  return lines.text();
}

}  // namespace sabath::report
