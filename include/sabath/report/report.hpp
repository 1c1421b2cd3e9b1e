#pragma once

#include <sabath/report/course.hpp>
#include <sabath/spec/comparison.hpp>
#include <sabath/spec/group_comparison.hpp>
#include <sabath/spec/metric.hpp>

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::report {

/// A column of results: a metric of one stage.
struct ReportMetric {
  std::string name{};  ///< "train/loss"
  std::string unit{};
  spec::Better better = spec::Better::none;
  bool performance = false;            ///< values are medians, else those that are judged
  bool declared = false;               ///< by the recipe, or imported
  std::optional<std::string> judge{};  ///< as in spec::MetricSummary
};

struct ReportRun {
  std::string id{};
  std::string recipe{};
  std::string state{};
  std::string message{};  ///< reason of the failure
  std::string started{};
  std::string host{};
  std::string device{};  ///< its GPUs, else its processor
  std::string seed{};
  std::string user{};
  std::string sabath_version{};
  std::string code{};  ///< commit, and number of files that differ
  std::map<std::string, std::string> parameters{};
  std::vector<std::string> levels{};  ///< by the keys of the grouping
  std::optional<double> wall_s{};
  std::vector<std::optional<double>> values{};  ///< by metric; NaN and infinities are kept
  /// All digits of whole numbers that no double holds, by metric; else empty. Empty vector: no
  /// metric has such a number.
  std::vector<std::string> whole{};
  std::optional<double> joules{};  ///< of its accelerators, else of its processors
  std::string energy{};            ///< method and devices, or why none
  std::string reproduce{};         ///< the command that repeats it
  bool complete = false;           ///< completed, or imported
  std::string left_out{};          ///< why it does not count; empty: it does

  bool counts() const { return left_out.empty(); }
};

/// Curve of a group of runs, or of one of their metrics, along an axis.
struct Curve {
  std::string name{};
  std::vector<Course> lines{};  ///< one a run, for few runs
  std::vector<Spread> spread{};
  std::optional<std::pair<Spread, Spread>> ends{};  ///< exact; absent over time in several runs
  std::uint64_t runs = 0;
  std::uint64_t not_finite = 0;  ///< points that cannot be drawn
  bool on_second_axis = false;
};

struct Chart {
  std::string title{};
  std::string x{};  ///< "step", "time [s]"
  std::string y{};
  std::string second_y{};
  std::vector<Curve> curves{};
};

/// An item of a facet in all runs.
struct ReportItem {
  std::string facet{};
  std::string item{};
  std::vector<std::string> values{};                 ///< distinct values
  std::vector<std::optional<std::size_t>> of_run{};  ///< nothing: the run lacks it

  bool varies() const;
};

struct ReportStage {
  std::string name{};
  std::vector<std::string> needs{};
  std::map<std::string, std::uint64_t> states{};  ///< number of runs by state of the stage
  std::vector<double> wall_s{};                   ///< of the runs that executed it
};

/// Content of a report; each format writes the same.
struct Report {
  std::string selection{};
  std::vector<std::string> by{};
  std::string made{};  ///< RFC 3339
  std::string sabath_version{};
  std::string command{};
  std::vector<ReportMetric> metrics{};
  std::vector<ReportRun> runs{};
  spec::RunCount count{};                  ///< of `runs`, as in every other command
  std::optional<spec::Comparison> pair{};  ///< of exactly two runs
  std::optional<spec::GroupComparison> groups{};
  /// Of a sweep: runs in which a parameter varies that affects the result. The report begins with
  /// it.
  std::optional<spec::Ranking> ranking{};
  std::vector<std::string> notes{};  ///< of users to runs; what could not be read, or was left out
  std::vector<Chart> courses{};      ///< of metrics over steps
  std::vector<Chart> usage{};        ///< over time
  std::vector<ReportItem> items{};
  std::vector<ReportStage> stages{};
  std::string stages_of{};  ///< name of the recipe of the stages
  /// Seconds after which a browser reads the page again; nothing: never.
  std::optional<int> refresh_s{};
};

/// Whether curves, spreads and times of stages include this run: those that count, or all where
/// none counts.
bool is_shown(const Report& report, std::size_t run);

/// Metric that represents quality in the performance table: of validation, else a loss, else the
/// first that is declared.
std::optional<std::size_t> final_metric(const std::vector<ReportMetric>& metrics);

/// The sections of a report with figures as laid-out values (docs/formats/live.md): what the live
/// view shows.
std::string document_json(const Report& report);

/// The graph of stages alone, as laid-out values. States of a run under way are "planned" and
/// "running", too.
std::string stage_graph_json(const std::vector<ReportStage>& stages, const std::string& recipe);

/// html_style.css, the style sheet of reports. Curves have colours that colour-blind people can
/// distinguish, with a contrast of at least 3 to 1; text has 4.5 to 1. Prints are light on any
/// screen.
std::string_view html_style();

struct ReportFormat {
  std::string_view name{};                       ///< "html"
  std::array<std::string_view, 2> extensions{};  ///< of its files: ".html", ".htm"
  std::string (*write)(const Report& report) = nullptr;
};
std::span<const ReportFormat> builtin_formats();
/// Format of a file name; null without one.
const ReportFormat* format_of(std::string_view file_name);

}  // namespace sabath::report
