#include "http_status.hpp"

#include <sabath/base/text/regex.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace sabath::fetch {

namespace {

using Reason = std::pair<int, std::string_view>;

// RFC 9110, section 15, and RFC 6585. The server's own wording is not trusted.
constexpr std::array reasons{
    Reason{204, "No Content"},
    Reason{300, "Multiple Choices"},
    Reason{304, "Not Modified"},
    Reason{400, "Bad Request"},
    Reason{401, "Unauthorized"},
    Reason{402, "Payment Required"},
    Reason{403, "Forbidden"},
    Reason{404, "Not Found"},
    Reason{405, "Method Not Allowed"},
    Reason{406, "Not Acceptable"},
    Reason{407, "Proxy Authentication Required"},
    Reason{408, "Request Timeout"},
    Reason{409, "Conflict"},
    Reason{410, "Gone"},
    Reason{416, "Range Not Satisfiable"},
    Reason{425, "Too Early"},
    Reason{429, "Too Many Requests"},
    Reason{451, "Unavailable For Legal Reasons"},
    Reason{500, "Internal Server Error"},
    Reason{501, "Not Implemented"},
    Reason{502, "Bad Gateway"},
    Reason{503, "Service Unavailable"},
    Reason{504, "Gateway Timeout"},
    Reason{507, "Insufficient Storage"},
    Reason{509, "Bandwidth Limit Exceeded"},
};

/// Returns a temporary error of S3 and compatible services (lists of the AWS SDKs and of Nix).
std::string passing_s3_code(std::string_view body) {
  base::Regex regex(
      "<Code>(SlowDown|RequestTimeout|RequestTimeTooSkewed|InternalError|ServiceUnavailable|"
      "Throttling|ThrottlingException|RequestThrottled|TooManyRequestsException|"
      "BandwidthLimitExceeded|RequestLimitExceeded|OperationAborted)</Code>");
  const bool is_found = regex.search(body) == base::Regex::Outcome::found;
  return is_found ? std::string(regex.group(1).value_or("")) : std::string();
}

bool is_passing(int status) {
  constexpr std::array passing{408, 425, 429, 500, 502, 503, 504, 509};
  return std::ranges::find(passing, status) != passing.end();
}

std::string status_hint(int status) {
  switch (status) {
    case 401:
    case 403:
      return "a login may be needed: see the asset's access steps, or put it into ~/.netrc";
    case 404:
    case 410:
      return "check the document's sources: the file may have moved";
    case 407:
      return "the proxy wants a login: put it into https_proxy";
    case 429:
    case 503:
      return "the server is busy; try again later, or add a mirror to the sources";
    default:
      return {};
  }
}

}  // namespace

std::string status_text(int status) {
  const auto* const found = std::ranges::find(reasons, status, &Reason::first);
  return found == reasons.end() ? fmt::format("{}", status)
                                : fmt::format("{} {}", status, found->second);
}

Failure status_failure(const Answer& answer, std::string_view body) {
  const std::string s3_code = passing_s3_code(body);
  Failure failure;
  failure.problem = "server answered " + status_text(answer.status);
  if (!s3_code.empty()) failure.problem += fmt::format(" ({})", s3_code);
  failure.hint = status_hint(answer.status);
  failure.retryable = is_passing(answer.status) || !s3_code.empty();
  failure.not_found = answer.status == 404 || answer.status == 410;
  failure.access_needed = (answer.status == 401 || answer.status == 403) && s3_code.empty();
  failure.retry_after = answer.retry_after;
  return failure;
}

}  // namespace sabath::fetch
