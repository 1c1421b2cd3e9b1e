#include "report_facts.hpp"

#include <sabath/analysis/difference_courses.hpp>
#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/base/text/value_order.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sabath::analysis {
namespace {

using report::Chart;
using report::Course;
using report::Curve;
using report::Report;

constexpr std::size_t few_runs = 8;     ///< that have a line each
constexpr std::size_t most_groups = 6;  ///< that have a curve each
constexpr std::size_t most_charts = 16;
constexpr std::size_t most_beside = 3;  ///< results in one chart

struct RunCourse {
  std::size_t run = 0;
  Along along = Along::step;
  std::uint64_t not_finite = 0;
  Course course{};
};

using RunCourses = std::vector<RunCourse>;

/// Limits the memory of many runs and metrics; few are drawn finely.
std::size_t buckets_for(std::size_t runs, std::size_t metrics) {
  constexpr std::size_t all = 2'000'000;  ///< somewhat above 100 MB
  return std::clamp<std::size_t>(
      all / std::max<std::size_t>(runs * metrics, 1), 16, runs <= few_runs ? 512 : 256);
}

RunCourse course_of(std::size_t run, const spec::Series& series, std::size_t buckets) {
  RunCourse result;
  result.course = Course(0, buckets);
  result.run = run;
  result.along = along_of(series);
  for (std::size_t i = 0; i < series.size(); ++i) {
    result.course.add(place_of(series, result.along, i), series.value[i]);
    result.not_finite += std::isfinite(series.value[i]) ? 0 : 1;
  }
  return result;
}

bool is_pair(const Report& report) {
  return report.by.empty() && report.runs.size() == 2;
}

std::map<std::string, std::size_t> columns_of_series(const std::map<MetricKey, std::size_t>& all,
                                                     const RunFacts& facts) {
  std::map<std::string, std::size_t> columns;
  for (const spec::MetricSummary& summary : facts.metrics) {
    if (const auto found = all.find(key_of(summary)); found != all.end())
      columns[summary.stream + "/" + summary.name] = found->second;
  }
  return columns;
}

struct CurveSide {
  std::vector<spec::Series> series{};
  std::map<std::string, std::size_t> columns{};

