#pragma once

#include "failure.hpp"

#include <curl/curl.h>

#include <string>

namespace sabath::fetch {

/// What a transfer that libcurl ended with `code` means. `detail` is libcurl's error buffer,
/// `os_error` the errno of a failed connection or 0.
Failure curl_failure(CURLcode code, const std::string& detail, int os_error);

/// Was the host not found, or did it take no connection?
bool is_unreachable(CURLcode code);

}  // namespace sabath::fetch
