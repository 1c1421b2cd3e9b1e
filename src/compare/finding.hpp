#pragma once

#include <sabath/base/series_sink.hpp>
#include <sabath/spec/comparison.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sabath::compare {

/// A place in a series, as far as it is known: else base::no_step.
struct SeriesPlace {
  std::int64_t step = base::no_step;
  std::int64_t epoch = base::no_step;
  std::int64_t record = 0;  ///< which one of its rank, where neither is known
};

/// An item with what the search for the first divergence needs to know besides.
struct Finding {
  spec::ItemComparison item{};
  std::string stage{};
  bool in_conflict = false;  ///< the two recipes say what cannot both hold: it is not judged
  bool from_start = false;   ///< the very first pair of a series differs already
  SeriesPlace begins_at{};
  SeriesPlace parts_at{};
  bool counts_anew = false;  ///< a series with the same steps in each epoch
  /// The last step of each epoch in which a series has some, unless it counts them anew.
  std::vector<std::pair<std::int64_t, std::int64_t>> epoch_ends{};
};

/// Nothing but NaN on both sides agrees in nothing that was computed.
inline bool is_all_nan(const spec::ItemComparison& item) {
  return item.strongest && item.compared > 0 && item.nan_pairs == item.compared;
}

/// Items in the order in which they are shown, and what could not be evaluated, in words.
struct Findings {
  std::vector<Finding> items{};
  std::vector<std::string> not_evaluated{};
};

}  // namespace sabath::compare