  const spec::Series* find(std::size_t metric) const {
    for (const spec::Series& one : series) {
      const auto found = columns.find(one.stream + "/" + one.name);
      if (one.size() > 1 && found != columns.end() && found->second == metric) return &one;
    }
    return nullptr;
  }
};

Curve difference_of(const spec::Series& a, const spec::Series& b, Along along) {
  Curve curve;
  curve.runs = 1;
  curve.lines.emplace_back(0, buckets_for(2, 1));
  Course& course = curve.lines.front();
  // Where they are equal there is a place without a value: a gap in the line.
  for (std::size_t i = 0; i < b.size(); ++i)
    course.add(place_of(b, along, i), std::nan(""));
  for_each_difference(a, b, along, [&](double place, double apart) {
    course.add(place, apart);
    curve.not_finite += std::isfinite(apart) ? 0 : 1;
  });
  curve.spread = report::spread_of(curve.lines);
  curve.ends = report::ends_of(curve.lines);
  return curve;
}

void add_differences(Report& report, const CurveSide& a, const CurveSide& b) {
  Chart chart{"Relative difference of A and B", "", "abs(A-B) / max(abs A, abs B)", "", {}};
  for (std::size_t i = 0; i < report.metrics.size(); ++i) {
    const report::ReportMetric& metric = report.metrics[i];
    if (metric.performance) continue;
    const spec::Series* one = a.find(i);
    const spec::Series* other = b.find(i);
    if (one == nullptr || other == nullptr) continue;
    const Along along = along_of(*one);
    if (along == Along::point || along_of(*other) != along) continue;
    if (!chart.x.empty() && chart.x != name_of(along)) continue;
    Curve curve = difference_of(*one, *other, along);
    curve.name = metric.name;
    if (curve.not_finite > 0) {
      report.notes.push_back(fmt::format(
          "{}: at {} points one of the two runs is not finite", metric.name, curve.not_finite));
    }
    if (curve.spread.empty()) continue;
    chart.x = name_of(along);
    chart.curves.push_back(std::move(curve));
    if (chart.curves.size() == most_groups) break;
  }
  if (!chart.curves.empty()) report.courses.push_back(std::move(chart));
}

bool is_time_per_epoch(const report::ReportMetric& metric) {
  return metric.performance && metric.unit == "s" && metric.name.find("epoch") != std::string::npos;
}

/// Metrics to read, the first of each kind, and the number of others.
struct Wanted {
  std::map<MetricKey, std::size_t> columns{};
  std::set<std::size_t> metrics{};
  std::size_t left_out = 0;
};

Wanted wanted_metrics(const Report& report, const std::vector<RunFacts>& facts) {
  Wanted wanted;
  wanted.columns = columns_of(report);
  std::vector<bool> has_course(report.metrics.size());
  for (const RunFacts& one : facts) {
    if (one.series.empty()) continue;
    for (const spec::MetricSummary& summary : one.metrics) {
      if (summary.points > 1) has_course[wanted.columns.at(key_of(summary))] = true;
    }
  }
  const auto take = [&](std::size_t most, const auto& fits) {
    for (std::size_t i = 0; i < report.metrics.size(); ++i) {
      if (!has_course[i] || !fits(report.metrics[i])) continue;
      if (wanted.metrics.size() < most) {
        wanted.metrics.insert(i);
      } else {
        ++wanted.left_out;
      }
    }
  };
  take(most_charts * most_beside, [](const auto& metric) { return !metric.performance; });
  take(most_charts * (most_beside + 1), is_time_per_epoch);
  take(most_charts * (most_beside + 1),
       [](const auto& metric) { return metric.performance && !is_time_per_epoch(metric); });
  return wanted;
}

using Courses = std::map<std::size_t, RunCourses>;

Courses read_courses(Report& report, const Wanted& wanted, const std::vector<RunFacts>& facts) {
  Courses courses;
  const std::size_t buckets = buckets_for(facts.size(), wanted.metrics.size());
  std::uint64_t unreadable = 0;
  CurveSide first;
  for (std::size_t run = 0; run < facts.size(); ++run) {
    if (facts[run].series.empty() || !is_shown(report, run)) continue;
    try {
      CurveSide all{arrays::read_series(facts[run].series),
                    columns_of_series(wanted.columns, facts[run])};
      for (const spec::Series& series : all.series) {
        const auto column = all.columns.find(series.stream + "/" + series.name);
        if (series.size() < 2 || column == all.columns.end()) continue;
        if (!wanted.metrics.contains(column->second)) continue;
        courses[column->second].push_back(course_of(run, series, buckets));
      }
      if (!is_pair(report)) continue;
      if (run == 1) add_differences(report, first, all);
      first = std::move(all);
    } catch (const base::Error& error) {
      if (++unreadable <= 3) report.notes.push_back(error.what());
    }
  }
  if (unreadable > 3)
    report.notes.push_back(
        fmt::format("the series of {} more runs cannot be read", unreadable - 3));
  return courses;
}

/// Keeps the series along the most common axis.
Along keep_one_axis(RunCourses& runs, const std::string& name, Report& report) {
  std::map<Along, std::size_t> counts;
  for (const RunCourse& run : runs)
    ++counts[run.along];
  const auto most =
      std::ranges::max_element(counts, {}, [](const auto& one) { return one.second; });
  const Along along = most->first;
  const std::size_t others =
      std::erase_if(runs, [&](const RunCourse& run) { return run.along != along; });
  if (others > 0) {
    report.notes.push_back(fmt::format(
        "{}: not drawn of {}, without the {}", name, base::counted(others, "run"), name_of(along)));
  }
  return along;
}

Curve curve_of(std::string name, std::vector<RunCourse> runs) {
  Curve curve;
  curve.name = std::move(name);
  curve.runs = runs.size();
  std::vector<Course> courses;
  for (RunCourse& run : runs) {
    curve.not_finite += run.not_finite;
    courses.push_back(std::move(run.course));
  }
  curve.spread = report::spread_of(courses);
  curve.ends = report::ends_of(courses);
  if (courses.size() <= few_runs) curve.lines = std::move(courses);
  return curve;
}

/// Key that orders groups: levels, or the place of one of two runs.
std::vector<std::string> group_key(const Report& report, std::size_t run) {
  if (is_pair(report)) return {std::to_string(run)};
  return report.runs[run].levels;
}

/// A curve for each of a few groups, else one of all runs.
std::vector<Curve> curves_by_group(const Report& report,
                                   const std::string& name,
                                   std::vector<RunCourse> runs) {
  std::map<std::vector<std::string>, std::vector<RunCourse>, base::ValuesOrder> groups;
  for (const RunCourse& run : runs)
    groups[group_key(report, run.run)];
  std::vector<Curve> curves;
  if ((report.by.empty() && !is_pair(report)) || groups.size() > most_groups) {
    curves.push_back(curve_of(name, std::move(runs)));
  } else {
    for (RunCourse& run : runs)
      groups[group_key(report, run.run)].push_back(std::move(run));
    for (auto& [key, its] : groups) {
      const std::size_t run = its.front().run;
      curves.push_back(curve_of(is_pair(report)
                                    ? (run == 0 ? "A, " : "B, ") + report.runs[run].id
                                    : spec::group_name(report.by, report.runs[run].levels),
                                std::move(its)));
    }
  }
  std::erase_if(curves, [](const Curve& curve) { return curve.spread.empty(); });
  // Lines of many runs in all of them would cover one another.
  std::size_t lines = 0;
  for (const Curve& curve : curves)
    lines += curve.lines.size();
  for (Curve& curve : curves) {
    if (lines > few_runs && curve.runs > 1) curve.lines.clear();
  }
  return curves;
}

std::pair<double, double> extremes_of(const Curve& curve) {
  return {std::ranges::min(curve.spread, {}, &report::Spread::lowest).lowest,
          std::ranges::max(curve.spread, {}, &report::Spread::highest).highest};
}

/// Whether two quantities can share an axis: neither looks flat.
bool fits_beside(const Curve& a, const Curve& b) {
  auto [low_a, high_a] = extremes_of(a);
  auto [low_b, high_b] = extremes_of(b);
  // Where the axis will be logarithmic, ratios are what is seen.
  constexpr double two_orders = 100;
  const double lowest = std::min(low_a, low_b);
  if (lowest > 0 && std::max(high_a, high_b) / lowest >= two_orders) {
    for (double* end : {&low_a, &high_a, &low_b, &high_b})
      *end = std::log(*end);
  }
  constexpr double least = 1.0 / 12;
  const double all = std::max(high_a, high_b) - std::min(low_a, low_b);
  return std::min(high_a - low_a, high_b - low_b) > all * least;
}

std::string stream_of(const std::string& metric) {
  return metric.substr(0, metric.find('/'));
}

class Charts {
 public:
  Charts(Report& report, Courses courses, std::size_t left_out)
      : report_(report), courses_(std::move(courses)), left_out_(left_out) {}

