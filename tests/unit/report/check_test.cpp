#include <sabath/report/check.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <regex>
#include <set>

using namespace sabath;
using Catch::Contains;
using spec::CaseKind;
using spec::Expectation;
using spec::Verdict;

namespace {

spec::CheckCase a_case(CaseKind kind,
                       const std::string& name,
                       Verdict verdict,
                       const std::string& reason,
                       Expectation expectation = Expectation::none) {
  return {kind, name, verdict, "", reason, expectation, kind == CaseKind::run ? 1.5 : 0};
}

spec::CheckReport report_of(std::vector<spec::CheckCase> cases, Verdict verdict) {
  spec::CheckGroup group;
  group.recipe = "tiny";
  group.of.site = "local";
  group.of.device = "CPU <1>";
  group.runs = {"tiny-1"};
  group.against = "10 runs, accepted by anna on 2026-11-21";
  group.cases = std::move(cases);
  group.verdict = verdict;
  spec::CheckReport report;
  report.what = "recipes/tiny";
  report.groups = {group};
  report.verdict = verdict;
  report.reason = "train/loss: too high";
  return report;
}

spec::CheckReport everything() {
  return report_of(
      {a_case(CaseKind::result, "train/loss", Verdict::fail, "too \"high\" <&> ]]>"),
       a_case(CaseKind::run, "tiny-2", Verdict::fail, "exited with status 3"),
       a_case(CaseKind::result, "train/a", Verdict::not_comparable, "another seed"),
       a_case(CaseKind::performance, "train/t", Verdict::inconclusive, "too few"),
       a_case(CaseKind::result, "train/b", Verdict::fail, "known", Expectation::expected_failure),
       a_case(CaseKind::result, "train/c", Verdict::pass, "well", Expectation::unexpected_pass),
       a_case(CaseKind::run, "tiny-1", Verdict::pass, "")},
      Verdict::fail);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

}  // namespace

TEST_CASE("junit: each case is what it is") {
  const std::string xml = report::junit_xml(everything());
  CHECK_THAT(xml, Contains(R"(tests="7" failures="1" errors="2" time="3.000" skipped="2")"));
  CHECK(count(xml, "<testcase ") == 7);
  CHECK(count(xml, "<failure ") == 1);
  CHECK(count(xml, "<error ") == 2);
  CHECK(count(xml, "<skipped ") == 2);
  CHECK_THAT(xml, Contains(R"(<skipped message="INCONCLUSIVE: too few"/>)"));
  CHECK_THAT(xml, Contains(R"(<skipped message="expected failure: known"/>)"));
  CHECK_THAT(xml, Contains("<system-out>unexpected pass: well</system-out>"));
  CHECK_THAT(xml, Contains("too &quot;high&quot; &lt;&amp;&gt; ]]&gt;"));
  CHECK_FALSE(count(xml, "name=\"gate\"") > 0);
}

TEST_CASE("junit: what is no PASS is never green") {
  const auto skipped =
      report_of({a_case(CaseKind::result, "train/loss", Verdict::inconclusive, "too few")},
                Verdict::inconclusive);
  const std::string xml = report::junit_xml(skipped);
  CHECK_THAT(xml, Contains(R"(tests="2" failures="0" errors="1" time="0.000">)"));
  CHECK_THAT(xml, Contains("name=\"gate\"") && Contains("INCONCLUSIVE: train/loss: too high"));
  const std::string nothing = report::junit_xml(spec::CheckReport{});
  CHECK_THAT(nothing, Contains(R"(tests="1" failures="0" errors="1")"));
  CHECK_THAT(nothing, Contains("no run was judged"));
  const auto good =
      report_of({a_case(CaseKind::result, "train/loss", Verdict::pass, "")}, Verdict::pass);
  CHECK_THAT(report::junit_xml(good), Contains(R"(tests="1" failures="0" errors="0")"));
}

TEST_CASE("junit: characters that XML cannot have are made visible") {
  const std::string evil = "\x1b[31m\x01\xff\xEF\xBF\xBE\xEF\xBF\xBF\n]]></failure>";
  const std::string xml = report::junit_xml(
      report_of({a_case(CaseKind::result, evil, Verdict::fail, evil)}, Verdict::fail));
  CHECK_THAT(xml, Contains("\\x1b") && Contains("\\u{fffe}") && Contains("\\u{ffff}"));
  CHECK(std::none_of(xml.begin(), xml.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 && c != '\n';
  }));
  CHECK(count(xml, "</failure>") == 1);
  CHECK(count(xml, "\xEF\xBF") == 0);
  CHECK(count(xml, "\xff") == 0);
}

TEST_CASE("junit: suites of groups that differ only in task or parameters have other names") {
  auto report = report_of({a_case(CaseKind::result, "a/loss", Verdict::pass, "")}, Verdict::pass);
  const auto add = [&](auto change) {
    report.groups.push_back(report.groups.front());
    change(report.groups.back().of);
  };
  report.groups[0].of.parameters = {{"k", std::int64_t{1}}, {"same", std::int64_t{5}}};
  add([](auto& key) { key.parameters["k"] = std::int64_t{2}; });
  add([](auto& key) { key.task = "infer"; });
  add([](auto& key) { key.data = base::sha256_of("other"); });
  add([](auto& key) { key.data = base::sha256_of("other"); });
  const auto titles = report::group_titles(report);
  CHECK(std::set<std::string>(titles.begin(), titles.end()).size() == 5);
  CHECK(titles[1] == "tiny, k=2 at local, CPU <1>");
  CHECK(titles[2] == "tiny, task infer, k=1 at local, CPU <1>");
  const std::string xml = report::junit_xml(report);
  CHECK(count(xml, "<testsuite name=\"tiny, k=2 at local, CPU &lt;1&gt;\"") == 1);
  CHECK(count(xml, "<testcase classname=\"tiny, k=2 at local, CPU &lt;1&gt;.result\"") == 1);
  CHECK_THAT(report::check_markdown(report), Contains("task infer"));
  CHECK_THAT(report::check_text(report), Contains("k=2"));
}

