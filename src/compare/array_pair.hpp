#pragma once

#include "finding.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// Compares every array and attribute of two containers, in the order of their paths, in bounded
/// memory. Names are "<name>:/<path>". Arrays of text and opaque ones are equal or not; what only
/// one side has, or has in another type or shape, is a difference of structure.
std::vector<Finding> compare_arrays(const std::string& name,
                                    base::ArraySource& a,
                                    base::ArraySource& b,
                                    const spec::Tolerance& recipe,
                                    const spec::Tolerance& asked);

}  // namespace sabath::compare
