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

/// What a stage left: its own folder has stdout.log, stderr.log, metrics-<rank>.jsonl and the
/// folder `work` that it ran in.
struct StageFiles {
  std::string stage{};
  std::filesystem::path directory{};
  std::filesystem::path outputs{};  ///< the folder of its outputs; need not be there
  /// Its folders in earlier attempts that it went on from, oldest first.
  std::vector<std::filesystem::path> earlier{};
  base::ReadLimits limits{};  ///< looked at while its files are read
};

/// A line (or record, from 1) that could not be read: where and why. Kept few; counted all.
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

/// In which order one rank of a stage took its samples, as far as the code told.
struct SampleOrder {
  std::int32_t rank = 0;
  std::string digest{};
};

/// What the code told of what decides its results.
struct Reported {
  std::map<std::string, std::string> seeds{};  ///< by what they seed
  std::vector<SampleOrder> orders{};
};

struct Extraction {
  std::uint64_t points = 0;
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> examples{};  ///< the first ten
  std::vector<Searched> searched{};
  spec::Collected collected{};  ///< what else was found or should be told
  Reported reported{};
  /// By metric of MLLOG that has steps: they are numbers of samples (`samples_count`).
  std::map<std::string, bool> counts_samples{};
  std::optional<double> start_s{};  ///< when the run began, as the code told (MLLOG's `run_start`)
};

/// Gets metrics out of what a stage left in its folders.
class Extractor {
 public:
  virtual ~Extractor() = default;
  virtual spec::SourceKind kind() const = 0;  ///< its word in a recipe's "from"
  virtual std::string_view description() const = 0;
  /// Reads the files and gives every point of the `wanted` metrics (all of this kind, and of this
  /// stage) to `sink` under the stage's name. JSON lines and MLLOG's are taken without being
  /// wanted. Missing files are no error; unreadable lines are counted, never fatal. Constant memory
  /// in the size of the files.
  virtual Extraction extract(const StageFiles& files,
                             const std::vector<spec::MetricSpec>& wanted,
                             base::SeriesSink& sink) = 0;
};

/// The only list of extractors.
std::vector<std::unique_ptr<Extractor>> builtin_extractors();

/// Every extractor that has something to do for this stage, in order. `declared`: of all stages.
Extraction extract_all(const StageFiles& files,
                       const std::vector<spec::MetricSpec>& declared,
                       base::SeriesSink& sink);

/// A sink that passes points on to `next` and sums them up on the way.
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

}  // namespace sabath::collect
