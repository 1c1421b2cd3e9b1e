#pragma once

#include "finding.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace sabath::compare {

/// Signs of the first steps of two training runs, found by usual names ("initial_weights.h5",
/// "loss", "grad_norm"), declared or not. Nothing: no result has such a name.
struct FirstSigns {
  struct Sign {
    bool differs = false;
    std::string name{};  ///< of what differs, else of what is equal; "..., not declared"
  };
  std::optional<Sign> initial_weights{};
  std::optional<Sign> first_loss{};
  std::optional<Sign> first_gradient{};

  /// Describes the earliest that differs, where it says more than the first different item; else
  /// empty.
  std::string text() const;
};
FirstSigns first_signs_of(const std::vector<Finding>& metrics, const std::vector<Finding>& outputs);

/// The undeclared metric that differs earliest, before `first` (null: no judged item differs). Null
/// where there is none. Metrics of speed always differ and do not count.
const Finding* earlier_sign(const std::vector<Finding>& metrics,
                            const Finding* first,
                            const StageOrder& stages);

/// Orders the first differences of metrics of one stage in time: by step. A place known by epoch
/// comes after the last step that another metric has in that epoch. Where steps restart in each
/// epoch: by epoch, then step. Unknown places come last.
class StepClock {
 public:
  using When = std::pair<std::int64_t, std::int64_t>;

  StepClock(const std::string& stage, const std::vector<Finding>& metrics);

  /// Time of the first difference of a metric; last of all without one.
  When when(const Finding& metric) const;
  When when(const SeriesPlace& at) const;

 private:
  bool counts_anew_ = false;
  std::map<std::int64_t, std::int64_t> last_steps_{};  ///< by epoch
};

}  // namespace sabath::compare
