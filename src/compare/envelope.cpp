#include <sabath/base/error.hpp>
#include <sabath/compare/envelope.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sabath::compare {
namespace {

using base::Error;
using base::ErrorKind;

/// Infinite where only one is NaN, or infinities have different signs.
double distance(double a, double b) {
  if (a == b || (std::isnan(a) && std::isnan(b))) return 0;
  const double apart = std::abs(a - b);
  return std::isnan(apart) ? std::numeric_limits<double>::infinity() : apart;
}

}  // namespace

Envelope make_envelope(std::span<const double> reference,
                       const std::vector<std::vector<double>>& reruns) {
  constexpr std::size_t fewest = 3;
  if (reruns.size() < fewest) {
    throw Error(ErrorKind::usage,
                "an envelope needs at least 3 perturbed reruns, there are " +
                    std::to_string(reruns.size()));
  }
  Envelope envelope{{reference.begin(), reference.end()}, std::vector<double>(reference.size(), 0)};
  for (const std::vector<double>& rerun : reruns) {
    if (rerun.size() != reference.size()) {
      throw Error(ErrorKind::usage,
                  "a perturbed rerun has " + std::to_string(rerun.size()) +
                      " steps, its reference " + std::to_string(reference.size()));
    }
    for (std::size_t t = 0; t < rerun.size(); ++t)
      envelope.width[t] = std::max(envelope.width[t], distance(rerun[t], reference[t]));
  }
  return envelope;
}

Leaving find_leaving(const Envelope& envelope,
                     std::span<const double> values,
                     double factor,
                     std::span<const double> floors) {
  Leaving found;
  const std::size_t common = std::min(values.size(), envelope.reference.size());
  for (std::size_t t = 0; t < common && !found.outside; ++t) {
    const double apart = distance(values[t], envelope.reference[t]);
    if (apart <= floors[t]) continue;
    const double room = factor * envelope.width[t] + floors[t];
    if (!std::isfinite(envelope.width[t]) || !std::isfinite(room)) {
      if (!found.unbounded) found.unbounded = t;
    } else if (!(apart <= room)) {
      found.outside = t;
    }
  }
  if (!found.outside && values.size() != envelope.reference.size()) found.outside = common;
  return found;
}

}  // namespace sabath::compare
