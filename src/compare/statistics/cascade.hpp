#pragma once

#include "finding.hpp"
#include "stage_order.hpp"

#include <optional>
#include <string>
#include <vector>

namespace sabath::compare {

/// What is known of the first steps of two training runs, by the names that codes give to what they
/// report or keep ("initial_weights.h5", "loss", "grad_norm"), declared or not. Nothing: no result
/// is called like that.
struct Cascade {
  struct Sign {
    bool differs = false;
    std::string name{};  ///< of what differs, else of what is equal; "..., not declared"
  };
  std::optional<Sign> initial_weights{};
  std::optional<Sign> first_loss{};
  std::optional<Sign> first_gradient{};

  /// The earliest of these that differs, in words, where that says more than the item in which the
  /// runs part; empty else.
  std::string text() const;
};
Cascade cascade_of(const std::vector<Finding>& metrics, const std::vector<Finding>& outputs);

/// The metric that is not declared and parts before `first` (null: nothing judged differs), first
/// of all; null where there is none. What tells of speed always differs, and is no sign.
const Finding* earlier_sign(const std::vector<Finding>& metrics,
                            const Finding* first,
                            const StageOrder& stages);

}  // namespace sabath::compare
