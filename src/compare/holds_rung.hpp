#pragma once

#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/metric.hpp>

namespace sabath::compare {

/// Do two numbers of a metric hold a rung? All of `tolerance` is filled in.
bool holds_rung(const base::ExactNumber& a,
                const base::ExactNumber& b,
                spec::Rung rung,
                const spec::Tolerance& tolerance);

/// abs(a-b) / max(abs a, abs b), with the digits that no double holds.
double relative_distance(const base::ExactNumber& a, const base::ExactNumber& b);

}  // namespace sabath::compare
