#include "exchange.hpp"

#include "curl_failure.hpp"
#include "reachability.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <span>

namespace sabath::fetch {

namespace {

constexpr long bulk_buffer_bytes = 512L * 1024L;
constexpr long small_buffer_bytes = 64L * 1024L;
constexpr int max_redirects = 10;
/// So much of a redirect's body is read to keep its connection open.
constexpr std::size_t ignored_limit_bytes = std::size_t{16} * 1024;
/// Of one answer, with what follows a chunked body, of which libcurl would keep any number.
constexpr std::size_t header_limit_bytes = std::size_t{512} * 1024;
/// Who sends fewer within the limit of silence could hold a connection for ever.
constexpr std::size_t slowest_progress_bytes = 4096;

void set_number(CURL* handle, CURLoption option, long value) {
  check(curl_easy_setopt(handle, option, value));
}

void set_text(CURL* handle, CURLoption option, const std::string& value) {
  check(curl_easy_setopt(handle, option, value.c_str()));
}

/// Nothing where libcurl does not know (-1).
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

}  // namespace

Exchange::Exchange(const EngineOptions& options, base::Clock& clock)
    : options_(options),
      clock_(clock),
      easy_(make_easy()),
      last_sign_(clock.steady()),
      last_progress_(last_sign_) {}

void Exchange::prepare(const SourceUrl& source,
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

void Exchange::set_up() {
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
  check(curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Exchange::on_header));
  check(curl_easy_setopt(handle, CURLOPT_HEADERDATA, this));
  check(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Exchange::on_body));
  check(curl_easy_setopt(handle, CURLOPT_WRITEDATA, this));
  set_text(handle, CURLOPT_PROTOCOLS_STR, place_.scheme);
  set_number(handle, CURLOPT_NOSIGNAL, 1);
  // A wish: libcurl refuses it while the handle has a buffer. A host that was not found leaves it
  // one, and so does an HTTP/2 stream that ended while its connection had others.
  curl_easy_setopt(handle,
                   CURLOPT_BUFFERSIZE,
                   sharing_ == Sharing::own_connection ? bulk_buffer_bytes : small_buffer_bytes);
  set_number(handle, CURLOPT_TCP_KEEPALIVE, 1);
  if (netrc_.may_name(place_.host)) set_number(handle, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
  const auto connect_timeout = std::chrono::milliseconds(options_.connect_timeout).count();
  set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout));
#if LIBCURL_VERSION_NUM >= 0x075700
  // A stop need not wait for a name server that does not answer.
  set_number(handle, CURLOPT_QUICK_EXIT, 1);
#endif
  if (asked_.is_range()) {
    // Not RESUME_FROM: with it libcurl calls a 416 a success and a 200 an error.
    const std::string last = asked_.end_bytes ? std::to_string(*asked_.end_bytes - 1) : "";
    set_text(handle, CURLOPT_RANGE, std::to_string(asked_.offset_bytes) + '-' + last);
  }
  if (is_ftp_) {
    set_number(handle, CURLOPT_FILETIME, 1);
  } else {
    set_up_http();
  }
}

void Exchange::set_up_http() {
  CURL* const handle = easy_.get();
  const bool is_tls = place_.scheme == "https";
  if (sharing_ == Sharing::shared_connection && is_tls) {
    set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS);
    set_number(handle, CURLOPT_PIPEWAIT, 1);
  } else {
    set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  }
  set_text(handle,
           CURLOPT_USERAGENT,
           options_.user_agent.empty() ? std::string("sabath") : options_.user_agent);
  if (!options_.ca_file.empty()) set_text(handle, CURLOPT_CAINFO, options_.ca_file);
  append(headers_, "Accept-Encoding: identity");
  if (asked_.is_range() && asked_.validators.can_prove()) {
    append(headers_, "If-Range: " + asked_.validators.if_range());
  }
  const std::string unless = asked_.unless_it_is.unless_line();
  if (!unless.empty()) append(headers_, unless);
  set_up_credentials();
  check(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get()));
}

