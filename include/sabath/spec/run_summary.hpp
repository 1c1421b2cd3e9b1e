#pragma once

#include <sabath/spec/run_record.hpp>

#include <string>
#include <string_view>

namespace sabath::spec {

/// Of a record what an index wants, in a fraction of the time: who, when, how it ended, parameters,
/// inputs, environment, hosts, outputs, metrics and facets. All else is as in an empty record, and
/// not checked. Throws Error{usage}.
RunRecord parse_run_summary(std::string_view text, const std::string& origin);

}  // namespace sabath::spec
