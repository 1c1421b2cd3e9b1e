#include "escape.hpp"

#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <string_view>

namespace sabath::report {
namespace {

using spec::CaseKind;
using spec::CheckCase;
using spec::Expectation;
using spec::Verdict;

constexpr std::size_t longest_text = 4000;

std::string xml(std::string_view text) {
  return markup_text(text, longest_text);
}

struct Counts {
  int tests = 0;
  int failures = 0;
  int errors = 0;
  int skipped = 0;
  double time_s = 0;

  Counts& operator+=(const Counts& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
    time_s += other.time_s;
    return *this;
  }
  /// Totals of all suites, whose schema lacks `skipped`.
  std::string totals() const {
    return fmt::format(
        R"(tests="{}" failures="{}" errors="{}" time="{:.3f}")", tests, failures, errors, time_s);
  }
  std::string attributes() const { return totals() + fmt::format(R"( skipped="{}")", skipped); }
};

std::string element_text(const char* element, std::string_view type, const std::string& reason) {
  return fmt::format(
      "      <{0} message=\"{1}: {2}\" type=\"{1}\">{2}</{0}>\n", element, xml(type), xml(reason));
}

/// Skips have no type in the schema of Jenkins.
std::string skipped(std::string_view type, const std::string& reason) {
  return fmt::format("      <skipped message=\"{}: {}\"/>\n", xml(type), xml(reason));
}

std::string outcome_of(const CheckCase& one, Counts& counts) {
  if (one.expectation == Expectation::expected_failure) {
    ++counts.skipped;
    return skipped("expected failure", one.reason);
  }
  switch (one.verdict) {
    case Verdict::pass:
      if (one.expectation != Expectation::unexpected_pass) return {};
      return "      <system-out>unexpected pass: " + xml(one.reason) + "</system-out>\n";
    case Verdict::inconclusive:
      ++counts.skipped;
      return skipped(to_string(one.verdict), one.reason);
    case Verdict::fail:
      if (one.kind != CaseKind::run) {
        ++counts.failures;
        return element_text("failure", to_string(one.verdict), one.reason);
      }
      break;
    case Verdict::not_comparable:
      break;
  }
  ++counts.errors;
  return element_text("error", to_string(one.verdict), one.reason);
}

std::string case_xml(const std::string& suite, const CheckCase& one, Counts& counts) {
  ++counts.tests;
  counts.time_s += one.wall_s;
  const std::string outcome = outcome_of(one, counts);
  const std::string begin =
      fmt::format(R"(    <testcase classname="{}.{}" name="{}" time="{:.3f}")",
                  xml(suite),
                  to_string(one.kind),
                  xml(one.name),
                  one.wall_s);
  return outcome.empty() ? begin + "/>\n" : begin + ">\n" + outcome + "    </testcase>\n";
}

std::string suite_xml(const std::string& name, const std::vector<CheckCase>& cases, Counts& all) {
  Counts counts;
  std::string text;
  for (const CheckCase& one : cases)
    text += case_xml(name, one, counts);
  all += counts;
  return fmt::format(
      "  <testsuite name=\"{}\" {}>\n{}  </testsuite>\n", xml(name), counts.attributes(), text);
}

}  // namespace

std::string junit_xml(const spec::CheckReport& report) {
  Counts all;
  std::string suites;
  const std::vector<std::string> titles = group_titles(report);
  for (std::size_t i = 0; i < report.groups.size(); ++i)
    suites += suite_xml(titles[i], report.groups[i].cases, all);
  if (report.verdict != Verdict::pass && all.failures + all.errors == 0) {
    const Counts counts{1, 0, 1, 0, 0};
    suites += fmt::format("  <testsuite name=\"sabath check\" {}>\n", counts.attributes()) +
              "    <testcase classname=\"sabath check\" name=\"gate\" time=\"0.000\">\n" +
              element_text("error", to_string(report.verdict), report.reason) +
              "    </testcase>\n  </testsuite>\n";
    all += counts;
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"sabath check {}\" "
      "{}>\n{}</testsuites>\n",
      xml(report.what),
      all.totals(),
      suites);
}

}  // namespace sabath::report
