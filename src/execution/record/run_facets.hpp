#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/facet.hpp>
#include <sabath/spec/host_facts.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>

#include <vector>

namespace sabath::spec {
struct RunRecord;
}

namespace sabath::execution {

/// Returns the seven facets of a run (docs/formats/record.md lists them): identity only, nothing
/// volatile.
std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts);

/// Returns the facets of a run whose stages are over. Call it where the run ran: it adds the
/// variables of that session. Its `code` also has the data that stages name by a path.
std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts,
                                     spec::Recipe recipe,
                                     const base::Environment& environment);

/// Puts into a record what its plan and this process's environment tell. Without inputs, whose
/// paths a node may have changed in the plan.
void take_plan(const spec::RunPlan& plan, const spec::Recipe& recipe, spec::RunRecord& record);

}  // namespace sabath::execution
