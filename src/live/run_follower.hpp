#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/collect/follow.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/recipe.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace sabath::live {

/// The points of a run's metrics: those that are new while it is under way, and all of its record
/// once it is over.
/// Thread safety: one thread at a time.
class RunFollower {
 public:
  explicit RunFollower(std::filesystem::path run_directory) : files_(std::move(run_directory)) {}

  /// Passes what is new to `sink`. Calls `forget` before points that replace all earlier ones.
  /// Throws Error where a file cannot be read.
  void more(base::SeriesSink& sink, const std::function<void()>& forget);

  bool is_over() const { return is_over_; }
  /// Of the recipe, or of the newest collection.
  const std::vector<spec::MetricSpec>& declared() const { return declared_; }
  /// Recipe of the run; known after the first call of `more`.
  const spec::Recipe& recipe() const { return recipe_; }
  /// Metadata operations of a call, about: it opens the status, and looks at two logs and a folder
  /// of each stage.
  double operations() const { return 2.0 + 6.0 * static_cast<double>(stages_.size()); }

 private:
  void read_finished(base::SeriesSink& sink, const std::function<void()>& forget);
  void begin_attempt(int attempt);

  home::RunFiles files_;
  spec::Recipe recipe_{};
  std::vector<spec::MetricSpec> declared_{};
  std::vector<std::string> stage_names_{};
  std::vector<std::unique_ptr<collect::SeriesFollower>> stages_{};
  int attempt_ = 0;
  bool is_over_ = false;
};

}  // namespace sabath::live