  void make() {
    for (std::size_t i = 0; i < report_.metrics.size(); ++i) {
      if (!report_.metrics[i].performance) make_of(i);
    }
    // Times per epoch that found no place beside a loss, rates, and the like.
    for (std::size_t i = 0; i < report_.metrics.size(); ++i)
      make_of(i);
    if (left_out_ > 0)
      report_.notes.push_back(fmt::format("{} more metrics have a course", left_out_));
  }

 private:
  RunCourses* courses_of(std::size_t metric) {
    const auto found = courses_.find(metric);
    return found == courses_.end() || done_.contains(metric) ? nullptr : &found->second;
  }

  void make_of(std::size_t metric) {
    RunCourses* courses = courses_of(metric);
    if (courses == nullptr) return;
    done_.insert(metric);
    if (report_.courses.size() == most_charts) {
      ++left_out_;
      return;
    }
    const report::ReportMetric& said = report_.metrics[metric];
    const Along along = keep_one_axis(*courses, said.name, report_);
    Chart chart{said.name, name_of(along), spec::shown_title(said.name, said.unit, false), "", {}};
    chart.curves = curves_by_group(report_, said.name, std::move(*courses));
    if (chart.curves.empty()) {
      report_.notes.push_back(said.name + ": no point is finite");
      return;
    }
    if (chart.curves.size() == 1) add_beside(chart, metric, along);
    if (!said.performance) add_time_per_epoch(chart, stream_of(said.name), along);
    report_.courses.push_back(std::move(chart));
  }

