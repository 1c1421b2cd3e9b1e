#pragma once

#include "finding.hpp"

#include <sabath/spec/metric.hpp>

#include <functional>
#include <utility>

namespace sabath::compare {

/// Compares one metric of one stream on two sides. Points are aligned by (step, rank), or by
/// (epoch, step, rank) where steps restart in each epoch. Without steps they are aligned by (epoch,
/// rank), else by number within the rank. Points with equal keys are aligned in the order of
/// arrival. A null side lacks the metric. All parts of `tolerance` are set. `rests`:
/// spec::SeriesRests.
Finding compare_series(const spec::Series* a,
                       const spec::Series* b,
                       const spec::Tolerance& tolerance,
                       const std::vector<double>* rests_a = nullptr,
                       const std::vector<double>* rests_b = nullptr);

/// One side of a metric that may still grow.
struct SeriesSide {
  const spec::Series* series = nullptr;  ///< nullptr: the side lacks the metric
  const std::vector<double>* rests = nullptr;
  bool has_ended = true;  ///< records that only the other side has are missing here
};

/// The same for sides that may not have ended.
Finding compare_series(const SeriesSide& a, const SeriesSide& b, const spec::Tolerance& tolerance);

/// Position of a metric or an array relative to an envelope.
struct EnvelopeFinding {
  std::optional<spec::Divergence> outside{};  ///< the first place outside of it
  /// First place further away than the tolerance where the reruns are not finite.
  std::string unbounded{};
};

/// Finds the first values that leave the envelope of `reference` and `reruns`, which have equally
/// many. The tolerance is added to the envelope. `place_of` gives the name and the position of a
/// value. The sides of the divergence are A and B: `reference_is_a` says which is the reference.
EnvelopeFinding hold_to_envelope(
    const std::vector<double>& reference,
    const std::vector<double>& other,
    const std::vector<std::vector<double>>& reruns,
    const spec::Tolerance& tolerance,
    bool reference_is_a,
    const std::function<std::pair<std::string, std::int64_t>(std::size_t)>& place_of);

/// Finds the first steps, in order of time, at which a value leaves the envelope. Throws
/// Error{usage} for a rerun with other steps than the reference.
EnvelopeFinding hold_to_envelope(const spec::Series& reference,
                                 const spec::Series& other,
                                 const std::vector<const spec::Series*>& reruns,
                                 const spec::Tolerance& tolerance,
                                 bool reference_is_a);

}  // namespace sabath::compare
