#pragma once

#include "answer.hpp"
#include "curl_handle.hpp"
#include "failure.hpp"

#include <curl/curl.h>

#include <cstdint>
#include <string>

namespace sabath::fetch {

/// Returns a header of the last answer, not of those that redirected to it; empty where it has
/// none.
std::string header_of(CURL* handle, const char* name);

/// Is the answer an HTTP redirect with a place to go to?
bool is_redirect(CURL* handle);

Answer http_answer(CURL* handle);

/// FTP has no conditions. The modification time (MDTM) and the size, both asked before the body,
/// stand for Last-Modified and Content-Range. `offset_bytes`: where the body was to begin.
Answer ftp_answer(CURL* handle, std::uint64_t offset_bytes, bool has_body);

/// Returns the failure for libcurl's `code`. `detail`: libcurl's error buffer. `os_error`: errno of
/// a failed connection, or 0.
Failure curl_failure(CURLcode code, const std::string& detail, int os_error);

/// Was the host not found, or its connection refused?
bool is_unreachable(CURLcode code);

}  // namespace sabath::fetch
