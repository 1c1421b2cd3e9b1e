#include "report_charts.hpp"

#include "series_place.hpp"

#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sabath::app {
namespace {

using report::Chart;
using report::Course;
using report::Curve;
using report::Report;

constexpr std::size_t few_runs = 8;     ///< that have a line each
constexpr std::size_t most_groups = 6;  ///< that have a curve each
constexpr std::size_t most_charts = 16;

struct RunCourse {
  std::size_t run = 0;
  Along along = Along::step;
  std::uint64_t not_finite = 0;
  Course course{};
};

/// One metric of all runs.
struct MetricCourses {
  std::vector<RunCourse> runs{};
};

/// So that many runs need no more memory than few, and few are drawn finely.
std::size_t buckets_for(std::size_t runs) {
  constexpr std::size_t many = 1000;
  return runs <= few_runs ? 512 : runs <= many ? 256 : 64;
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

/// Two runs have a curve each.
bool is_pair(const Report& report) {
  return report.by.empty() && report.runs.size() == 2;
}

/// A chart of where two runs part, a curve for each metric.
void add_differences(Report& report,
                     const std::vector<spec::Series>& a,
                     const std::vector<spec::Series>& b) {
  Chart chart{"Relative difference of A and B", "", "abs(A-B) / max(abs A, abs B)", "", {}};
  for (const report::ReportMetric& metric : report.metrics) {
    const auto is_it = [&](const spec::Series& series) {
      return series.size() > 1 && series.stream + "/" + series.name == metric.name;
    };
    const auto one = std::find_if(a.begin(), a.end(), is_it);
    const auto other = std::find_if(b.begin(), b.end(), is_it);
    if (metric.performance || one == a.end() || other == b.end()) continue;
    const Along along = along_of(*one);
    if (along == Along::point || along_of(*other) != along) continue;
    if (!chart.x.empty() && chart.x != name_of(along)) continue;
    std::vector<Course> courses{Course(0, buckets_for(2))};
    for_each_difference(*one, *other, along, [&](double place, double apart) {
      courses.front().add(place, apart);
    });
    Curve curve;
    curve.name = metric.name;
    curve.runs = 1;
    curve.spread = report::spread_of(courses);
    if (curve.spread.empty()) continue;
    curve.lines = std::move(courses);
    chart.x = name_of(along);
    chart.curves.push_back(std::move(curve));
    if (chart.curves.size() == most_groups) break;
  }
  if (!chart.curves.empty()) report.courses.push_back(std::move(chart));
}

std::map<std::string, MetricCourses> read_courses(Report& report,
                                                  const std::vector<RunFacts>& facts,
                                                  const std::stop_token& stop) {
  std::map<std::string, MetricCourses> courses;
  std::uint64_t unreadable = 0;
  std::vector<spec::Series> first;
  for (std::size_t run = 0; run < facts.size(); ++run) {
    if (facts[run].series.empty()) continue;
    if (stop.stop_requested())
      throw base::Error(base::ErrorKind::interrupted, "report: stopped, and nothing was written");
    try {
      std::vector<spec::Series> all = arrays::read_series(facts[run].series);
      for (const spec::Series& series : all) {
        if (series.size() < 2) continue;
        courses[series.stream + "/" + series.name].runs.push_back(
            course_of(run, series, buckets_for(facts.size())));
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

/// Series along something else than most others of their metric cannot share an axis with them.
Along keep_one_axis(MetricCourses& metric, const std::string& name, Report& report) {
  std::map<Along, std::size_t> counts;
  for (const RunCourse& run : metric.runs)
    ++counts[run.along];
  const auto most =
      std::max_element(counts.begin(), counts.end(), [](const auto& a, const auto& b) {
        return a.second < b.second;
      });
  const Along along = most->first;
  const std::size_t others =
      std::erase_if(metric.runs, [&](const RunCourse& run) { return run.along != along; });
  if (others > 0) {
    report.notes.push_back(fmt::format("{}: not drawn of {} run{}, without the {}",
                                       name,
                                       others,
                                       others == 1 ? "" : "s",
                                       name_of(along)));
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
  if (courses.size() <= few_runs) curve.lines = std::move(courses);
  return curve;
}

std::string group_of(const Report& report, std::size_t run) {
  if (is_pair(report)) return (run == 0 ? "A, " : "B, ") + report.runs[run].id;
  return fmt::format("{}", fmt::join(report.runs[run].levels, " / "));
}

/// A curve for each group, while these are few; else one of all runs.
std::vector<Curve> curves_by_group(const Report& report,
                                   const std::string& name,
                                   std::vector<RunCourse> runs) {
  std::map<std::string, std::vector<RunCourse>> groups;
  for (const RunCourse& run : runs)
    groups[group_of(report, run.run)];
  std::vector<Curve> curves;
  if ((report.by.empty() && !is_pair(report)) || groups.size() > most_groups) {
    curves.push_back(curve_of(name, std::move(runs)));
  } else {
    for (RunCourse& run : runs)
      groups[group_of(report, run.run)].push_back(std::move(run));
    for (auto& [group, its] : groups)
      curves.push_back(curve_of(group.empty() ? "(none)" : group, std::move(its)));
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
  std::pair<double, double> extremes{curve.spread.front().lowest, curve.spread.front().highest};
  for (const report::Spread& one : curve.spread) {
    extremes.first = std::min(extremes.first, one.lowest);
    extremes.second = std::max(extremes.second, one.highest);
  }
  return extremes;
}

/// Two quantities share an axis where neither is flat beside the other.
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

bool is_time_per_epoch(const report::ReportMetric& metric) {
  return metric.performance && metric.unit == "s" && metric.name.find("epoch") != std::string::npos;
}

class Charts {
 public:
  Charts(Report& report, std::map<std::string, MetricCourses> courses)
      : report_(report), courses_(std::move(courses)) {}

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
  MetricCourses* courses_of(std::size_t metric) {
    const auto found = courses_.find(report_.metrics[metric].name);
    return found == courses_.end() || done_.contains(metric) ? nullptr : &found->second;
  }

  void make_of(std::size_t metric) {
    MetricCourses* courses = courses_of(metric);
    if (courses == nullptr) return;
    done_.insert(metric);
    if (report_.courses.size() == most_charts) {
      ++left_out_;
      return;
    }
    const report::ReportMetric& said = report_.metrics[metric];
    const Along along = keep_one_axis(*courses, said.name, report_);
    Chart chart{said.name, name_of(along), title_of(said), "", {}};
    chart.curves = curves_by_group(report_, said.name, courses->runs);
    if (chart.curves.empty()) {
      report_.notes.push_back(said.name + ": no point is finite");
      return;
    }
    if (chart.curves.size() == 1) add_beside(chart, metric, along);
    if (!said.performance) add_time_per_epoch(chart, stream_of(said.name), along);
    report_.courses.push_back(std::move(chart));
  }

  /// Other results of the same stage in the same unit and sense: the validation beside the loss.
  void add_beside(Chart& chart, std::size_t metric, Along along) {
    constexpr std::size_t most_beside = 3;
    const report::ReportMetric said = report_.metrics[metric];
    if (said.performance || said.better == spec::Better::none) return;
    for (std::size_t i = metric + 1; i < report_.metrics.size(); ++i) {
      const report::ReportMetric& other = report_.metrics[i];
      MetricCourses* courses = courses_of(i);
      const bool is_alike = !other.performance && other.unit == said.unit &&
                            other.better == said.better &&
                            stream_of(other.name) == stream_of(said.name);
      if (courses == nullptr || !is_alike || chart.curves.size() == most_beside) continue;
      if (keep_one_axis(*courses, other.name, report_) != along) continue;
      Curve curve = curve_of(other.name, courses->runs);
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
      MetricCourses* courses = courses_of(i);
      if (courses == nullptr || !is_time_per_epoch(metric) || stream_of(metric.name) != stream)
        continue;
      if (keep_one_axis(*courses, metric.name, report_) != along) continue;
      Curve curve = curve_of(metric.name + " [s], on the right", courses->runs);
      if (curve.spread.empty()) continue;
      curve.on_second_axis = true;
      chart.second_y = "time per epoch [s]";
      chart.curves.push_back(std::move(curve));
      done_.insert(i);
      return;
    }
  }

  static std::string title_of(const report::ReportMetric& metric) {
    return metric.unit.empty() || metric.unit == "1" ? metric.name
                                                     : metric.name + " [" + metric.unit + "]";
  }

  Report& report_;
  std::map<std::string, MetricCourses> courses_;
  std::set<std::size_t> done_{};
  std::size_t left_out_ = 0;
};

void add_usage(Report& report, std::vector<RunFacts>& facts) {
  for (const UsageKind& kind : usage_kinds()) {
    std::vector<RunCourse> runs;
    for (std::size_t run = 0; run < facts.size(); ++run) {
      for (UsageCourse& usage : facts[run].usage) {
        if (usage.what == kind.what) runs.push_back({run, Along::step, 0, std::move(usage.course)});
      }
    }
    if (runs.empty()) continue;
    Chart chart{kind.what, "time since the start [s]", kind.title, "", {}};
    chart.curves = curves_by_group(report, kind.what, std::move(runs));
    if (!chart.curves.empty()) report.usage.push_back(std::move(chart));
  }
}

}  // namespace

void fill_charts(Report& report, std::vector<RunFacts>& facts, const std::stop_token& stop) {
  Charts(report, read_courses(report, facts, stop)).make();
  add_usage(report, facts);
}

}  // namespace sabath::app
