#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>

namespace sabath::compare {

/// The tolerance that is applied to values of `type`, with every part filled in: what was asked,
/// else what the recipe says, else the default of the type. Where only an absolute one is given,
/// the relative one is 0. Integers are exact unless told otherwise. The default number of ULP is 4,
/// but 1 for float16 and 2 for bfloat16, where 4 ULP would be a weaker claim than the tolerance.
spec::Tolerance applied_tolerance(base::ArrayType type,
                                  const spec::Tolerance& recipe,
                                  const spec::Tolerance& asked);

}  // namespace sabath::compare
