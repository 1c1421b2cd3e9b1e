#pragma once

#include "finding.hpp"

#include <sabath/compare/compare_runs.hpp>

namespace sabath::compare {

/// Holds what is beyond its tolerance against the envelope of `options.envelope`: it gets that
/// rung, or the first place where it is outside; what cannot be held is undecided. Does nothing
/// without reruns. Throws Error{usage} for fewer than three, and for reruns that have not what
/// their reference has.
void add_envelope(const Side& a,
                  const Side& b,
                  const Rules& rules,
                  const Options& options,
                  Findings& metrics,
                  Findings& outputs);

}  // namespace sabath::compare
