#include "http_stream.hpp"

#include "curl_answer.hpp"
#include "reachability.hpp"

#include <span>

namespace sabath::fetch {

namespace {

constexpr int max_redirects = 10;
/// Limit of a redirect's body, which is read to keep the connection open.
constexpr std::size_t ignored_limit_bytes = std::size_t{16} * 1024;
/// Limit of one answer's headers and trailers, which libcurl would keep without limit.
constexpr std::size_t header_limit_bytes = std::size_t{512} * 1024;
/// Progress within the limit of silence; a slower server is stuck.
constexpr std::size_t slowest_progress_bytes = 4096;

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

/// Sets what one request asks for, with the secrets of its host. `headers` gets the request's
/// headers and must outlive it. Throws Error{internal}.
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

}  // namespace

HttpStream::HttpStream(const EngineOptions& options, base::Clock& clock)
    : options_(options),
      clock_(clock),
      easy_(make_easy()),
      last_sign_(clock.steady()),
      last_progress_(last_sign_) {}

void HttpStream::prepare(const SourceUrl& source,
                         const Asked& asked,
                         Receiver& receiver,
                         Sharing sharing) {
  place_ = source.copy();
  asked_ = asked;
  receiver_ = &receiver;
  sharing_ = sharing;
  is_ftp_ = source.scheme == "ftp";
  redirects_ = 0;
  failure_ = {};
  thrown_ = nullptr;
  set_up();
}

void HttpStream::set_up() {
  CURL* const handle = easy_.get();
  curl_easy_reset(handle);
  headers_.reset();
  has_answer_ = false;
  ignored_bytes_ = 0;
  header_ended_ = false;
  header_bytes_ = 0;
  new_bytes_ = 0;
  error_text_.front() = '\0';
  last_sign_ = clock_.steady();
  last_progress_ = last_sign_;
  check(curl_easy_setopt(handle, CURLOPT_CURLU, place_.handle.get()));
  check(curl_easy_setopt(handle, CURLOPT_PRIVATE, this));
  check(curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_text_.data()));
  check(curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &HttpStream::on_header));
  check(curl_easy_setopt(handle, CURLOPT_HEADERDATA, this));
  check(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &HttpStream::on_body));
  check(curl_easy_setopt(handle, CURLOPT_WRITEDATA, this));
  if (netrc_.may_name(place_.host)) {
    check(curl_easy_setopt(handle, CURLOPT_NETRC, static_cast<long>(CURL_NETRC_OPTIONAL)));
  }
  set_request_options(handle, options_, place_, asked_, sharing_, headers_);
}

std::size_t HttpStream::on_header(char* data,
                                  std::size_t size,
                                  std::size_t count,
                                  void* self) noexcept {
  auto& stream = *static_cast<HttpStream*>(self);
  try {
    stream.note_header({data, size * count});
  } catch (...) {
    stream.thrown_ = std::current_exception();
    return 0;
  }
  return stream.header_bytes_ > header_limit_bytes ? 0 : size * count;
}

std::size_t HttpStream::on_body(char* data,
                                std::size_t size,
                                std::size_t count,
                                void* self) noexcept {
  auto& stream = *static_cast<HttpStream*>(self);
  const std::size_t bytes = size * count;
  try {
    if (stream.take(std::as_bytes(std::span(data, bytes)))) return bytes;
  } catch (...) {
    stream.thrown_ = std::current_exception();
  }
  return bytes + 1;  // any number but `bytes` ends the transfer
}

bool HttpStream::take(base::ByteView bytes) {
  if (is_http_redirect()) {
    ignored_bytes_ += bytes.size();
    return ignored_bytes_ <= ignored_limit_bytes;
  }
  if (!has_answer_) give_answer(true);
  const auto began = clock_.steady();
  const bool go_on = receiver_->take(bytes);
  last_progress_ += clock_.steady() - began;  // a slow disk is not a silent server
  note_bytes(bytes.size());
  return go_on;
}

