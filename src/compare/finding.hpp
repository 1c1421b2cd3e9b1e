#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstdint>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::compare {

/// A place in a series; unknown parts are base::no_step.
struct SeriesPlace {
  std::int64_t step = base::no_step;
  std::int64_t epoch = base::no_step;
  std::int64_t record = 0;  ///< number within its rank, where neither is known
};

/// An item with details for the search for the first difference.
struct Finding {
  spec::ItemComparison item{};
  std::string stage{};
  bool in_conflict = false;  ///< the recipes contradict each other: it is not judged
  bool from_start = false;   ///< the first pair of a series differs
  SeriesPlace begins_at{};
  SeriesPlace diverges_at{};
  bool counts_anew = false;  ///< steps restart in each epoch
  std::string last{};        ///< Place of the last record of both sides of a series. May be empty.
  /// By the place of a divergence: the place of the record before it, or an empty text.
  std::map<std::string, std::string> before{};
  /// Last step of each epoch that has steps, unless steps restart in each epoch.
  std::vector<std::pair<std::int64_t, std::int64_t>> epoch_ends{};
};

/// Whether both sides have only NaN, which shows no agreement.
inline bool is_all_nan(const spec::ItemComparison& item) {
  return item.strongest && item.compared > 0 && item.nan_pairs == item.compared;
}

/// Items in order of display, and the reasons why some could not be evaluated.
struct Findings {
  std::vector<Finding> items{};
  std::vector<std::string> not_evaluated{};
};

/// Order in which the stages of two runs ran; unknown names come last.
class StageOrder {
 public:
  StageOrder(const spec::RunRecord& a, const spec::RunRecord& b);

  std::size_t place(const std::string& stage) const {
    const auto found = places_.find(stage);
    return found == places_.end() ? std::numeric_limits<std::size_t>::max() : found->second;
  }

 private:
  std::map<std::string, std::size_t> places_{};
};

}  // namespace sabath::compare