  /// Adds results of the same stage, unit and direction: the validation beside the loss.
  void add_beside(Chart& chart, std::size_t metric, Along along) {
    const report::ReportMetric said = report_.metrics[metric];
    if (said.performance || said.better == spec::Better::none) return;
    for (std::size_t i = metric + 1; i < report_.metrics.size(); ++i) {
      const report::ReportMetric& other = report_.metrics[i];
      RunCourses* courses = courses_of(i);
      const bool is_alike = !other.performance && other.unit == said.unit &&
                            other.better == said.better &&
                            stream_of(other.name) == stream_of(said.name);
      if (courses == nullptr || !is_alike || chart.curves.size() == most_beside) continue;
      if (keep_one_axis(*courses, other.name, report_) != along) continue;
      Curve curve = curve_of(other.name, *courses);
      if (curve.spread.empty() || !fits_beside(chart.curves.front(), curve)) continue;
      if (chart.curves.front().lines.empty()) curve.lines.clear();
      chart.curves.push_back(std::move(curve));
      chart.title += " and " + other.name;
      done_.insert(i);
    }
    if (chart.curves.size() > 1)
      chart.y = said.unit.empty() || said.unit == "1" ? "value" : "value [" + said.unit + "]";
  }

  void add_time_per_epoch(Chart& chart, const std::string& stream, Along along) {
    for (std::size_t i = 0; i < report_.metrics.size(); ++i) {
      const report::ReportMetric& metric = report_.metrics[i];
      RunCourses* courses = courses_of(i);
      if (courses == nullptr || !is_time_per_epoch(metric) || stream_of(metric.name) != stream)
        continue;
      if (keep_one_axis(*courses, metric.name, report_) != along) continue;
      Curve curve = curve_of(metric.name + " [s], on the right", *courses);
      if (curve.spread.empty()) continue;
      curve.on_second_axis = true;
      chart.second_y = "time per epoch [s]";
      chart.curves.push_back(std::move(curve));
      done_.insert(i);
      return;
    }
  }

  Report& report_;
  Courses courses_;
  std::set<std::size_t> done_{};
  std::size_t left_out_;
};

void add_usage(Report& report, std::vector<RunFacts>& facts) {
  for (const UsageKind& kind : usage_kinds()) {
    std::vector<RunCourse> runs;
    for (std::size_t run = 0; run < facts.size(); ++run) {
      if (!is_shown(report, run)) continue;
      for (UsageCourse& usage : facts[run].usage) {
        if (usage.what == kind.what) runs.push_back({run, Along::step, 0, std::move(usage.course)});
      }
    }
    if (runs.empty()) continue;
    Chart chart{kind.what, "time since the start [s]", kind.title, "", {}};
    chart.curves = curves_by_group(report, kind.what, std::move(runs));
    for (Curve& curve : chart.curves) {
      if (curve.runs > 1) curve.ends.reset();  // their samples are not at the same times
    }
    if (!chart.curves.empty()) report.usage.push_back(std::move(chart));
  }
}

}  // namespace

void fill_charts(Report& report, std::vector<RunFacts>& facts) {
  const Wanted wanted = wanted_metrics(report, facts);
  Charts(report, read_courses(report, wanted, facts), wanted.left_out).make();
  add_usage(report, facts);
}

}  // namespace sabath::analysis
