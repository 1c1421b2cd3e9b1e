#pragma once

#include <sabath/spec/metric.hpp>

namespace sabath::compare {

/// Do two float64 hold a rung? All of `tolerance` is filled in.
bool holds_rung(double a, double b, spec::Rung rung, const spec::Tolerance& tolerance);

}  // namespace sabath::compare
