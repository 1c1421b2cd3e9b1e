#pragma once

#include "finding.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace sabath::compare {

/// Puts the places where the metrics of one stage part in the order of time: by step, and what is
/// told by epoch behind the last step that another metric has in it; by epoch and then by step
/// where a code counts steps anew in each epoch. What cannot be placed comes last.
class StepClock {
 public:
  using When = std::pair<std::int64_t, std::int64_t>;

  StepClock(const std::string& stage, const std::vector<Finding>& metrics);

  /// When a metric parts: last of all, where it does not.
  When when(const Finding& metric) const;
  When when(const SeriesPlace& at) const;

 private:
  bool counts_anew_ = false;
  std::map<std::int64_t, std::int64_t> last_steps_{};  ///< by epoch
};

}  // namespace sabath::compare
