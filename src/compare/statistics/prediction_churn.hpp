#pragma once

#include "finding.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/spec/recipe.hpp>

#include <string>

namespace sabath::compare {

/// Churn of the arrays of an output that its rule calls predictions: the share that are others in B
/// (M. Milani Fard et al., "Launch and iterate: reducing prediction churn", NIPS 2016), into their
/// items. Labels are what an array has; of scores the prediction is the index of the greatest along
/// the last axis, the first of equals; NaN is greater than all, as NumPy has it. Read block by
/// block. What cannot be counted is not evaluated.
void add_churn(const std::string& output,
               base::ArraySource& a,
               base::ArraySource& b,
               const spec::OutputRule& rule,
               Findings& findings);

}  // namespace sabath::compare
