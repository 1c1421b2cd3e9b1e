#include "conformance/report_conformance.hpp"
#include "unit/spec/full_values.hpp"
#include "unit/spec/schema_checker.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/text/csv.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <regex>
#include <set>

using namespace sabath;
using Catch::Contains;
using nlohmann::json;
using report::Report;

namespace {

std::string written(const std::string& file, const Report& report) {
  return report::format_of(file)->write(report);
}

std::vector<std::vector<std::string>> csv_rows(const std::string& text) {
  std::string_view rest = text;
  base::CsvReader reader([&] { return std::exchange(rest, {}); }, text.size());
  std::vector<std::vector<std::string>> rows;
  for (std::vector<std::string> fields; reader.next(fields);) {
    REQUIRE(reader.problem().empty());
    rows.push_back(fields);
  }
  return rows;
}

std::set<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (auto at = std::sregex_iterator(text.begin(), text.end(), expression);
       at != std::sregex_iterator();
       ++at)
    found.insert((*at)[1]);
  return found;
}

}  // namespace

TEST_CASE("report: every format does what all must do") {
  for (const report::ReportFormat& format : report::builtin_formats()) {
    SECTION(std::string(format.name)) {
      test::check_report_format(format);
    }
  }
}

TEST_CASE("report: a file's name says its format") {
  CHECK(report::format_of("out/a.b.html")->name == "html");
  CHECK(report::format_of("a.htm")->name == "html");
  CHECK(report::format_of("a.md")->name == "markdown");
  for (const char* name : {"a", "", "html", ".html", "a.pdf", "a.html.gz"})
    CHECK(report::format_of(name) == nullptr);
}

