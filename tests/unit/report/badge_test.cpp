#include <sabath/report/check.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <regex>
#include <string>

using namespace sabath;
using Catch::Contains;
using spec::CaseKind;
using spec::Verdict;

namespace {

spec::CheckReport report_of(Verdict verdict, std::initializer_list<const char*> tests) {
  spec::CheckReport report;
  report.verdict = verdict;
  spec::CheckGroup& group = report.groups.emplace_back();
  for (const char* const test : tests)
    group.cases.emplace_back().test = test;
  return report;
}

/// Relative luminance (WCAG 2.2) of "#rrggbb".
double luminance(const std::string& colour) {
  const auto part = [&](std::size_t at) {
    const double value = std::stoi(colour.substr(at, 2), nullptr, 16) / 255.0;
    return value <= 0.04045 ? value / 12.92 : std::pow((value + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(1) + 0.7152 * part(3) + 0.0722 * part(5);
}

double contrast(const std::string& a, const std::string& b) {
  const auto [dark, light] = std::minmax({luminance(a), luminance(b)});
  return (light + 0.05) / (dark + 0.05);
}

std::string group_of(const std::string& text, const char* pattern) {
  std::smatch found;
  REQUIRE(std::regex_search(text, found, std::regex(pattern)));
  return found[1];
}

}  // namespace

TEST_CASE("badge: it has the verdict and what judged, as text and as a title") {
  const std::string svg = report::badge_svg(report_of(Verdict::pass, {"bitwise", "tolerance"}));
  CHECK_THAT(svg, Contains("<title id=\"title\">reproducible: PASS, tolerance</title>"));
  CHECK_THAT(svg, Contains("role=\"img\" aria-labelledby=\"title\""));
  CHECK_THAT(svg, Contains(">reproducible</text>") && Contains(">PASS, tolerance</text>"));
  CHECK_THAT(svg, !Contains("<script") && !Contains("href") && !Contains("url("));
  CHECK_THAT(report::badge_svg({}), Contains("reproducible: INCONCLUSIVE</title>"));
  CHECK_THAT(report::badge_svg(report_of(Verdict::not_comparable, {""})),
             Contains("reproducible: NOT-COMPARABLE</title>"));
}

TEST_CASE("badge: the weakest that judged is named") {
  CHECK(report::judged_by(report_of(Verdict::pass, {"bitwise"})) == "bitwise");
  CHECK(report::judged_by(report_of(Verdict::pass, {"ulp", "bitwise"})) == "ulp");
  CHECK(report::judged_by(report_of(Verdict::pass, {"bitwise", "reviewed bounds"})) == "bounds");
  CHECK(report::judged_by(report_of(Verdict::pass, {"bitwise", "prediction interval"})) ==
        "statistics");
  spec::CheckReport report = report_of(Verdict::pass, {"speed"});
  report.groups.front().cases.front().kind = CaseKind::performance;
  CHECK(report::judged_by(report) == "performance");
  CHECK(report::judged_by({}).empty());
}

TEST_CASE("badge: text has a contrast of 4.5, the edge of 3 on white and on black") {
  for (const Verdict verdict :
       {Verdict::pass, Verdict::fail, Verdict::inconclusive, Verdict::not_comparable}) {
    const std::string svg = report::badge_svg(report_of(verdict, {"tolerance"}));
    const std::string ink = group_of(svg, "<g fill=\"(#[0-9a-f]{6})\"");
    const std::string ground = group_of(svg, "rx=\"3\" fill=\"(#[0-9a-f]{6})\"");
    const std::string of_label = group_of(svg, "<path [^>]*fill=\"(#[0-9a-f]{6})\"");
    const std::string edge = group_of(svg, "stroke=\"(#[0-9a-f]{6})\"");
    INFO(svg);
    CHECK(contrast(ink, ground) >= 4.5);
    CHECK(contrast(ink, of_label) >= 4.5);
    CHECK(contrast(edge, "#ffffff") >= 3);
    CHECK(contrast(edge, "#0d1117") >= 3);
  }
}
