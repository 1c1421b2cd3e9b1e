#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/comparison.hpp>

#include <optional>

namespace sabath::compare {

/// Two files of arrays that belong to no run. Names of items are paths within the files. Required
/// is `require`, else tolerance; a tolerance that is not given is the type's. Symmetric.
spec::Comparison compare_files(base::ArraySource& a,
                               base::ArraySource& b,
                               const std::optional<spec::Rung>& require,
                               const spec::Tolerance& tolerance);

}  // namespace sabath::compare
