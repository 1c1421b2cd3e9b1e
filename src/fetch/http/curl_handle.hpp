#pragma once

#include <curl/curl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace sabath::fetch {

struct CurlDeleter {
  void operator()(CURL* handle) const noexcept { curl_easy_cleanup(handle); }
  void operator()(CURLU* handle) const noexcept { curl_url_cleanup(handle); }
  void operator()(curl_slist* list) const noexcept { curl_slist_free_all(list); }
};
struct CurlMultiDeleter {
  // CURLM and CURL are the same type (void) to the compiler.
  void operator()(CURLM* handle) const noexcept { curl_multi_cleanup(handle); }
};

using CurlEasy = std::unique_ptr<CURL, CurlDeleter>;
using CurlMulti = std::unique_ptr<CURLM, CurlMultiDeleter>;
using CurlUrl = std::unique_ptr<CURLU, CurlDeleter>;
using CurlList = std::unique_ptr<curl_slist, CurlDeleter>;

/// Both initialise libcurl once for the process, which costs milliseconds. Throw Error{internal}.
CurlEasy make_easy();
CurlMulti make_multi();

void append(CurlList& list, const std::string& text);

/// Throws Error{internal}: a refused option is a defect of sabath.
void check(CURLcode code);
void check(CURLMcode code);

/// Returns a number that libcurl knows of a transfer; nothing where it does not (-1).
std::optional<std::uint64_t> number_info(CURL* handle, CURLINFO info);
/// Throws Error{internal}.
long long_info(CURL* handle, CURLINFO info);

}  // namespace sabath::fetch
