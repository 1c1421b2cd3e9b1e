#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/collect/collect.hpp>
#include <sabath/spec/metric.hpp>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sabath::collect {

/// What one call of SeriesFollower::more() found.
struct Followed {
  std::uint64_t points = 0;     ///< that were passed on
  std::uint64_t bad_lines = 0;  ///< that could not be read
};

/// Reads the metrics of one stage while it runs: each call passes only what is new. It reads
/// complete lines and records, each once, from the offset where it stopped. Searches the same files
/// in the same way as extract_all(), but not those of earlier attempts. Memory grows with the
/// number of names and files, not with their size.
/// Thread safety: one thread at a time.
class SeriesFollower {
 public:
  /// `declared`: the metrics of all stages. `again`: time until the stage's folders are searched
  /// again for the files of a pattern; 0: in each call.
  SeriesFollower(StageFiles files,
                 std::vector<spec::MetricSpec> declared,
                 std::chrono::milliseconds again = std::chrono::seconds(5));
  ~SeriesFollower();
  SeriesFollower(const SeriesFollower&) = delete;
  SeriesFollower& operator=(const SeriesFollower&) = delete;

  /// Passes the points that are new since the last call to `sink`, which may be another one each
  /// time. Reads all files again if one shrank, vanished, was replaced, or moved to another rank.
  /// Then it calls `forget` first, and all points of earlier calls are void. Files that do not
  /// exist yet are not errors.
  /// Throws Error if a file cannot be read.
  Followed more(base::SeriesSink& sink, const std::function<void()>& forget = {});

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace sabath::collect
