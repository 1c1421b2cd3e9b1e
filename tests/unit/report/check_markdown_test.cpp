#include <sabath/report/check.hpp>

#include <catch2/catch.hpp>

#include <regex>
#include <string>
#include <vector>

using namespace sabath;
using Catch::Contains;
using spec::CaseKind;
using spec::Verdict;

namespace {

spec::CheckCase a_case(const std::string& name, Verdict verdict, const std::string& reason) {
  spec::CheckCase one;
  one.name = name;
  one.verdict = verdict;
  one.test = "tolerance";
  one.reason = reason;
  return one;
}

spec::CheckReport report_of(std::vector<spec::CheckCase> cases, Verdict verdict) {
  spec::CheckGroup group;
  group.recipe = "tiny";
  group.of.site = "local";
  group.of.device = "AMD EPYC";
  group.runs = {"tiny-1"};
  group.against = "10 runs, accepted by anna on 2026-11-21";
  group.cases = std::move(cases);
  group.verdict = verdict;
  spec::CheckReport report;
  report.what = "recipes/tiny";
  report.baseline = "recipes/tiny/baseline.json";
  report.groups = {group};
  report.verdict = verdict;
  report.result = verdict;
  report.reason = "train/loss: too high";
  return report;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

/// The comment without the markup that the program itself writes.
std::string without_own_markup(std::string text) {
  for (const char* const own :
       {"<details><summary>Reasons and statistics</summary>", "</details>", "<code>", "</code>"}) {
    for (auto at = text.find(own); at != std::string::npos; at = text.find(own))
      text.erase(at, std::string(own).size());
  }
  return text;
}

}  // namespace

TEST_CASE("markdown: the verdict stands first, then the reason, then a table of numbers") {
  spec::CheckCase failed = a_case("train/loss", Verdict::fail, "tiny-1 has 2, the baseline 1");
  failed.figures = spec::CaseFigures{"1 ± 0.1 (n = 10)", "2", "+1 (+100 %)", "[0.7, 1.3]"};
  const spec::CheckCase good = a_case("train/accuracy", Verdict::pass, "equal to the bit");
  spec::CheckCase run;
  run.kind = CaseKind::run;
  run.name = "tiny-1";
  run.verdict = Verdict::pass;
  const std::string text = report::check_markdown(report_of({failed, good, run}, Verdict::fail));
  CHECK(text.starts_with("## FAIL: recipes/tiny\n\n**Reason:** train/loss: too high\n\n"));
  CHECK_THAT(text, Contains("RESULT **FAIL**; 1 failed, 2 passed; judged by tolerance\n"));
  CHECK_THAT(text, Contains("| metric | baseline | now | difference | limit | verdict |\n"));
  CHECK_THAT(text,
             Contains("| train/loss | 1 ± 0.1 (n \\= 10) | 2 | \\+1 (+100 %) | \\[0.7, 1.3\\] | "
                      "**FAIL** |\n"));
  CHECK_THAT(text, Contains("| train/accuracy | – | – | – | – | PASS |\n"));
  CHECK_THAT(text, Contains("<code>recipes/tiny/baseline.json</code>"));
  const std::size_t folded = text.find("<details>");
  REQUIRE(folded != std::string::npos);
  CHECK(text.find("tiny-1 has 2, the baseline 1") > folded);
  CHECK(count(text, "| tiny-1 |") == 0);
  CHECK_THAT(text, !Contains("Cut, because"));
}

TEST_CASE("markdown: without a baseline the other side is the first run") {
  spec::CheckReport report = report_of({a_case("train/loss", Verdict::pass, "")}, Verdict::pass);
  report.baseline.clear();
  CHECK_THAT(report::check_markdown(report), Contains("| metric | first run | now |"));
  CHECK_THAT(report::check_markdown({}), Contains("## INCONCLUSIVE"));
  CHECK_THAT(report::check_markdown({}), !Contains("<details>"));
}

TEST_CASE("markdown: text from outside is only text") {
  const std::string evil = "<script>|a| `b` [c](http://d) *e*\n# f &lt; \x1b[2J";
  spec::CheckReport report = report_of({a_case(evil, Verdict::fail, evil)}, Verdict::fail);
  report.groups.front().cases.front().figures = spec::CaseFigures{evil, evil, evil, evil};
  report.what = report.reason = report.baseline = evil;
  report.notes = {evil};
  report.groups.front().notes = {evil};
  report.groups.front().against = evil;
  report.groups.front().of.device = evil;
  const std::string text = without_own_markup(report::check_markdown(report));
  CHECK(count(text, "<") == 0);
  CHECK(count(text, "\x1b") == 0);
  CHECK_THAT(text, Contains("&lt;script\\>\\|a\\| \\`b\\` \\[&#8203;c\\](http\\:&#8203;//d)"));
  CHECK_THAT(text, Contains("&amp;&#8203;lt;"));
  // No line begins with what was outside, nor ends a row.
  CHECK(count(text, "\n| &lt;script") == 1);
  CHECK(count(text, "\n#") == count(text, "\n### "));
}

TEST_CASE("markdown: names, numbers of issues, commands and addresses stay text") {
  for (const char* const one : {"@octocat",
                                "#12",
                                "o/r#12",
                                "!7",
                                "%3",
                                "$5",
                                "~label",
                                "&9",
                                "*iteration:1",
                                "[issue:4]",
                                "GH-12",
                                "gh-12",
                                "https://evil.example",
                                "www.evil.example",
                                "WWW.evil.example",
                                "a@evil.example",
                                "/close"}) {
    INFO(one);
    const std::string text =
        report::check_markdown(report_of({a_case("x", Verdict::fail, one)}, Verdict::fail));
    const std::string row = text.substr(text.find("| **FAIL** | ", text.find("<details>")));
    CHECK(count(row.substr(0, row.find('\n')), "&#8203;") == 1);
  }
  const std::string plain = report::check_markdown(
      report_of({a_case("x", Verdict::fail, "5 % of [0.1, 2], n = 3, a-b")}, Verdict::fail));
  CHECK(count(plain, "&#8203;") == 0);
}

TEST_CASE("markdown: a comment is never longer than the service allows, and says what was cut") {
  std::vector<spec::CheckCase> cases;
  for (int i = 0; i < 600; ++i) {
    cases.push_back(a_case("metric" + std::to_string(i),
                           i == 0 ? Verdict::fail : Verdict::pass,
                           std::string(3000, '@')));
  }
  spec::CheckReport report = report_of(cases, Verdict::fail);
  report.notes.assign(50, std::string(5000, '#'));
  for (int i = 0; i < 20; ++i)
    report.groups.push_back(report.groups.front());
  report.reason = std::string(100000, '@') + "a";
  report.what = std::string(100000, '`');
  const std::string text = report::check_markdown(report);
  CHECK(text.size() <= 65536);
  CHECK(text.starts_with("## FAIL: "));
  CHECK(std::regex_search(
      text,
      std::regex("Cut, because a comment has at most 65536 characters: [0-9]+ rows, [0-9]+ "
                 "reasons, [0-9]+ notes\\.")));
  // What failed comes first, so that it is there.
  CHECK_THAT(text, Contains("| metric0 | – | – | – | – | **FAIL** |"));
  CHECK(count(text, "<details>") == count(text, "</details>"));
  CHECK(text.back() == '\n');
}
