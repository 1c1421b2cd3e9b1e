#pragma once

#include "answer.hpp"
#include "curl_handle.hpp"
#include "source_url.hpp"

#include <sabath/fetch/fetcher.hpp>

namespace sabath::fetch {

/// Streams that share a connection (HTTP/2) suit many small files. Bulk is faster over connections
/// of its own (curl issues 460 and 13403).
enum class Sharing { own_connection, shared_connection };

/// Sets what one request asks for, with the secrets of its host. `headers` gets the request's
/// headers and must outlive it. Throws Error{internal}.
void set_request_options(CURL* handle,
                         const EngineOptions& options,
                         const SourceUrl& place,
                         const Asked& asked,
                         Sharing sharing,
                         CurlList& headers);

}  // namespace sabath::fetch
