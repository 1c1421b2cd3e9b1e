#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <functional>

namespace sabath::compare {

/// Digests of all values of a container, chunk by chunk: at most 4096 chunks an array, of 64 KiB or
/// more, so that arrays of one type and shape are cut alike. Besides the exact ones there are those
/// of the values rounded to the tolerance (`recipe`, else that of the type): where two chunks agree
/// in these, each pair of their values holds the tolerance; where they do not, it may hold it all
/// the same. `between` is called after each block that was read, and may throw.
spec::OutputTrees make_trees(base::ArraySource& source,
                             const spec::Tolerance& recipe,
                             const std::function<void()>& between = {});

}  // namespace sabath::compare
