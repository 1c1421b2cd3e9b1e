#pragma once

#include "answer.hpp"

#include <map>
#include <string>
#include <string_view>

namespace sabath::fetch {

/// The last of the answers that a program has written down.
struct HttpHeaders {
  int status = 0;                               ///< 0: there was no answer
  std::map<std::string, std::string> values{};  ///< names in lower case

  std::string value(const std::string& name) const;
  Answer answer() const;
};

/// Reads blocks of "HTTP/1.1 200 OK" and headers, as curl's --dump-header and wget write them.
HttpHeaders parse_http_headers(std::string_view text);

}  // namespace sabath::fetch
