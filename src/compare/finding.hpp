#pragma once

#include <sabath/spec/comparison.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace sabath::compare {

/// An item with what the search for the first divergence needs to know besides.
struct Finding {
  spec::ItemComparison item{};
  std::string stage{};
  /// Why it cannot be said whether the rungs below bitwise hold; empty: it can.
  std::string undecided{};
  bool from_start = false;  ///< the very first pair of a series differs already
  /// When a series parts, so that series by step and by epoch can be put in order: epoch (a lowest
  /// number where it is not known) and step (a highest one where there is none).
  std::pair<std::int64_t, std::int64_t> parts_at{};
};

/// Items in the order in which they are shown, and what could not be evaluated, in words.
struct Findings {
  std::vector<Finding> items{};
  std::vector<std::string> not_evaluated{};
};

}  // namespace sabath::compare
