#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/metric.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::collect {

/// A line that could not be read: where and why. Kept few; counted all.
struct BadLine {
  std::filesystem::path file{};
  std::uint64_t line = 0;
  std::string problem{};
};

struct Extraction {
  std::uint64_t points = 0;
  std::uint64_t bad_lines = 0;
  std::vector<BadLine> examples{};  ///< the first ten
};

/// Gets metrics out of what a stage left in its folder.
class Extractor {
 public:
  virtual ~Extractor() = default;
  virtual std::string_view name() const = 0;  ///< the word in a recipe's "from"
  virtual std::string_view description() const = 0;
  /// Reads the files of `stage_directory` (metrics-<rank>.jsonl ...) and gives every point to
  /// `sink` under stream `stage`. Missing files are no error; unreadable lines are counted, never
  /// fatal. Constant memory in the size of the files.
  virtual Extraction extract(const std::filesystem::path& stage_directory,
                             std::string_view stage,
                             base::SeriesSink& sink) = 0;
};

/// The only list of extractors.
std::vector<std::unique_ptr<Extractor>> builtin_extractors();

/// A sink that passes points on to `next` and sums them up on the way.
class Summarizer final : public base::SeriesSink {
 public:
  /// `declared` gives unit, direction, kind and warm-up; undeclared metrics are kept too.
  Summarizer(std::vector<spec::MetricSpec> declared, base::SeriesSink& next);
  ~Summarizer() override;
  Summarizer(const Summarizer&) = delete;
  Summarizer& operator=(const Summarizer&) = delete;
  void add(std::string_view stream,
           std::string_view metric,
           const base::SeriesPoint& point) override;
  /// Sorted by stream and name.
  std::vector<spec::MetricSummary> summaries() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::collect
