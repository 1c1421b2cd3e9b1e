#include "request_options.hpp"

namespace sabath::fetch {

namespace {

constexpr long bulk_buffer_bytes = 512L * 1024L;
constexpr long small_buffer_bytes = 64L * 1024L;

void set_number(CURL* handle, CURLoption option, long value) {
  check(curl_easy_setopt(handle, option, value));
}

void set_text(CURL* handle, CURLoption option, const std::string& value) {
  check(curl_easy_setopt(handle, option, value.c_str()));
}

/// Sets the secrets of the host that this request goes to. Without TLS others could read them.
void set_credentials(CURL* handle,
                     const EngineOptions& options,
                     const SourceUrl& place,
                     CurlList& headers) {
  if (!options.credentials_for) return;
  const bool is_safe =
      place.scheme == "https" || (options.secrets_on_loopback && is_loopback(place.host));
  if (!is_safe) return;
  const Credentials credentials = options.credentials_for(place.scheme, place.host);
  if (!credentials.bearer.empty()) {
    set_number(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    set_text(handle, CURLOPT_XOAUTH2_BEARER, credentials.bearer);
  } else if (!credentials.user.empty()) {
    set_text(handle, CURLOPT_USERNAME, credentials.user);
    set_text(handle, CURLOPT_PASSWORD, credentials.password);
  }
  for (const std::string& line : credentials.headers)
    append(headers, line);
}

void set_http_options(CURL* handle,
                      const EngineOptions& options,
                      const SourceUrl& place,
                      const Asked& asked,
                      Sharing sharing,
                      CurlList& headers) {
  const bool is_tls = place.scheme == "https";
  if (sharing == Sharing::shared_connection && is_tls) {
    set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    set_number(handle, CURLOPT_PIPEWAIT, 1);
  } else {
    set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  }
  set_text(handle,
           CURLOPT_USERAGENT,
           options.user_agent.empty() ? std::string("sabath") : options.user_agent);
  if (!options.ca_file.empty()) set_text(handle, CURLOPT_CAINFO, options.ca_file);
  append(headers, "Accept-Encoding: identity");
  if (asked.is_range() && asked.validators.can_prove()) {
    append(headers, "If-Range: " + asked.validators.if_range());
  }
  const std::string unless = asked.unless_it_is.unless_line();
  if (!unless.empty()) append(headers, unless);
  set_credentials(handle, options, place, headers);
  check(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers.get()));
}

}  // namespace

void set_request_options(CURL* handle,
                         const EngineOptions& options,
                         const SourceUrl& place,
                         const Asked& asked,
                         Sharing sharing,
                         CurlList& headers) {
  set_text(handle, CURLOPT_PROTOCOLS_STR, place.scheme);
  set_number(handle, CURLOPT_NOSIGNAL, 1);
  // Not checked: libcurl refuses this while the handle has a buffer. A host that was not found
  // leaves a buffer, and so does an HTTP/2 stream that ended before others of its connection.
  curl_easy_setopt(handle,
                   CURLOPT_BUFFERSIZE,
                   sharing == Sharing::own_connection ? bulk_buffer_bytes : small_buffer_bytes);
  set_number(handle, CURLOPT_TCP_KEEPALIVE, 1);
  const auto connect_timeout = std::chrono::milliseconds(options.connect_timeout).count();
  set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout));
#if LIBCURL_VERSION_NUM >= 0x075700
  // A stop does not wait for a silent name server.
  set_number(handle, CURLOPT_QUICK_EXIT, 1);
#endif
  if (asked.is_range()) {
    // With RESUME_FROM libcurl calls a 416 a success and a 200 an error.
    const std::string last = asked.end_bytes ? std::to_string(*asked.end_bytes - 1) : "";
    set_text(handle, CURLOPT_RANGE, std::to_string(asked.offset_bytes) + '-' + last);
  }
  if (place.scheme == "ftp") {
    set_number(handle, CURLOPT_FILETIME, 1);
  } else {
    set_http_options(handle, options, place, asked, sharing, headers);
  }
}

}  // namespace sabath::fetch
