#pragma once

#include <sabath/spec/run_plan.hpp>
#include <sabath/spec/run_record.hpp>

#include <vector>

namespace sabath::app {

/// The seven facets of a run (docs/formats/record.md lists what each holds): identity only, nothing
/// volatile.
std::vector<spec::Facet> make_facets(const spec::RunPlan& plan,
                                     const std::vector<spec::HostFacts>& hosts);

}  // namespace sabath::app
