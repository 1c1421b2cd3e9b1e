#pragma once

#include <sabath/report/report.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <sstream>
#include <string>

namespace sabath::test {

/// What names could look like where somebody means harm.
inline const std::string hostile_text =
    "=cmd|'/c calc'!A0\"><script>alert(1)</script>&<img src=x onerror=a>\x1b[31m\xE2\x80\xAE"
    "evil\xff|`*_\n# h\r\n,x";

inline report::Course course_to(int points, double from, double to) {
  report::Course course;
  for (int i = 0; i < points; ++i)
    course.add(i, from + (to - from) * i / std::max(points - 1, 1));
  return course;
}

inline report::Curve curve_through(const std::string& name, std::vector<report::Course> courses) {
  report::Curve curve;
  curve.name = name;
  curve.runs = courses.size();
  curve.spread = report::spread_of(courses);
  curve.lines = std::move(courses);
  return curve;
}

/// Counts the runs of a report, as analysis::report_runs does.
inline void count(report::Report& report) {
  std::vector<std::string> reasons;
  for (const report::ReportRun& run : report.runs)
    reasons.push_back(run.left_out);
  report.count = spec::count_runs(reasons);
}

/// A report with something in each of its parts; `name` stands wherever somebody else chooses it.
inline report::Report full_report(std::size_t runs, const std::string& name) {
  report::Report report;
  report.selection = "tag=" + name;
  report.by = {name};
  report.made = "2026-11-20T10:32:05.123Z";
  report.sabath_version = "0.1.0";
  report.command = "sabath report " + name;
  report.notes = {name};
  report.metrics = {{"train/" + name, name, spec::Better::lower, false, true},
                    {"train/derived/seconds_per_epoch", "s", spec::Better::lower, true, true}};
  constexpr double inf = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < runs; ++i) {
    report::ReportRun run;
    run.id = "tiny-20261120-103205-" + std::to_string(i);
    run.recipe = run.host = run.device = run.seed = run.user = run.code = name;
    run.state = i % 5 == 4 ? "failed" : "ok";
    run.complete = run.state == "ok";
    run.left_out = run.complete ? "" : run.state;
    run.message = run.complete ? "" : name;
    run.parameters = {{"rate", "0.1"}, {name, name}};
    run.levels = {i % 2 == 0 ? name : "b"};
    run.wall_s = 0.1 * static_cast<double>(i);
    run.values = {i % 7 == 6 ? std::optional<double>() : 1.0 / static_cast<double>(i + 3), inf};
    if (i % 7 == 5) run.values[0] = std::nan("");
    run.energy = run.reproduce = name;
    report.runs.push_back(run);
  }
  count(report);
  report.courses = {{name, "step", name, name, {curve_through(name, {course_to(40, 1, 0.1)})}}};
  report.courses[0].curves.push_back(curve_through(name, {course_to(3, 5, 5)}));
  report.courses[0].curves[1].on_second_axis = true;
  report.usage = {{name, "time", name, "", {curve_through(name, {course_to(1, 3, 3)})}}};
  std::vector<std::optional<std::size_t>> of_run(runs, 0);
  report.items = {{name, name, {name}, of_run}};
  report.stages = {{"one", {}, {{"ok", runs}}, {1.5}}, {name, {"one"}, {{"failed", runs}}, {}}};
  report.stages_of = name;
  return report;
}

inline bool is_utf8(const std::string& text) {
  std::size_t following = 0;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (following > 0) {
      if ((byte & 0xC0U) != 0x80U) return false;
      --following;
    } else if (byte >= 0x80) {
      if (byte < 0xC2 || byte > 0xF4) return false;
      following = byte < 0xE0 ? 1 : byte < 0xF0 ? 2 : 3;
    }
  }
  return following == 0;
}

/// Without what stands between Markdown's fences, where nothing is markup.
inline std::string without_fences(const std::string& text) {
  std::istringstream lines(text);
  std::string result;
  std::string fence;
  for (std::string line; std::getline(lines, line);) {
    const std::string ticks = line.substr(0, line.find_first_not_of('`'));
    if (fence.empty() && ticks.size() >= 3) {
      fence = ticks;
    } else if (!fence.empty()) {
      if (line == fence) fence.clear();
    } else {
      result += line + "\n";
    }
  }
  return result;
}

/// What every format must do.
inline void check_report_format(const report::ReportFormat& format) {
  INFO(format.name);
  SECTION("it is found by the name of a file") {
    const std::string file = "a" + std::string(format.extensions.front());
    CHECK(report::format_of(file) == &format);
    CHECK(report::format_of(std::string(format.extensions.front())) == nullptr);
  }
  SECTION("it writes every report there is, the same one with the same bytes") {
    CHECK_FALSE(format.write(report::Report{}).empty());
    for (const std::size_t runs : {1, 2, 9, 60}) {
      const report::Report report = full_report(runs, "plain");
      const std::string text = format.write(report);
      CHECK(text == format.write(report));
      CHECK(text.find("tiny-20261120-103205-0") != std::string::npos);
    }
  }
  SECTION("text from outside is text, whatever it looks like") {
    const std::string text = format.write(full_report(9, hostile_text));
    CHECK(is_utf8(text));
    for (const char c : text)
      CHECK_FALSE((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\r'));
    CHECK(text.find('\xff') == std::string::npos);
    // Nobody reads source text of JSON and CSV.
    if (format.name == "json" || format.name == "csv") return;
    const std::string running = without_fences(text);
    CHECK(running.find("<script") == std::string::npos);
    CHECK(running.find("<img") == std::string::npos);
    CHECK(text.find("\xE2\x80\xAE") == std::string::npos);
  }
}

}  // namespace sabath::test
