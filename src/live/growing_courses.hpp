#pragma once

#include "budget.hpp"
#include "run_follower.hpp"

#include <sabath/base/series_sink.hpp>
#include <sabath/report/course.hpp>

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace sabath::live {

/// One metric of a run along its steps, in at most 512 stretches.
struct GrowingCourse {
  std::string stage{};
  std::string name{};
  std::string along{};  ///< "step", "epoch" or "point"; by its first point
  report::Course course{0, 512};
  std::uint64_t points = 0;
  std::uint64_t not_finite = 0;
  std::uint64_t placeless = 0;  ///< points that lack a place on the axis
  std::optional<report::Point> last{};
  std::optional<report::Point> first_not_finite{};
  std::vector<report::Bucket> told{};     ///< buckets as of `versions`
  std::vector<std::uint64_t> versions{};  ///< of each bucket
  std::uint64_t whole_since = 0;          ///< all buckets changed then: they became wider
  int told_exponent = 0;
};

/// The metrics of a run while it is under way and after. Reads from its files only what is new.
/// Thread safety: all members.
class GrowingCourses {
 public:
  explicit GrowingCourses(std::filesystem::path run_directory);
  ~GrowingCourses();
  GrowingCourses(const GrowingCourses&) = delete;
  GrowingCourses& operator=(const GrowingCourses&) = delete;

  /// Reads what is new, at most once a second. Returns the number of files that it looked at.
  double refresh(base::Clock& clock);

  /// The stretches that changed after a version; 0: all. Of the metrics whose names are wanted;
  /// none: all, but at most 48.
  nlohmann::ordered_json changes_since(std::uint64_t version,
                                       const std::vector<std::string>& wanted);

  /// Means of the course of the metric that judges the run, for a line of a few signs.
  std::vector<double> sparkline(std::size_t places);

 private:
  class Sink;
  void forget();
  std::vector<const GrowingCourse*> in_order() const;
  void note_changes();
  nlohmann::ordered_json course_json(const GrowingCourse& one, std::uint64_t version) const;

  RunFollower follower_;
  std::mutex mutex_{};
  std::vector<std::unique_ptr<GrowingCourse>> courses_{};
  std::map<std::pair<std::string, std::string>, std::size_t> index_{};
  std::uint64_t version_;
  std::string problem_{};
  std::optional<base::SteadyTime> read_at_{};
  std::chrono::nanoseconds cost_{};
};

}  // namespace sabath::live
