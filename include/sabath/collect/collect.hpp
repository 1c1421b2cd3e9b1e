#pragma once

#include <sabath/base/process/read_limits.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// Files of a finished stage. Its folder has stdout.log, stderr.log, metrics-<rank>.jsonl and the
/// working folder `work`.
struct StageFiles {
  std::string stage{};
  std::filesystem::path directory{};
  std::filesystem::path outputs{};  ///< the folder of its outputs; may be missing
  /// Its folders in earlier attempts that it continued, oldest first.
  std::vector<std::filesystem::path> earlier{};
  base::ReadLimits limits{};  ///< checked while its files are read
};

/// A line (or record, from 1) that could not be read. All are counted, the first few are kept.
struct BadLine {
  std::filesystem::path file{};
  std::uint64_t line = 0;
  std::string problem{};
};

/// A file that was read, and which metrics it was read for.
struct Searched {
  spec::SourceKind kind = spec::SourceKind::jsonl;
  std::string file{};  ///< as the metrics' source says it
  std::filesystem::path path{};
};

/// Digest of the order in which one rank of a stage took its samples, as the code reported it.
struct SampleOrder {
  std::int32_t rank = 0;
  std::string digest{};
};

/// Seeds and orders of samples that the code reported.
struct Reported {
  std::map<std::string, std::string> seeds{};  ///< by what they seed
  std::vector<SampleOrder> orders{};
};

struct Extraction {
  std::uint64_t points = 0;
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> examples{};  ///< the first ten
  std::vector<Searched> searched{};
  spec::Collected collected{};  ///< other findings, and notes for the user
  Reported reported{};
  /// MLLOG metrics with steps: whether the steps are numbers of samples (`samples_count`).
  std::map<std::string, bool> counts_samples{};
  std::optional<double>
      start_s{};  ///< begin of the run, as the code reported it (MLLOG's `run_start`)
};

/// Runs the extractors that apply to this stage, in order, and passes every point to `sink` under
/// the stage's name. `declared`: the metrics of all stages. JSON lines and MLLOG lines are also
/// read if not declared. Missing files are not errors; unreadable lines are counted, never fatal.
/// Memory does not grow with the files.
Extraction extract_all(const StageFiles& files,
                       const std::vector<spec::MetricSpec>& declared,
                       base::SeriesSink& sink);

/// A sink that passes points on to `next` and summarizes them.
class Summarizer final : public base::SeriesSink {
 public:
  /// `declared` gives unit, direction, kind and warm-up; undeclared metrics are kept too.
  Summarizer(std::vector<spec::MetricSpec> declared, base::SeriesSink& next);
  ~Summarizer() override;
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// Sorted by stream and name.
  std::vector<spec::MetricSummary> summaries() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// A sink that passes points on to `next` and adds metrics derived from their times
/// (spec::with_derived): time per epoch and step, steps or samples per second, time to a target.
/// Adds none for points without times. Memory does not grow with the points.
class DerivedMetrics final : public base::SeriesSink {
 public:
  /// `declared` must outlive this.
  DerivedMetrics(const std::vector<spec::MetricSpec>& declared, base::SeriesSink& next);
  ~DerivedMetrics() override;
  DerivedMetrics(const DerivedMetrics&) = delete;
  DerivedMetrics& operator=(const DerivedMetrics&) = delete;
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// Sets the begin of the run of `stream`, as the code reported it. Default: the first point's
  /// time.
  void start(std::string_view stream, double time_s);
  /// Declares the steps of this series as numbers of samples: derives samples per second instead.
  void count_samples(std::string_view stream, std::string_view metric);
  /// To be called after the last point: passes the rest to `next` and returns notes for the user.
  std::vector<std::string> finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::collect
