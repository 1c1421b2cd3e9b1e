#pragma once

#include "transfer/transfer_state.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <cstddef>
#include <vector>

namespace sabath::fetch {

/// Many small files over HTTP, each in one stream, several at a time over connections that stay
/// open. A file that waits for its next attempt does not delay the others.
/// `alone`: the loop for files that need their own connections. Throws Error{interrupted} and what
/// `files` throws.
void fetch_many_files(const TransferTools& tools,
                      TransferLoop& alone,
                      FileList& files,
                      const RetryPolicy& policy,
                      const std::vector<std::size_t>& indices);

}  // namespace sabath::fetch
