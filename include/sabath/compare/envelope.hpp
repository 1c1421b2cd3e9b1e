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
/// reference's: they must be aligned. A step where just one of two is no number is as wide as can
/// be.
Envelope make_envelope(std::span<const double> reference,
                       const std::vector<std::vector<double>>& reruns);

/// The first step at which abs(y_t - x_t) <= factor * E_t + floor does not hold; NaN equals NaN.
/// A step that only one side has is outside. (The idea is that of CESM's ensemble test and of
/// TTrace, arXiv 2506.09280.)
std::optional<std::size_t> first_outside(const Envelope& envelope,
                                         std::span<const double> values,
                                         double factor = 10,
                                         double floor = 0);

/// The same with a floor for each step: as many as the reference has.
std::optional<std::size_t> first_outside(const Envelope& envelope,
                                         std::span<const double> values,
                                         double factor,
                                         std::span<const double> floors);

/// The share of predictions that differ (churn). Throws Error{usage} where there are not as many on
/// each side, or none.
double churn(std::span<const std::string> a, std::span<const std::string> b);

}  // namespace sabath::compare
