#include "curl_answer.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <vector>

namespace sabath::fetch {

namespace {

/// Returns every line of a header, in lower case.
std::vector<std::string> headers_of(CURL* handle, const char* name) {
  std::vector<std::string> values;
  curl_header* found = nullptr;
  while (curl_easy_header(handle, name, values.size(), CURLH_HEADER, -1, &found) == CURLHE_OK) {
    values.push_back(base::lower_case(found->value));
  }
  return values;
}

/// Returns what is wrong with an answer that libcurl accepts: of two lengths it takes the last
/// (RFC 9110, 8.6). It ignores an impossible length. It undoes a Transfer-Encoding that was not
/// requested.
std::string malformation(CURL* handle) {
  const auto lengths = headers_of(handle, "Content-Length");
  for (const std::string& length : lengths) {
    std::int64_t bytes = 0;
    const auto read = std::from_chars(length.data(), length.data() + length.size(), bytes);
    if (read.ec == std::errc::result_out_of_range)
      return "server sent an impossible length: " + length;
    if (length == lengths.front()) continue;
    return "server sent different lengths: " + lengths.front() + " and " + length;
  }
  for (const std::string& coding : headers_of(handle, "Transfer-Encoding")) {
    if (coding == "chunked" || coding == "identity") continue;
    return "server sent the body with Transfer-Encoding " + coding + ", which was not requested";
  }
  return {};
}

struct Row {
  CURLcode code;
  std::string_view problem;
  std::string_view hint;
  bool retryable;
};

constexpr std::string_view proxy_hint =
    "is a proxy needed (https_proxy), or a firewall in the way?";
constexpr std::string_view certificate_hint =
    "certificates are always checked; a site's own authority must be given as CA file";
constexpr std::string_view login_hint =
    "a login may be needed: see the asset's access steps, or put it into ~/.netrc";
constexpr std::string_view sources_hint = "check the document's sources: the file may have moved";

constexpr std::array rows{
    Row{CURLE_COULDNT_RESOLVE_HOST,
        "cannot find the host",
        "check the name, and that this machine has a network",
        true},
    Row{CURLE_COULDNT_RESOLVE_PROXY,
        "cannot find the proxy",
        "check the variables http_proxy and https_proxy",
        false},
    Row{CURLE_COULDNT_CONNECT, "cannot connect", proxy_hint, true},
    Row{CURLE_OPERATION_TIMEDOUT, "cannot connect in time", proxy_hint, true},
    Row{CURLE_PARTIAL_FILE, "the connection was closed", "", true},
    Row{CURLE_RECV_ERROR, "the connection broke", "", true},
    Row{CURLE_SEND_ERROR, "the connection broke", "", true},
    Row{CURLE_GOT_NOTHING, "server closed the connection without an answer", "", true},
    Row{CURLE_SSL_CONNECT_ERROR, "cannot establish TLS", proxy_hint, true},
    Row{CURLE_PEER_FAILED_VERIFICATION, "cannot trust the server", certificate_hint, false},
    Row{CURLE_SSL_CACERT_BADFILE, "cannot read the CA file", certificate_hint, false},
    Row{CURLE_TOO_MANY_REDIRECTS, "server redirects without end", "", false},
    Row{CURLE_UNSUPPORTED_PROTOCOL,
        "server redirects to a scheme that is not allowed",
        "from https only https is followed, from http also http",
        false},
    Row{CURLE_WEIRD_SERVER_REPLY, "server does not speak the protocol", "", false},
    Row{CURLE_OUT_OF_MEMORY, "server's headers are too long, or memory is full", "", false},
    Row{CURLE_BAD_CONTENT_ENCODING, "server sent a malformed body", "", true},
    Row{CURLE_REMOTE_FILE_NOT_FOUND, "no such file on the server", sources_hint, false},
    Row{CURLE_REMOTE_ACCESS_DENIED, "server denies access to the folder", sources_hint, false},
    Row{CURLE_LOGIN_DENIED, "server denies the login", login_hint, false},
    Row{CURLE_FTP_COULDNT_RETR_FILE, "server does not send the file", "", true},
    Row{CURLE_FTP_ACCEPT_TIMEOUT, "server opens no data connection", "", true},
};

}  // namespace

std::string header_of(CURL* handle, const char* name) {
  curl_header* found = nullptr;
  if (curl_easy_header(handle, name, 0, CURLH_HEADER, -1, &found) != CURLHE_OK) return {};
  return found->value;
}

bool is_redirect(CURL* handle) {
  const long status = long_info(handle, CURLINFO_RESPONSE_CODE);
  const bool is_one =
      status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
  return is_one && !header_of(handle, "Location").empty();
}

Answer http_answer(CURL* handle) {
  Answer answer;
  answer.status = static_cast<int>(long_info(handle, CURLINFO_RESPONSE_CODE));
  answer.content_length = number_info(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  answer.range = parse_content_range(header_of(handle, "Content-Range"));
  answer.malformed = malformation(handle);
  answer.content_encoding = header_of(handle, "Content-Encoding");
  answer.content_type = header_of(handle, "Content-Type");
  answer.validators = {header_of(handle, "ETag"), header_of(handle, "Last-Modified")};
  answer.end_is_marked =
      header_of(handle, "Transfer-Encoding").find("chunked") != std::string::npos;
  const auto wait = number_info(handle, CURLINFO_RETRY_AFTER).value_or(0);
  constexpr std::uint64_t year = 365ULL * 24 * 3600;  // prevents an overflow
  answer.retry_after = std::chrono::seconds(std::min(wait, year));
  return answer;
}

Answer ftp_answer(CURL* handle, std::uint64_t offset_bytes, bool has_body) {
  Answer answer;
  answer.status = offset_bytes > 0 ? 206 : 200;
  answer.end_is_marked = true;  // by the reply that follows it
  const auto modified = number_info(handle, CURLINFO_FILETIME_T);
  if (modified) answer.validators.last_modified = std::to_string(*modified);
  const auto length = number_info(handle, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T);
  if (offset_bytes == 0) {
    answer.content_length = length;
  } else if (length) {
    // Without a body the length is still that of the whole file: REST to its end sends nothing.
    const std::uint64_t total = has_body ? offset_bytes + *length : *length;
    answer.range = ContentRange{.begin = offset_bytes, .end = total, .total = total};
  }
  return answer;
}

Failure curl_failure(CURLcode code, const std::string& detail, int os_error) {
  // libcurl also calls an answer with a missing or wrong status line an unsupported protocol.
  if (code == CURLE_UNSUPPORTED_PROTOCOL && detail.find("HTTP") != std::string::npos) {
    code = CURLE_WEIRD_SERVER_REPLY;
  }
  const auto* const row = std::ranges::find(rows, code, &Row::code);
  std::string cause = detail.empty() ? std::string(curl_easy_strerror(code)) : detail;
  if (code == CURLE_COULDNT_CONNECT && os_error != 0) cause = base::errno_text(os_error);
  Failure failure;
  if (row == rows.end()) {
    failure.problem = "the transfer failed: " + cause;
    return failure;
  }
  failure.problem = row->problem;
  if (code != CURLE_PARTIAL_FILE) failure.problem += ": " + cause;
  failure.hint = row->hint;
  failure.retryable = row->retryable;
  failure.not_found = code == CURLE_REMOTE_FILE_NOT_FOUND;
  failure.access_needed = code == CURLE_LOGIN_DENIED;
  return failure;
}

bool is_unreachable(CURLcode code) {
  return code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_CONNECT ||
         code == CURLE_OPERATION_TIMEDOUT;
}

}  // namespace sabath::fetch
