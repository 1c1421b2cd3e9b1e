#pragma once

#include "transfer_state.hpp"

#include <sabath/base/partial_file.hpp>
#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <vector>

namespace sabath::fetch {

/// Fetches one file over HTTP. Where a digest proves the whole, ranges come from all sources at
/// once; else one source is used after the other. A source has its own validators and its own
/// pauses, during which the others continue. Throws Error{interrupted|storage}.
Outcome transfer_file(const TransferTools& tools,
                      const Request& request,
                      base::PartialFile& to,
                      const std::vector<std::string>& urls);

}  // namespace sabath::fetch
