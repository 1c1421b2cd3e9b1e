#include "curl_handle.hpp"
#include "source_url.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/fetch/post_document.hpp>

#include <fmt/format.h>

#include <cstddef>

namespace sabath::fetch {
namespace {

using base::Error;
using base::ErrorKind;

constexpr std::size_t longest_answer = 1U << 20U;

/// Counts what comes, and refuses more than the limit.
std::size_t count_bytes(char*, std::size_t size, std::size_t count, void* total) noexcept {
  auto& bytes = *static_cast<std::size_t*>(total);
  bytes += size * count;
  return bytes > longest_answer ? 0 : size * count;
}

/// Curl calls it at least once a second, also while nothing comes.
int stops(void* stop, curl_off_t, curl_off_t, curl_off_t, curl_off_t) noexcept {
  return static_cast<std::stop_token*>(stop)->stop_requested() ? 1 : 0;
}

template <class T>
void set(CURL* handle, CURLoption option, T value) {
  check(curl_easy_setopt(handle, option, value));
}

void set_secrets(CURL* handle, const Post& post, const SourceUrl& place, CurlList& headers) {
  if (!post.credentials_for) return;
  const Credentials secrets = post.credentials_for(place.scheme, place.host);
  if (!secrets.bearer.empty()) {
    set(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    set(handle, CURLOPT_XOAUTH2_BEARER, secrets.bearer.c_str());
  } else if (!secrets.user.empty()) {
    set(handle, CURLOPT_USERNAME, secrets.user.c_str());
    set(handle, CURLOPT_PASSWORD, secrets.password.c_str());
  }
  for (const std::string& line : secrets.headers)
    append(headers, line);
}

SourceUrl place_of(const std::string& url) {
  auto parsed = parse_source_url(url);
  auto* place = std::get_if<SourceUrl>(&parsed);
  const bool is_allowed =
      place != nullptr &&
      (place->scheme == "https" || (place->scheme == "http" && is_loopback(place->host)));
  if (!is_allowed)
    throw Error(ErrorKind::usage, "a document is posted only to a URL of https", "change the URL");
  return std::move(*place);
}

}  // namespace

void post_document(const Post& post) {
  const SourceUrl place = place_of(post.url);
  const CurlEasy easy = make_easy();
  CURL* const handle = easy.get();
  std::size_t answer_bytes = 0;
  CurlList headers;
  append(headers, "Content-Type: application/json");
  append(headers, "Expect:");
  set(handle, CURLOPT_URL, post.url.c_str());
  set(handle, CURLOPT_PROTOCOLS_STR, place.scheme.c_str());
  set(handle, CURLOPT_NOSIGNAL, 1L);
  set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(post.body.size()));
  set(handle, CURLOPT_POSTFIELDS, post.body.c_str());
  set(handle, CURLOPT_USERAGENT, post.user_agent.empty() ? "sabath" : post.user_agent.c_str());
  set(handle,
      CURLOPT_TIMEOUT_MS,
      static_cast<long>(std::chrono::milliseconds(post.timeout).count()));
  set(handle, CURLOPT_WRITEFUNCTION, &count_bytes);
  set(handle, CURLOPT_WRITEDATA, static_cast<void*>(&answer_bytes));
  std::stop_token stop = post.stop;
  set(handle, CURLOPT_NOPROGRESS, 0L);
  set(handle, CURLOPT_XFERINFOFUNCTION, &stops);
  set(handle, CURLOPT_XFERINFODATA, static_cast<void*>(&stop));
  set_secrets(handle, post, place, headers);
  set(handle, CURLOPT_HTTPHEADER, headers.get());
  const CURLcode code = curl_easy_perform(handle);
  const std::string host = base::printable(place.host);
  if (answer_bytes > longest_answer)
    throw Error(ErrorKind::transfer, host + ": the answer is longer than a mebibyte");
  if (code == CURLE_ABORTED_BY_CALLBACK)
    throw Error(ErrorKind::interrupted, host + ": it was stopped");
  if (code != CURLE_OK) throw Error(ErrorKind::transfer, host + ": " + curl_easy_strerror(code));
  const long status = long_info(handle, CURLINFO_RESPONSE_CODE);
  if (status < 200 || status > 299)
    throw Error(ErrorKind::transfer, fmt::format("{}: the server answered {}", host, status));
}

}  // namespace sabath::fetch