TEST_CASE("check: the verdict and why stand first, and good runs are not listed") {
  const std::string text = report::check_text(everything());
  CHECK(text.starts_with("check           FAIL: train/loss: too high\n"));
  CHECK_THAT(
      text, Contains("2 failed, 1 not comparable, 1 inconclusive, 2 passed, 1 failed as expected"));
  CHECK_THAT(text, Contains("FAIL (known)    train/b: known"));
  CHECK_FALSE(count(text, "tiny-1:") > 0);
  CHECK_THAT(report::check_text({}), Contains("INCONCLUSIVE: no run was judged"));
}

TEST_CASE("baseline: a metric without a finite value has no moments") {
  spec::BaselineMetric metric;
  metric.name = "train/loss";
  metric.values = {std::numeric_limits<double>::quiet_NaN()};
  spec::BaselineEntry entry;
  entry.runs = {{"tiny-1", "n", "", 1}};
  entry.metrics = {metric};
  entry.accepted = spec::Acceptance{"anna", "2026-11-01T00:00:00Z", ""};
  spec::Baseline baseline;
  baseline.entries = {entry, entry};
  const std::string shown = report::baseline_text(baseline, false);
  CHECK(std::regex_search(shown, std::regex("\ntrain/loss +0( +-){5}")));
  CHECK_THAT(shown, Contains("train/loss: no finite value"));
  // One that was proposed with the note has it once.
  baseline.entries[1].notes = {"train/loss: no finite value"};
  CHECK(count(report::baseline_text(baseline, false), "no finite value") ==
        count(shown, "no finite value"));
  CHECK_THAT(report::baseline_text(baseline, true), !Contains("+"));
}

TEST_CASE("baseline: whole numbers are shown with all digits") {
  spec::BaselineMetric metric;
  metric.name = "train/sum";
  metric.n = 1;
  metric.values = {9007199254740992.0};
  metric.mean = metric.median = metric.min = metric.max = 9007199254740992.0;
  metric.whole = {"9007199254740993"};
  metric.bounds = spec::Bounds{9007199254740992.0, 9007199254740992.0, "median"};
  CHECK(report::mean_text(metric) == "9007199254740993");
  spec::BaselineEntry entry;
  entry.runs = {{"tiny-1", "n", "", 1}};
  entry.metrics = {metric};
  spec::Baseline baseline;
  baseline.entries = {entry};
  const std::string shown = report::baseline_text(baseline, false);
  CHECK(count(shown, "9007199254740993") == 6);
  CHECK_THAT(shown, !Contains("9007199254740992"));
}

TEST_CASE("baseline: drift tells when many steps came to more than the margin") {
  spec::Baseline baseline;
  baseline.recipe = "tiny";
  for (int step = 0; step < 4; ++step) {
    spec::BaselineMetric metric;
    metric.name = "train/loss";
    metric.n = 10;
    metric.mean = 0.3 + 0.01 * step;
    metric.sd = 0.005;
    metric.margin = 0.025;
    spec::BaselineEntry entry;
    entry.runs = {{"tiny-1", "n", "", 1}};
    entry.holds_for.site = "local";
    entry.metrics = {metric};
    if (step < 3)
      entry.accepted =
          spec::Acceptance{"anna", "2026-1" + std::to_string(step) + "-01T00:00:00Z", ""};
    baseline.entries.push_back(entry);
  }
  const std::string shown = report::baseline_text(baseline, false);
  CHECK_THAT(shown, Contains("2 accepted before, as history"));
  CHECK_THAT(shown, Contains("proposed: without effect until it is accepted"));
  const std::string drift = report::baseline_text(baseline, true);
  CHECK_THAT(drift, Contains("accepted    3 time(s)") && Contains("+0.01 (+2 sd)"));
  CHECK_THAT(drift, !Contains("more than the margin"));
  baseline.entries[3].accepted = spec::Acceptance{"bert", "2026-12-31T00:00:00Z", ""};
  CHECK_THAT(report::baseline_text(baseline, true), Contains("it moved by 0.03 in all"));
}

TEST_CASE(
    "baseline: what values are judged by stands behind the name, and has a drift of its own") {
  spec::BaselineMetric metric;
  metric.name = "train/loss";
  metric.n = 1;
  metric.values = {0.5};
  spec::BaselineEntry entry;
  entry.runs = {{"tiny-1", "n", "", 1}};
  entry.metrics = {metric};
  entry.accepted = spec::Acceptance{"anna", "2026-11-01T00:00:00Z", ""};
  spec::Baseline baseline;
  baseline.entries = {entry, entry};
  baseline.entries[1].metrics[0].judge = "best";
  CHECK_THAT(report::baseline_text(baseline, false), Contains("train/loss, best"));
  const std::string drift = report::baseline_text(baseline, true);
  CHECK_THAT(drift, Contains("\ntrain/loss, best\n"));
  CHECK(count(drift, "2026-11-01") == 1);
  spec::CheckReport report;
  spec::CheckCase& one = report.groups.emplace_back().cases.emplace_back();
  one.name = "train/loss";
  one.judge = "best";
  CHECK_THAT(report::check_text(report), Contains("train/loss (best)"));
}
