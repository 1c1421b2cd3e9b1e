#pragma once

#include "extractors.hpp"
#include "source_files.hpp"

#include <sabath/collect/collect.hpp>

#include <limits>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace sabath::collect {

/// Lets metrics pass that are taken without being declared. Holds back those that are declared to
/// come from elsewhere, or that came from another kind before. Two sources of one name must not
/// become one series.
class Unclaimed final : public base::SeriesSink {
 public:
  Unclaimed(const std::string& stage,
            const std::vector<spec::MetricSpec>& declared,
            base::SeriesSink& next)
      : stage_(stage), declared_(declared), next_(next) {}

  void begin(spec::SourceKind kind) { kind_ = kind; }
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override {
    if (series != claimed) next_.add(series, point);
  }

  static constexpr base::SeriesId claimed{std::numeric_limits<std::size_t>::max()};

 private:
  const std::string& stage_;
  const std::vector<spec::MetricSpec>& declared_;
  base::SeriesSink& next_;
  spec::SourceKind kind_ = spec::SourceKind::jsonl;
  std::map<std::string, spec::SourceKind> owners_{};
};

/// The extractors that apply to one stage, in order.
class StageReader {
 public:
  /// All arguments must outlive it. `positions`: of files that grow; nullptr: all are complete.
  StageReader(const StageFiles& files,
              const std::vector<spec::MetricSpec>& declared,
              base::SeriesSink& sink,
              FilePositions* positions = nullptr);
  ~StageReader() = default;
  StageReader(const StageReader&) = delete;
  StageReader& operator=(const StageReader&) = delete;

  /// Passes all points, or those that are new.
  void read();
  /// Returns what the calls of read() found beside points.
  Extraction extraction();
  /// Returns the lines that could not be read since the last call, and drops what is found beside
  /// points: of a stage that runs it is not final.
  std::uint64_t take_bad_lines();

 private:
  struct Part {
    Part(std::unique_ptr<Extractor> reads,
         spec::SourceKind kind,
         const std::string& stage,
         base::SeriesSink& sink,
         FilePositions* positions)
        : extractor(std::move(reads)), target{kind, stage, sink, extraction, positions} {}

    std::unique_ptr<Extractor> extractor;
    Extraction extraction{};
    PointTarget target;  ///< refers to the extraction
  };

  Unclaimed unclaimed_;
  std::vector<std::unique_ptr<Part>> parts_{};
};

}  // namespace sabath::collect
