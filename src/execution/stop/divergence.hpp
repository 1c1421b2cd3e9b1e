#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/compare/compare_so_far.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/whole_numbers.hpp>

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace sabath::execution {

/// A finished run that a running one is compared with.
struct FinishedRun {
  std::string run_id{};
  std::vector<spec::Series> series{};
  spec::SeriesRests rests{};
  compare::Rules rules{};  ///< of both runs
};

/// Reads the copy of a finished run in `folder` (planning/reference_run.hpp). `recipe` is the
/// running one's. Throws Error{not_found|integrity|usage}.
FinishedRun read_finished(const std::filesystem::path& folder, const spec::Recipe& recipe);

/// Compares the points of one stage with those of a finished run.
class Divergence final : public base::SeriesSink {
 public:
  /// `reference` must outlive it.
  Divergence(std::string stage, const FinishedRun& reference);

  void forget();
  base::SeriesId open(std::string_view stream, std::string_view metric) override;
  void add(base::SeriesId series, const base::SeriesPoint& point) override;
  /// Compares if there are new points. Returns the first judged metric that diverges, in words.
  std::optional<std::string> look();

 private:
  std::string stage_;
  const FinishedRun& reference_;
  std::vector<spec::Series> finished_{};  ///< of this stage
  std::vector<spec::Series> series_{};
  std::vector<std::vector<double>> rests_{};  ///< as far as a point had one
  bool has_new_ = false;
};

}  // namespace sabath::execution
