#include "curl_failure.hpp"

#include <sabath/base/error.hpp>

#include <algorithm>
#include <array>
#include <string_view>

namespace sabath::fetch {

namespace {

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

Failure curl_failure(CURLcode code, const std::string& detail, int os_error) {
  // libcurl calls an answer with no status line, or with a wrong one, an unsupported protocol too.
  if (code == CURLE_UNSUPPORTED_PROTOCOL && detail.find("HTTP") != std::string::npos) {
    code = CURLE_WEIRD_SERVER_REPLY;
  }
  const auto* const row =
      std::find_if(rows.begin(), rows.end(), [&](const Row& each) { return each.code == code; });
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
