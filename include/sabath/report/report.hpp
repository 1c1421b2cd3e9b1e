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
  bool performance = false;  ///< then the values are medians, else the last ones
  bool declared = false;     ///< by the recipe, or imported

  bool operator==(const ReportMetric&) const = default;
};

struct ReportRun {
  std::string id{};
  std::string recipe{};
  std::string state{};
  std::string message{};  ///< why it did not end well
  std::string started{};
  std::string host{};
  std::string device{};  ///< its GPUs, else its processor
  std::string seed{};
  std::string user{};
  std::string sabath_version{};
  std::string code{};  ///< commit, and what differs from it
  std::map<std::string, std::string> parameters{};
  std::vector<std::string> levels{};  ///< of what the report is grouped by
  std::optional<double> wall_s{};
  std::vector<std::optional<double>> values{};  ///< of each metric; NaN and infinities as they came
  /// Of each metric all digits of a whole number that no double holds, else empty. Empty: of none.
  std::vector<std::string> whole{};
  std::optional<double> joules{};  ///< of its accelerators, else of its processors
  std::string energy{};            ///< what was counted and how, or why nothing was
  std::string reproduce{};         ///< the command that repeats it
  bool complete = false;           ///< it ended well, or was imported
  std::string left_out{};          ///< why it does not count; empty: it does

  bool counts() const { return left_out.empty(); }
  bool operator==(const ReportRun&) const = default;
};

/// What a group of runs, or one metric of them, does along an axis.
struct Curve {
  std::string name{};
  std::vector<Course> lines{};  ///< of each run, while these are few
  std::vector<Spread> spread{};
  std::uint64_t runs = 0;
  std::uint64_t not_finite = 0;  ///< points that cannot be drawn
  bool on_second_axis = false;

  bool operator==(const Curve&) const = default;
};

struct Chart {
  std::string title{};
  std::string x{};  ///< "step", "time [s]"
  std::string y{};
  std::string second_y{};
  std::vector<Curve> curves{};

  bool operator==(const Chart&) const = default;
};

/// An item of a facet, of all runs.
struct ReportItem {
  std::string facet{};
  std::string item{};
  std::vector<std::string> values{};                 ///< that occur, each once
  std::vector<std::optional<std::size_t>> of_run{};  ///< nothing: the run has it not

  bool varies() const;
  bool operator==(const ReportItem&) const = default;
};

struct ReportStage {
  std::string name{};
  std::vector<std::string> needs{};
  std::map<std::string, std::uint64_t> states{};  ///< how many runs it has what state in
  std::vector<double> wall_s{};                   ///< of the runs that executed it

  bool operator==(const ReportStage&) const = default;
};

/// All that a report says; each format writes the same one.
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
  std::vector<std::string> notes{};  ///< what could not be read, or was left out
  std::vector<Chart> courses{};      ///< of metrics over steps
  std::vector<Chart> usage{};        ///< over time
  std::vector<ReportItem> items{};
  std::vector<ReportStage> stages{};
  std::string stages_of{};  ///< the recipe whose stages these are

  bool operator==(const Report&) const = default;
};

/// Do curves, spreads and times of stages have this run? Those that count; where none does, all.
bool is_shown(const Report& report, std::size_t run);

/// The metric that stands for how good a run is in the table of performance: of validation, else
/// a loss, else the first that is declared.
std::optional<std::size_t> final_metric(const std::vector<ReportMetric>& metrics);

/// A way to write a report down.
struct ReportFormat {
  std::string_view name{};                       ///< "html"
  std::array<std::string_view, 2> extensions{};  ///< of files that are meant: ".html", ".htm"
  std::string (*write)(const Report& report) = nullptr;
};
/// The only list of formats.
std::span<const ReportFormat> builtin_formats();
/// By a file's name; nothing where none is meant.
const ReportFormat* format_of(std::string_view file_name);

}  // namespace sabath::report
