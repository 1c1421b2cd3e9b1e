#pragma once

#include "finding.hpp"

#include <sabath/spec/metric.hpp>

namespace sabath::compare {

/// Compares one metric of one stream on two sides. Points are aligned by (step, rank), by (epoch,
/// step, rank) where steps begin anew in each epoch, where there is no step by (epoch, rank), else
/// by their ordinal within the rank; points with equal keys by the order in which they came. Null
/// is a side without the metric. `tolerance` has all parts. `rests`: spec::SeriesRests.
Finding compare_series(const spec::Series* a,
                       const spec::Series* b,
                       const spec::Tolerance& tolerance,
                       const std::vector<double>* rests_a = nullptr,
                       const std::vector<double>* rests_b = nullptr);

/// How a metric or an array lies to an envelope.
struct EnvelopeFinding {
  std::optional<spec::Divergence> outside{};  ///< the first place outside of it
  /// The first place further off than the tolerance where the reruns are not finite.
  std::string unbounded{};
};

/// The first steps, in the order in which they happened, at which a value does not hold the
/// envelope of `reference` and its `reruns`; each value may be off by what the tolerance allows
/// besides. The sides of the divergence are those of A and B: `reference_is_a` says which the
/// reference is. Throws Error{usage} for a rerun that has other steps than the reference.
EnvelopeFinding hold_to_envelope(const spec::Series& reference,
                                 const spec::Series& other,
                                 const std::vector<const spec::Series*>& reruns,
                                 const spec::Tolerance& tolerance,
                                 bool reference_is_a);

}  // namespace sabath::compare