/// Of the host that this very request goes to. Without TLS everybody on the way could read them.
void Exchange::set_up_credentials() {
  if (!options_.credentials_for) return;
  const bool is_safe =
      place_.scheme == "https" || (options_.secrets_on_loopback && is_loopback(place_.host));
  if (!is_safe) return;
  CURL* const handle = easy_.get();
  const Credentials credentials = options_.credentials_for(place_.scheme, place_.host);
  if (!credentials.bearer.empty()) {
    set_number(handle, CURLOPT_HTTPAUTH, static_cast<long>(CURLAUTH_BEARER));
    set_text(handle, CURLOPT_XOAUTH2_BEARER, credentials.bearer);
  } else if (!credentials.user.empty()) {
    set_text(handle, CURLOPT_USERNAME, credentials.user);
    set_text(handle, CURLOPT_PASSWORD, credentials.password);
  }
  for (const std::string& line : credentials.headers)
    append(headers_, line);
}

std::size_t Exchange::on_header(char* data,
                                std::size_t size,
                                std::size_t count,
                                void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  try {
    exchange.note_header({data, size * count});
  } catch (...) {
    exchange.thrown_ = std::current_exception();
    return 0;
  }
  return exchange.header_bytes_ > header_limit_bytes ? 0 : size * count;
}

std::size_t Exchange::on_body(char* data,
                              std::size_t size,
                              std::size_t count,
                              void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  const std::size_t bytes = size * count;
  try {
    if (exchange.take(std::as_bytes(std::span(data, bytes)))) return bytes;
  } catch (...) {
    exchange.thrown_ = std::current_exception();
  }
  return bytes + 1;  // any other number than the one given ends the transfer
}

