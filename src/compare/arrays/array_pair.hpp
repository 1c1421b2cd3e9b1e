#pragma once

#include "finding.hpp"
#include "tolerance.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>
#include <sabath/spec/output_trees.hpp>

#include <string>
#include <vector>

namespace sabath::compare {

/// Trees of both sides, that can be believed; null: there is none.
struct TreePair {
  const spec::OutputTrees* a = nullptr;
  const spec::OutputTrees* b = nullptr;
};

/// How type or shape differ, in words; empty: they do not.
std::string structural_difference(const base::ArrayInfo& a, const base::ArrayInfo& b);
Finding structural(std::string structure, std::uint64_t missing);

/// Compares every array and attribute of two containers, in the order of their paths, in bounded
/// memory. Names are "<name>:/<path>". Arrays of text and opaque ones are equal or not; what only
/// one side has, or has in another type or shape, is a difference of structure. What one side
/// cannot read is no item, but not evaluated. Chunks that two trees know to be equal are not read.
Findings compare_arrays(const std::string& name,
                        base::ArraySource& a,
                        base::ArraySource& b,
                        const SaidTolerance& recipe,
                        const spec::Tolerance& asked,
                        const TreePair& trees = {});

}  // namespace sabath::compare
