#include "curl_handle.hpp"

#include <sabath/base/error.hpp>

namespace sabath::fetch {

namespace {

[[noreturn]] void fail(const std::string& cause) {
  throw base::Error(base::ErrorKind::internal, "libcurl: unexpected failure: " + cause);
}

void start_curl() {
  static const CURLcode started = curl_global_init(CURL_GLOBAL_DEFAULT);
  check(started);
}

}  // namespace

void check(CURLcode code) {
  if (code != CURLE_OK) fail(curl_easy_strerror(code));
}

void check(CURLMcode code) {
  if (code != CURLM_OK) fail(curl_multi_strerror(code));
}

CurlEasy make_easy() {
  start_curl();
  CurlEasy handle(curl_easy_init());
  if (!handle) fail("no easy handle");
  return handle;
}

CurlMulti make_multi() {
  start_curl();
  CurlMulti handle(curl_multi_init());
  if (!handle) fail("no multi handle");
  return handle;
}

void append(CurlList& list, const std::string& text) {
  curl_slist* const longer = curl_slist_append(list.get(), text.c_str());
  if (longer == nullptr) fail("out of memory");
  static_cast<void>(list.release());
  list.reset(longer);
}

std::optional<std::uint64_t> number_info(CURL* handle, CURLINFO info) {
  curl_off_t value = -1;
  if (curl_easy_getinfo(handle, info, &value) != CURLE_OK || value < 0) return {};
  return static_cast<std::uint64_t>(value);
}

long long_info(CURL* handle, CURLINFO info) {
  long value = 0;
  check(curl_easy_getinfo(handle, info, &value));
  return value;
}

}  // namespace sabath::fetch