bool Exchange::take(base::ByteView bytes) {
  if (is_redirect()) {
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

void Exchange::note_bytes(std::size_t bytes) {
  last_sign_ = clock_.steady();
  new_bytes_ += bytes;
  if (new_bytes_ < slowest_progress_bytes) return;
  new_bytes_ = 0;
  last_progress_ = last_sign_;
}

/// A line of it: an empty one is its end, but there may be another header after it (103).
void Exchange::note_header(std::string_view line) {
  note_bytes(line.size());
  header_bytes_ += line.size();
  if (line.starts_with("HTTP/")) header_ended_ = false;
  if (line == "\r\n" || line == "\n") header_ended_ = true;
}

bool Exchange::is_stuck() const {
  return clock_.steady() - last_progress_ >= options_.silence;
}

Failure Exchange::stuck_failure() const {
  const bool is_silent = clock_.steady() - last_sign_ >= options_.silence / 2.0;
  const std::string what = is_silent ? "server was silent for " : "server sent less than 4 KiB in ";
  return {.problem = what + std::to_string(options_.silence.count()) + " s", .retryable = true};
}

std::string Exchange::header(const char* name) const {
  curl_header* found = nullptr;
  // -1: of the last answer, not of those that redirected to it.
  if (curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  return found->value;
}

/// Every line of it, in lower case.
std::vector<std::string> Exchange::headers(const char* name) const {
  std::vector<std::string> values;
  curl_header* found = nullptr;
  while (curl_easy_header(easy_.get(), name, values.size(), CURLH_HEADER, -1, &found) ==
         CURLHE_OK) {
    std::string& value = values.emplace_back(found->value);
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) {
      return static_cast<char>(std::tolower(c));
    });
  }
  return values;
}

/// What libcurl lets pass: of two lengths it takes the last (RFC 9110, 8.6), one that no file has
/// it ignores, and it undoes a Transfer-Encoding that nobody asked for.
std::string Exchange::malformation() const {
  const auto lengths = headers("Content-Length");
  for (const std::string& length : lengths) {
    std::int64_t bytes = 0;
    const auto read = std::from_chars(length.data(), length.data() + length.size(), bytes);
    if (read.ec == std::errc::result_out_of_range)
      return "server told a length that cannot be: " + length;
    if (length == lengths.front()) continue;
    return "server told different lengths: " + lengths.front() + " and " + length;
  }
  for (const std::string& coding : headers("Transfer-Encoding")) {
    if (coding == "chunked" || coding == "identity") continue;
    return "server sent the body with Transfer-Encoding " + coding + ", which was not asked";
  }
  return {};
}

void Exchange::give_answer(bool has_body) {
  has_answer_ = true;
  receiver_->begin(is_ftp_ ? read_ftp_answer(has_body) : read_http_answer());
}

Answer Exchange::read_http_answer() const {
  Answer answer;
  answer.status = static_cast<int>(long_info(easy_.get(), CURLINFO_RESPONSE_CODE));
  answer.content_length = number_info(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  answer.range = parse_content_range(header("Content-Range"));
  answer.malformed = malformation();
  answer.content_encoding = header("Content-Encoding");
  answer.content_type = header("Content-Type");
  answer.validators = {header("ETag"), header("Last-Modified")};
  answer.end_is_marked = header("Transfer-Encoding").find("chunked") != std::string::npos;
  const auto wait = number_info(easy_.get(), CURLINFO_RETRY_AFTER).value_or(0);
  constexpr std::uint64_t year = 365ULL * 24 * 3600;  // keeps nonsense from overflowing
  answer.retry_after = std::chrono::seconds(std::min(wait, year));
  return answer;
}

/// FTP has no conditions; the modification time (MDTM) and the size, both asked before the body,
/// stand in for Last-Modified and Content-Range.
Answer Exchange::read_ftp_answer(bool has_body) const {
  Answer answer;
  answer.status = asked_.offset_bytes > 0 ? 206 : 200;
  answer.end_is_marked = true;  // by the reply that follows it
  const auto modified = number_info(easy_.get(), CURLINFO_FILETIME_T);
  if (modified) answer.validators.last_modified = std::to_string(*modified);
  const auto length = number_info(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  if (asked_.offset_bytes == 0) {
    answer.content_length = length;
  } else if (length) {
    // Without a body the length is still that of the whole file: REST to its end sends nothing.
    const std::uint64_t total = has_body ? asked_.offset_bytes + *length : *length;
    answer.range = ContentRange{.begin = asked_.offset_bytes, .end = total, .total = total};
  }
  return answer;
}

bool Exchange::is_redirect() const {
  if (is_ftp_) return false;
  const long status = long_info(easy_.get(), CURLINFO_RESPONSE_CODE);
  const bool is_one =
      status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
  return is_one && !header("Location").empty();
}

Exchange::Ending Exchange::follow() {
  if (redirects_ == max_redirects) {
    failure_ =
        curl_failure(CURLE_TOO_MANY_REDIRECTS, std::to_string(max_redirects) + " in a row", 0);
    return Ending::broken;
  }
  auto next = redirected(place_, header("Location"));
  if (auto* failure = std::get_if<Failure>(&next)) {
    failure_ = std::move(*failure);
    failure_.problem = "server redirects to a " + failure_.problem;
    return Ending::broken;
  }
  auto& place = std::get<SourceUrl>(next);
  // What began encrypted stays so.
  if (place.scheme != "https" && (place.scheme != "http" || place_.scheme == "https")) {
    failure_ = curl_failure(CURLE_UNSUPPORTED_PROTOCOL, place.scheme, 0);
    return Ending::broken;
  }
  place_ = std::move(place);
  ++redirects_;
  set_up();
  return Ending::elsewhere;
}

void Exchange::rethrow() const {
  if (thrown_) std::rethrow_exception(thrown_);
}

Exchange::Ending Exchange::finish(CURLcode code) {
  rethrow();
  if (code == CURLE_OK && !is_ftp_ && !header_ended_) {
    // For libcurl it is an answer without a body.
    failure_ = {.problem = "the connection was closed within the header", .retryable = true};
    return Ending::broken;
  }
  const bool ended = code == CURLE_OK || (code == CURLE_WRITE_ERROR && ignored_bytes_ > 0);
  if (ended && is_redirect()) return follow();
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

std::chrono::nanoseconds Exchange::response_time() const {
  const auto sent = number_info(easy_.get(), CURLINFO_PRETRANSFER_TIME_T).value_or(0);
  const auto came = number_info(easy_.get(), CURLINFO_STARTTRANSFER_TIME_T).value_or(0);
  return std::chrono::microseconds(came > sent ? came - sent : 0);
}

}  // namespace sabath::fetch
