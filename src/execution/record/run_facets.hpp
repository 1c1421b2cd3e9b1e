#pragma once

#include <sabath/base/process/process.hpp>
#include <sabath/spec/recipe.hpp>
#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <vector>

namespace sabath::execution {

/// The seven facets of a run (docs/formats/record.md lists what each holds): identity only, nothing
/// volatile.
std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts);

/// Of a run whose stages are over, with what is known where it ran: also the variables of that
/// session, and in the first of them, `code`, the data that stages name by a path.
std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts,
                                     spec::Recipe recipe,
                                     const base::Environment& environment);

}  // namespace sabath::execution
