#pragma once

#include <sabath/spec/metric.hpp>

namespace sabath::app {

/// Of each kind the smaller of two; one alone goes before none.
spec::Tolerance stricter_of(const spec::Tolerance& a, const spec::Tolerance& b);

/// As it is applied to a metric: what is not said is the default of numbers of 64 bits.
spec::Tolerance as_applied(const spec::Tolerance& said);

}  // namespace sabath::app
