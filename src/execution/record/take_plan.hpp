#pragma once

#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

namespace sabath::execution {

/// Puts into a record what is known from its plan and this process's environment alone; not its
/// inputs, whose paths a node may have changed in the plan.
void take_plan(const spec::RunPlan& plan, const spec::Recipe& recipe, spec::RunRecord& record);

}  // namespace sabath::execution
