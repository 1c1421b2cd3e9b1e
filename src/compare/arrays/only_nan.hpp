#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// The paths of arrays (not of attributes) all of whose values are NaN. Of an array with numbers no
/// more is read than up to the block with the first of them.
std::vector<std::string> arrays_of_only_nan(base::ArraySource& source);
std::vector<std::string> arrays_of_only_nan(const spec::OutputTrees& trees);

}  // namespace sabath::compare
