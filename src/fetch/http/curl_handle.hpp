#pragma once

#include <curl/curl.h>

#include <memory>
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

/// Each initialises libcurl for the process, once, if that has not happened yet; it costs
/// milliseconds, so nothing else does. Throw Error{internal}.
CurlEasy make_easy();
CurlMulti make_multi();

void append(CurlList& list, const std::string& text);

/// Throws Error{internal}: an option that this libcurl refuses is a defect of ours.
void check(CURLcode code);
void check(CURLMcode code);

}  // namespace sabath::fetch