void HttpStream::note_bytes(std::size_t bytes) {
  last_sign_ = clock_.steady();
  new_bytes_ += bytes;
  if (new_bytes_ < slowest_progress_bytes) return;
  new_bytes_ = 0;
  last_progress_ = last_sign_;
}

/// Reads one header line. An empty line ends the header; another header may follow (103).
void HttpStream::note_header(std::string_view line) {
  note_bytes(line.size());
  header_bytes_ += line.size();
  if (line.starts_with("HTTP/")) header_ended_ = false;
  if (line == "\r\n" || line == "\n") header_ended_ = true;
}

bool HttpStream::is_stuck() const {
  return clock_.steady() - last_progress_ >= options_.silence;
}

Failure HttpStream::stuck_failure() const {
  const bool is_silent = clock_.steady() - last_sign_ >= options_.silence / 2.0;
  const std::string what = is_silent ? "server was silent for " : "server sent less than 4 KiB in ";
  return {.problem = what + std::to_string(options_.silence.count()) + " s", .retryable = true};
}

void HttpStream::give_answer(bool has_body) {
  has_answer_ = true;
  receiver_->begin(is_ftp_ ? ftp_answer(easy_.get(), asked_.offset_bytes, has_body)
                           : http_answer(easy_.get()));
}

HttpStream::Ending HttpStream::follow() {
  if (redirects_ == max_redirects) {
    failure_ =
        curl_failure(CURLE_TOO_MANY_REDIRECTS, std::to_string(max_redirects) + " in a row", 0);
    return Ending::broken;
  }
  auto next = redirected(place_, header_of(easy_.get(), "Location"));
  if (auto* failure = std::get_if<Failure>(&next)) {
    failure_ = std::move(*failure);
    failure_.problem = "server redirects to a " + failure_.problem;
    return Ending::broken;
  }
  auto& place = std::get<SourceUrl>(next);
  // An encrypted request stays encrypted.
  if (place.scheme != "https" && (place.scheme != "http" || place_.scheme == "https")) {
    failure_ = curl_failure(CURLE_UNSUPPORTED_PROTOCOL, place.scheme, 0);
    return Ending::broken;
  }
  place_ = std::move(place);
  ++redirects_;
  set_up();
  return Ending::elsewhere;
}

void HttpStream::rethrow() const {
  if (thrown_) std::rethrow_exception(thrown_);
}

HttpStream::Ending HttpStream::finish(CURLcode code) {
  rethrow();
  if (code == CURLE_OK && !is_ftp_ && !header_ended_) {
    // For libcurl it is an answer without a body.
    failure_ = {.problem = "the connection was closed within the header", .retryable = true};
    return Ending::broken;
  }
  const bool ended = code == CURLE_OK || (code == CURLE_WRITE_ERROR && ignored_bytes_ > 0);
  if (ended && is_http_redirect()) return follow();
  if (code == CURLE_OK) {
    if (!has_answer_) give_answer(false);
    return Ending::clean;
  }
  if (code == CURLE_BAD_DOWNLOAD_RESUME || code == CURLE_FTP_COULDNT_USE_REST) {
    receiver_->begin({.status = 416});  // what HTTP calls it
    return Ending::clean;
  }
  if (header_bytes_ > header_limit_bytes) {
    failure_ = {.problem = "server sends headers without end"};
    return Ending::broken;
  }
  const long os_error = long_info(easy_.get(), CURLINFO_OS_ERRNO);
  failure_ = curl_failure(code, error_text_.data(), static_cast<int>(os_error));
  if (is_unreachable(code)) failure_.unreachable = host_key(place_);
  return Ending::broken;
}

std::chrono::nanoseconds HttpStream::response_time() const {
  const auto sent = number_info(easy_.get(), CURLINFO_PRETRANSFER_TIME_T).value_or(0);
  const auto came = number_info(easy_.get(), CURLINFO_STARTTRANSFER_TIME_T).value_or(0);
  return std::chrono::microseconds(came > sent ? came - sent : 0);
}

}  // namespace sabath::fetch
