#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace sabath::compare {

/// Envelope of reruns of a reference, each perturbed by one unit in the last place. Per step: E_t =
/// max over reruns of abs(x_t^i - x_t).
struct Envelope {
  std::vector<double> reference{};
  std::vector<double> width{};
};

/// Throws Error{usage} for fewer than three reruns, and for one with another number of steps than
/// the reference. Where only one of two values is finite the width is infinite: the step has no
/// envelope.
Envelope make_envelope(std::span<const double> reference,
                       const std::vector<std::vector<double>>& reruns);

/// First steps at which values leave an envelope.
struct Leaving {
  std::optional<std::size_t> outside{};  ///< of a finite envelope
  /// Further away than its floor, where the envelope is infinite.
  std::optional<std::size_t> unbounded{};
};

/// Finds where abs(y_t - x_t) <= factor * E_t + floor_t does not hold; NaN equals NaN. There are as
/// many floors as the reference has steps. A step that only one side has is outside. (The idea is
/// that of CESM's ensemble test and of TTrace, arXiv 2506.09280.)
Leaving find_leaving(const Envelope& envelope,
                     std::span<const double> values,
                     double factor,
                     std::span<const double> floors);

}  // namespace sabath::compare
