#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace sabath::compare {

/// How far reruns of a reference, each with a perturbation of one unit in the last place, went from
/// it, step by step: E_t = max over reruns of abs(x_t^i - x_t).
struct Envelope {
  std::vector<double> reference{};
  std::vector<double> width{};
};

/// Throws Error{usage} for fewer than three reruns, and for one whose steps are not as many as the
/// reference's: they must be aligned. Where just one of two is a finite number the width is
/// infinite: such a step has no envelope.
Envelope make_envelope(std::span<const double> reference,
                       const std::vector<std::vector<double>>& reruns);

/// The first steps at which values do not hold.
struct Leaving {
  std::optional<std::size_t> outside{};  ///< of a finite envelope
  /// Further off than its floor, where the envelope is infinite: it says nothing.
  std::optional<std::size_t> unbounded{};
};

/// Where abs(y_t - x_t) <= factor * E_t + floor_t does not hold; NaN equals NaN. There are as many
/// floors as the reference has steps. A step that only one side has is outside. (The idea is that
/// of CESM's ensemble test and of TTrace, arXiv 2506.09280.)
Leaving find_leaving(const Envelope& envelope,
                     std::span<const double> values,
                     double factor,
                     std::span<const double> floors);

/// The first step that does not hold, in either way.
std::optional<std::size_t> first_outside(const Envelope& envelope,
                                         std::span<const double> values,
                                         double factor = 10,
                                         double floor = 0);

}  // namespace sabath::compare