TEST_CASE("report: the page loads nothing, runs nothing, and refers only to itself") {
  const std::string page = written("a.html", test::full_report(9, test::hostile_text));
  CHECK_THAT(page, Contains("default-src 'none'; style-src 'sha256-"));
  CHECK(all_matches(page, R"re(\s(src|style|on[a-z]+)\s*=\s*["'])re").empty());
  CHECK(page.find("url(") == std::string::npos);
  CHECK(page.find("@import") == std::string::npos);
  const auto ids = all_matches(page, "\\sid=\"([^\"]*)\"");
  const auto references = all_matches(page, "\\shref=\"([^\"]*)\"");
  CHECK(references.size() > 5);
  for (const std::string& reference : references) {
    INFO(reference);
    REQUIRE(reference.starts_with('#'));
    CHECK(ids.contains(reference.substr(1)));
  }
}

TEST_CASE("report: plots and tables tell what they are to those who do not see them") {
  const std::string page = written("a.html", test::full_report(9, "plain"));
  const auto count = [&](const std::string& word) {
    std::size_t found = 0;
    for (auto at = page.find(word); at != std::string::npos; at = page.find(word, at + 1))
      ++found;
    return found;
  };
  CHECK(count("<svg") >= 5);
  CHECK(count("<svg") == count("role=\"img\""));
  CHECK(count("<svg") == count("<desc id="));
  CHECK(count("<table>") == count("<caption>"));
  CHECK(count("<h1>") == 1);
  CHECK_THAT(page, Contains("<html lang=\"en\">") && Contains("class=\"skip\""));
  CHECK_THAT(page, Contains("scope=\"col\"") && Contains("scope=\"row\""));
  CHECK_THAT(page, Contains("prefers-color-scheme: dark") && Contains("@media print"));
}

TEST_CASE("report: the standard deviation of large and of small values is theirs") {
  Report report = test::full_report(4, "plain");
  for (const auto& [size, sd] : {std::pair(1e200, "1.41421e+200"), {1e-200, "1.41421e-200"}}) {
    for (std::size_t i = 0; i < 4; ++i)
      report.runs[i].values[0] = (i < 2 ? 1 : 3) * size;
    CHECK_THAT(written("a.md", report), Contains(sd));
  }
}

TEST_CASE("report: groups show the digits of whole numbers that no double holds") {
  Report report = test::full_report(4, "plain");
  for (std::size_t i = 0; i < 4; ++i) {
    report.runs[i].levels = {"one"};
    report.runs[i].values[0] = 9007199254740992;
    report.runs[i].whole.assign(report.metrics.size(), i == 0 ? "9007199254740993" : "");
  }
  // The mean of the group is rounded: the digits of its double would be those of the least.
  const std::string text = written("a.md", report);
  CHECK_THAT(text, Contains("9007199254740993") && Contains("9.0072e+15"));
}

TEST_CASE("report: whole numbers that one double is nearest to have a spread and colours") {
  Report report = test::full_report(4, "plain");
  const std::vector<std::string> digits{
      "1839201938472018102", "1839201938472018103", "1839201938472018104", "1839201938472018103"};
  for (std::size_t i = 0; i < digits.size(); ++i) {
    report.runs[i].levels = {"one"};
    report.runs[i].values[0] = 1839201938472018176.0;
    report.runs[i].whole.resize(report.metrics.size());
    report.runs[i].whole[0] = digits[i];
  }
  const std::string text = written("a.md", report);
  CHECK_THAT(text, Contains("| 0.816497 | 1839201938472018102 | 1839201938472018104 |"));
  CHECK_THAT(text, Contains("\nplain one  0595\n"));
  // The scale of colours has the digits.
  CHECK_THAT(written("a.html", report),
             Contains(">1839201938472018102</text>") && Contains(">1839201938472018104</text>"));
}

TEST_CASE("report: numbers of CSV and JSON are those that were") {
  const Report report = test::full_report(9, "plain");
  const auto rows = csv_rows(written("a.csv", report));
  REQUIRE(rows.size() == 10);
  const auto column = [&](const std::string& name) {
    const auto found = std::find(rows[0].begin(), rows[0].end(), name);
    INFO(name);
    REQUIRE(found != rows[0].end());
    return static_cast<std::size_t>(found - rows[0].begin());
  };
  const std::size_t value = column("train/plain [plain]");
  const json document = json::parse(written("a.json", report));
  for (std::size_t i = 0; i < 9; ++i) {
    REQUIRE(rows[i + 1].size() == rows[0].size());
    const auto& expected = report.runs[i].values[0];
    const json values = document["runs"][i]["values"];
    if (!expected) {
      CHECK(rows[i + 1][value].empty());
      CHECK_FALSE(values.contains("train/plain"));
    } else if (std::isnan(*expected)) {
      CHECK(rows[i + 1][value] == "NaN");
      CHECK(values["train/plain"] == "NaN");
    } else {
      CHECK(std::stod(rows[i + 1][value]) == *expected);
      CHECK(values["train/plain"].get<double>() == *expected);
    }
    CHECK(rows[i + 1][column("train/derived/seconds_per_epoch [s], median")] == "Infinity");
    CHECK(rows[i + 1][column("energy [J]")].empty());
  }
}

TEST_CASE("report: text of CSV that could be a formula is none") {
  const auto rows = csv_rows(written("a.csv", test::full_report(9, test::hostile_text)));
  for (const auto& row : rows) {
    for (const std::string& cell : row) {
      if (cell.empty()) continue;
      INFO(cell);
      CHECK(std::string("=+-@\t\r").find(cell.front()) == std::string::npos);
    }
  }
}

TEST_CASE("report: the schema has exactly the keys that are written") {
  test::SchemaChecker schema("report");
  Report report = test::full_report(9, "plain");
  report.pair = test::full_comparison();
  report.runs[0].joules = 1.5;
  report.metrics[0].judge = "best";
  report.groups = spec::GroupComparison{};
  report.ranking = spec::Ranking{};
  CHECK(schema.problems(json::parse(written("a.json", report))) == std::vector<std::string>{});
  CHECK(schema.unused() == std::set<std::string>{"whole"});  // only of large whole numbers
  CHECK(schema.problems(json::parse(written("a.json", Report{}))) == std::vector<std::string>{});
  const std::string page =
      base::read_file(std::string(SABATH_SOURCE_DIR) + "/docs/formats/report.md");
  const auto begin = page.find("```json\n") + 8;
  const json example = json::parse(page.substr(begin, page.find("```", begin) - begin));
  CHECK(schema.problems(example) == std::vector<std::string>{});
}

TEST_CASE("report: the churn of predictions has a column where there are any") {
  Report report = test::full_report(2, "plain");
  report.pair = test::full_comparison();
  CHECK_THAT(written("a.html", report),
             Contains("churn of predictions") && Contains("3.125 % of 100"));
  CHECK_THAT(written("a.md", report), Contains("churn of predictions"));
  CHECK_THAT(written("a.md", report), Contains("; kind: replicate."));
  report.pair->outputs.front().churn.reset();
  CHECK_THAT(written("a.html", report), !Contains("churn of predictions"));
}

TEST_CASE("report: the verdict is that of the pair, of the groups, of equality, or of the run") {
  Report report = test::full_report(2, "plain");
  report.by.clear();
  const auto verdict = [&] { return json::parse(written("a.json", report))["verdict"]; };
  CHECK(verdict() == "NOT IDENTICAL");
  report.runs[1].values[0] = report.runs[0].values[0];
  CHECK(verdict() == "IDENTICAL");
  report.runs[0].left_out = report.runs[1].left_out = "perturbed";
  test::count(report);
  CHECK(verdict() == "NO RESULTS");
  CHECK(json::parse(written("a.json", report))["reason"] == "no run counts (2 perturbed)");
  report.groups = spec::GroupComparison{};
  report.groups->groups.resize(2);
  report.groups->result = spec::Verdict::fail;
  CHECK(verdict() == "FAIL");
  report.pair = spec::Comparison{};
  report.pair->result = spec::Verdict::pass;
  CHECK(verdict() == "PASS");
  report.runs.resize(1);
  report.runs[0].state = "interrupted";
  CHECK(verdict() == "INTERRUPTED");
}

TEST_CASE("report: what was compared stands before the verdict, in the order of the settings") {
  Report report = test::full_report(4, "plain");
  report.by = {"lr"};
  const std::array<const char*, 4> levels{"0.01", "0.003", "0.01", "0.1"};
  for (std::size_t i = 0; i < 4; ++i) {
    report.runs[i].levels = {levels[i]};
    report.runs[i].left_out.clear();
    report.runs[i].values[0] = 0.5 + static_cast<double>(i);
  }
  const std::string sentence =
      "Compared: lr 0.003 (1 run), lr 0.01 (2 runs), lr 0.1 (1 run). Median of train/plain [plain] "
      "in this order: 1.5, 1.5, 3.5; lower is better.";
  const std::string page = written("a.html", report);
  CHECK(page.find(sentence) < page.find("class=\"verdict"));
  report.runs[1].values[0] = std::nan("");
  CHECK_THAT(written("a.html", report), Contains("lr 0.1 (1 run).</p>"));
  report.by.clear();
  CHECK_THAT(written("a.html", report), !Contains("Compared: "));
}

TEST_CASE("report: runs that did not end well have no results") {
  Report report = test::full_report(5, "plain");
  report.runs[4].values[0] = 12345.678;
  const std::string page = written("a.md", report);
  CHECK_THAT(page, Contains("4 ok") && Contains("1 failed"));
  // In the table of runs only.
  const auto first = page.find("12345.7");
  CHECK(first > page.find("## Runs"));
}

TEST_CASE("report: the final value is of the validation, else a loss, else what is declared") {
  using spec::Better;
  std::vector<report::ReportMetric> metrics{{"train/x", "", Better::none, false, false},
                                            {"train/time", "s", Better::lower, true, true},
                                            {"train/y", "", Better::none, false, true}};
  CHECK(report::final_metric(metrics) == 2U);
  metrics.push_back({"train/loss", "", Better::lower, false, true});
  CHECK(report::final_metric(metrics) == 3U);
  metrics.push_back({"train/validation_error", "", Better::lower, false, true});
  CHECK(report::final_metric(metrics) == 4U);
  metrics.push_back({"train/val_loss", "", Better::lower, false, true});
  CHECK(report::final_metric(metrics) == 5U);
  CHECK_FALSE(report::final_metric({}).has_value());
}

TEST_CASE("report: groups of one run each are neither identical within nor not") {
  Report report = test::full_report(2, "plain");
  spec::MetricGroups metric;
  metric.name = "train/plain";
  metric.rows.resize(2);
  metric.rows[0].values = {0.5};
  metric.rows[1].values = {0.25};
  metric.reason = "one run";
  report.groups.emplace();
  report.groups->groups = {{{"1"}, 1}, {{"2"}, 1}};
  report.groups->metrics = {metric};
  CHECK_THAT(written("a.md", report), Contains(R"(| one run | \- | no |)"));
  report.groups->metrics[0].rows[1].values = {0.25, 0.5};
  CHECK_THAT(written("a.md", report), Contains("| one run | no | no |"));
}

TEST_CASE("report: runs without a value are not identical to anything") {
  Report report = test::full_report(3, "plain");
  report.by.clear();
  const auto verdict = [&] {
    for (auto& run : report.runs)
      run.levels.clear();
    return json::parse(written("a.json", report));
  };
  const double nan = std::nan("");
  using Values = std::array<std::optional<double>, 3>;
  const auto set = [&](const Values& values, std::size_t counted) {
    for (std::size_t i = 0; i < 3; ++i) {
      report.runs[i].values[0] = values[i];
      report.runs[i].left_out = i < counted ? "" : "failed";
    }
    test::count(report);
  };
  set({0.5, 0.5, 0.5}, 1);
  CHECK(verdict()["verdict"] == "NOT COMPARED");
  CHECK(verdict()["reason"] == "only 1 of 1 runs have a value of train/plain [plain]");
  CHECK_THAT(written("a.html", report), !Contains("class=\"good\"") && !Contains("All runs have"));
  set({nan, {}, {}}, 3);
  CHECK(verdict()["verdict"] == "NOT COMPARED");
  CHECK_THAT(written("a.md", report), Contains("Only 0 of 3 runs have a finite value"));
  set({nan, nan, nan}, 3);
  CHECK(verdict()["verdict"] == "NOT COMPARED");
  set({0.5, 0.5, {}}, 3);
  CHECK(verdict()["verdict"] == "NOT COMPARED");
  CHECK_THAT(written("a.md", report), Contains("Only 2 of 3 runs have a finite value"));
  set({0.5, 0.25, {}}, 3);
  CHECK(verdict()["verdict"] == "NOT IDENTICAL");
  CHECK_THAT(written("a.md", report), Contains("2 of 3 runs have a finite value"));
  set({0.5, 0.5, 0.25}, 2);
  CHECK(verdict()["verdict"] == "IDENTICAL");
  CHECK(verdict()["reason"] == "the 2 runs that count are equal to the bit in train/plain [plain]");
  CHECK_THAT(written("a.md", report), Contains("All runs have one value"));
}

TEST_CASE("report: a name in two units is two columns in every format") {
  Report report = test::full_report(2, "plain");
  report.metrics.push_back({"train/plain", "ms", spec::Better::lower, false, true});
  report.runs[0].values.emplace_back(7.5);
  report.runs[1].values.emplace_back();
  const json values = json::parse(written("a.json", report))["runs"][0]["values"];
  CHECK(values["train/plain [plain]"].get<double>() == 1.0 / 3);
  CHECK(values["train/plain [ms]"].get<double>() == 7.5);
  CHECK_FALSE(values.contains("train/plain"));
  const auto rows = csv_rows(written("a.csv", report));
  // Behind the metrics stands whether a run counts.
  CHECK(rows[0].at(rows[0].size() - 3) == "train/plain [ms]");
  CHECK(rows[1].at(rows[1].size() - 3) == "7.5");
}

TEST_CASE("report: what a metric is judged by is told in every format") {
  Report report = test::full_report(2, "plain");
  report.metrics[0].judge = "mean of last 3";
  CHECK(json::parse(written("a.json", report))["metrics"][0]["judge"] == "mean of last 3");
  for (const char* file : {"a.csv", "a.md", "a.html"}) {
    INFO(file);
    CHECK_THAT(written(file, report), Contains(", mean of last 3"));
  }
  CHECK_THAT(written("a.md", report), Contains("Last value, or what it is judged by,"));
}

TEST_CASE("report: energies that were counted in several ways have no median") {
  Report report = test::full_report(2, "plain");
  report.by.clear();
  for (auto& run : report.runs) {
    run.levels.clear();
    run.joules = 100;
    run.energy = "counter of the GPUs";
  }
  const auto has_median = [&] {
    const std::string text = written("a.md", report);
    const auto at = text.find("## Performance");
    return text.substr(at, text.find("\n## ", at) - at).find("| energy") != std::string::npos;
  };
  CHECK(has_median());
  CHECK_THAT(written("a.md", report), Contains("train, per epoch"));
  report.runs[1].energy = "counter of the node";
  CHECK_FALSE(has_median());
  CHECK_THAT(written("a.md", report), Contains("counted in several ways, it has no median"));
}

TEST_CASE("report: values that differ by little, or hardly are there, are told apart and drawn") {
  Report report = test::full_report(2, "plain");
  report.runs[0].values[0] = 1;
  report.runs[1].values[0] = 1 + 2.3e-16;
  report.courses[0].curves[0] = test::curve_through("tiny", {test::course_to(4, 5e-324, 1e-323)});
  const std::string page = written("a.html", report);
  CHECK_THAT(page, Contains("1.0000000000000002"));
  CHECK_THAT(page, !Contains("-nan") && !Contains("\"nan") && !Contains(">nan"));
  // No coordinate is beyond the picture.
  CHECK(all_matches(page, "[ML ,\"](-?[0-9]{6,}\\.?[0-9]*)[ ,LZ\"]").empty());
}

TEST_CASE("report: marks with many digits are not beyond the picture") {
  Report report = test::full_report(2, "plain");
  report.runs[0].values[0] = 0.26176572197482638;
  report.runs[1].values[0] = 0.26176572197563180;
  const std::string page = written("a.html", report);
  const std::regex mark("<text x=\"([0-9.]+)\" y=\"[0-9.]+\" text-anchor=\"middle\">([^<]*)<");
  int long_marks = 0;
  for (auto at = std::sregex_iterator(page.begin(), page.end(), mark); at != std::sregex_iterator();
       ++at) {
    const auto digits = static_cast<double>((*at)[2].length());
    if (digits > 12) ++long_marks;
    CHECK(std::stod((*at)[1]) + 3.2 * digits <= 960);
  }
  CHECK(long_marks > 0);
}

TEST_CASE("report: what figures show Markdown shows in letters") {
  Report report = test::full_report(9, "plain");
  const std::string text = written("a.md", report);
  // Runs 0, 2, 6 and 8 of "plain" (6 has no value), 1, 3, 5 and 7 of "b" (5 is NaN); 4 failed.
  CHECK_THAT(text, Contains("a run to a column, a letter to a value; ! is not finite"));
  CHECK_THAT(text, Contains("\nplain b      EC!B\n") && Contains("\nplain plain  FD.A\n"));
  CHECK_THAT(text, Contains("\none (ok in 9; 1.5 s)\n  plain <- one (failed in 9)\n"));
  CHECK_THAT(text, Contains("a digit is so many runs in a place"));
  for (auto& run : report.runs)
    run.values[0] = 0.5;
  CHECK_THAT(written("a.md", report), Contains("\nplain b      AAAA\n"));
  CHECK_THAT(written("a.md", report), !Contains("a digit is so many runs in a place"));
  const std::string many = written("a.md", test::full_report(60, "plain"));
  CHECK_THAT(many, Contains("from 0 (lowest) to 9 (highest)"));
}

TEST_CASE("report: nothing is folded away, and what is long has a place of its own on a screen") {
  const std::string page = written("a.html", test::full_report(30, "plain"));
  CHECK_THAT(page, !Contains("<details"));
  CHECK_THAT(page, Contains("<div class=\"scroll long\" role=\"region\""));
  // Only on a screen is it lower than what it holds.
  const auto at = page.find(".long { max-height");
  REQUIRE(at != std::string::npos);
  CHECK(page.rfind("@media screen {", at) > page.rfind("}\n}", at));
}

TEST_CASE("report: values behind colours without letters are in a table") {
  Report report = test::full_report(30, "plain");
  CHECK_THAT(written("a.html", report), Contains("Values of the heat map of train/plain"));
  CHECK_THAT(written("a.md", report), Contains("0.3333333333333333, "));
  CHECK_THAT(written("a.html", test::full_report(4, "plain")), !Contains("Values of the heat map"));
}

TEST_CASE("report: tables and paragraphs for people end, and say so") {
  Report report = test::full_report(40, "plain");
  for (std::size_t i = 0; i < 700; ++i) {
    report.metrics.push_back({"train/m" + std::to_string(i), "", spec::Better::none, false, true});
    for (auto& run : report.runs)
      run.values.emplace_back(1.0);
  }
  for (std::size_t i = 0; i < report.runs.size(); ++i) {
    report.runs[i].levels = {"one"};
    report.runs[i].code = "commit " + std::to_string(i);
  }
  const std::string text = written("a.md", report);
  CHECK_THAT(text, Contains("the first 500 of 701; the JSON report has all"));
  CHECK_THAT(text, Contains("20 more states of the code"));
  CHECK_THAT(text, !Contains("train/m650"));
  CHECK_THAT(written("a.json", report), Contains("train/m650"));
}
