#include "exchange.hpp"

#include "curl_failure.hpp"

#include <algorithm>
#include <span>

namespace sabath::fetch {

namespace {

constexpr long buffer_bytes = 512L * 1024L;
constexpr long max_redirects = 10;

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

Exchange::Exchange(const SourceUrl& source,
                   const Asked& asked,
                   Intake& intake,
                   const EngineOptions& options,
                   base::Clock& clock)
    : asked_(asked),
      intake_(intake),
      clock_(clock),
      is_ftp_(source.scheme == "ftp"),
      easy_(make_easy()),
      last_sign_(clock.steady()) {
  set_up(source, options);
  if (!is_ftp_) set_up_http(source, options);
}

void Exchange::set_up(const SourceUrl& source, const EngineOptions& options) {
  CURL* const handle = easy_.get();
  check(curl_easy_setopt(handle, CURLOPT_CURLU, source.handle.get()));
  check(curl_easy_setopt(handle, CURLOPT_ERRORBUFFER, error_text_.data()));
  check(curl_easy_setopt(handle, CURLOPT_HEADERFUNCTION, &Exchange::on_header));
  check(curl_easy_setopt(handle, CURLOPT_HEADERDATA, this));
  check(curl_easy_setopt(handle, CURLOPT_WRITEFUNCTION, &Exchange::on_body));
  check(curl_easy_setopt(handle, CURLOPT_WRITEDATA, this));
  set_text(handle, CURLOPT_PROTOCOLS_STR, source.scheme);
  set_number(handle, CURLOPT_NOSIGNAL, 1);
  set_number(handle, CURLOPT_BUFFERSIZE, buffer_bytes);
  set_number(handle, CURLOPT_TCP_KEEPALIVE, 1);
  set_number(handle, CURLOPT_NETRC, CURL_NETRC_OPTIONAL);
  set_number(handle, CURLOPT_FILETIME, 1);
  const auto connect_timeout = std::chrono::milliseconds(options.connect_timeout).count();
  set_number(handle, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(connect_timeout));
#if LIBCURL_VERSION_NUM >= 0x075700
  // A stop need not wait for a name server that does not answer.
  set_number(handle, CURLOPT_QUICK_EXIT, 1);
#endif
  if (asked_.offset_bytes > 0) {
    // Not RESUME_FROM: with it libcurl calls a 416 a success and a 200 an error.
    set_text(handle, CURLOPT_RANGE, std::to_string(asked_.offset_bytes) + "-");
  }
}

void Exchange::set_up_http(const SourceUrl& source, const EngineOptions& options) {
  CURL* const handle = easy_.get();
  // One connection a file moves bulk faster than streams that share one (research: curl #13403).
  set_number(handle, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
  set_number(handle, CURLOPT_FOLLOWLOCATION, 1);
  set_number(handle, CURLOPT_MAXREDIRS, max_redirects);
  // What began encrypted stays so.
  set_text(handle, CURLOPT_REDIR_PROTOCOLS_STR, source.scheme == "https" ? "https" : "http,https");
  set_text(handle,
           CURLOPT_USERAGENT,
           options.user_agent.empty() ? std::string("sabath") : options.user_agent);
  if (!options.ca_file.empty()) set_text(handle, CURLOPT_CAINFO, options.ca_file);
  append(headers_, "Accept-Encoding: identity");
  if (asked_.offset_bytes > 0) append(headers_, "If-Range: " + asked_.validators.if_range());
  check(curl_easy_setopt(handle, CURLOPT_HTTPHEADER, headers_.get()));
}

std::size_t Exchange::on_header(char*, std::size_t size, std::size_t count, void* self) noexcept {
  auto& exchange = *static_cast<Exchange*>(self);
  try {
    exchange.last_sign_ = exchange.clock_.steady();
  } catch (...) {
    exchange.thrown_ = std::current_exception();
    return 0;
  }
  return size * count;
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
  if (!intake_.has_answer()) intake_.begin(read_answer(true));
  const bool go_on = intake_.take(bytes);
  last_sign_ = clock_.steady();  // afterwards: a slow disk is not a silent server
  return go_on;
}

std::string Exchange::header(const char* name) const {
  curl_header* found = nullptr;
  // -1: of the last answer, not of those that redirected to it.
  if (curl_easy_header(easy_.get(), name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  return found->value;
}

Answer Exchange::read_answer(bool has_body) const {
  return is_ftp_ ? read_ftp_answer(has_body) : read_http_answer();
}

Answer Exchange::read_http_answer() const {
  Answer answer;
  answer.status = static_cast<int>(long_info(easy_.get(), CURLINFO_RESPONSE_CODE));
  answer.content_length = number_info(easy_.get(), CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  answer.range = parse_content_range(header("Content-Range"));
  answer.content_encoding = header("Content-Encoding");
  answer.content_type = header("Content-Type");
  answer.validators = {header("ETag"), header("Last-Modified")};
  answer.end_is_marked = header("Transfer-Encoding").find("chunked") != std::string::npos;
  answer.redirected = long_info(easy_.get(), CURLINFO_REDIRECT_COUNT) > 0;
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

End Exchange::finish(CURLcode code) {
  if (thrown_) std::rethrow_exception(thrown_);
  if (code == CURLE_OK) {
    if (!intake_.has_answer()) intake_.begin(read_answer(false));
    return intake_.finish();
  }
  if (code == CURLE_BAD_DOWNLOAD_RESUME || code == CURLE_FTP_COULDNT_USE_REST) {
    intake_.begin({.status = 416});  // what HTTP calls it
    return intake_.finish();
  }
  const long os_error = long_info(easy_.get(), CURLINFO_OS_ERRNO);
  return intake_.break_off(curl_failure(code, error_text_.data(), static_cast<int>(os_error)));
}

End Exchange::abandon(const Failure& cause) {
  if (thrown_) std::rethrow_exception(thrown_);
  return intake_.break_off(cause);
}

std::string Exchange::effective_url() const {
  const char* url = nullptr;
  check(curl_easy_getinfo(easy_.get(), CURLINFO_EFFECTIVE_URL, &url));
  return url == nullptr ? std::string() : displayed_url(url);
}

}  // namespace sabath::fetch
