#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/output_trees.hpp>

#include <functional>

namespace sabath::compare {

/// Computes digests of all values of a container, chunk by chunk: at most 4096 chunks an array, of
/// 64 KiB or more. Arrays of one type and shape have the same chunks.
///
/// Each chunk has an exact digest and one of the values rounded to the tolerance (`recipe`, else
/// that of the type). Where two chunks agree in the rounded digest, each pair of values holds the
/// tolerance; the converse does not follow. `between` is called after each block that was read, and
/// may throw.
spec::OutputTrees make_trees(base::ArraySource& source,
                             const spec::Tolerance& recipe,
                             const std::function<void()>& between = {});

}  // namespace sabath::compare
