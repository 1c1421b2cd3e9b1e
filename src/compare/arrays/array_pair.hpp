#pragma once

#include "finding.hpp"
#include "tolerance.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>

namespace sabath::compare {

/// Trusted trees of both sides; null: there is none.
struct TreePair {
  const spec::OutputTrees* a = nullptr;
  const spec::OutputTrees* b = nullptr;
};

/// Compares every array and attribute of two containers, in the order of their paths, in bounded
/// memory. Names are "<name>:/<path>". Arrays of text and opaque ones are equal or not. An array
/// that only one side has, or that has another type or shape, differs in structure. An array that
/// one side cannot read is named in `not_evaluated`. Chunks that are equal according to two trees
/// are not read.
Findings compare_arrays(const std::string& name,
                        base::ArraySource& a,
                        base::ArraySource& b,
                        const SaidTolerance& recipe,
                        const spec::Tolerance& asked,
                        const TreePair& trees = {});

}  // namespace sabath::compare
