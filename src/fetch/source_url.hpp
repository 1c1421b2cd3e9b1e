#pragma once

#include "curl_handle.hpp"
#include "failure.hpp"

#include <string>
#include <string_view>
#include <variant>

namespace sabath::fetch {

/// A source's URL, read by libcurl.
struct SourceUrl {
  CurlUrl handle{};
  std::string scheme{};
  std::string path{};       ///< decoded
  std::string plain{};      ///< without user and password
  std::string displayed{};  ///< without query and fragment either: what messages show
};

/// The scheme in lower case ("https", "doi"); empty when there is none. It decides who reads the
/// rest, which need not be a URL that libcurl knows.
std::string scheme_of(std::string_view url);

/// A Failure where `url` is malformed or its host begins with '-'.
std::variant<SourceUrl, Failure> parse_source_url(const std::string& url);

/// `url` as messages may show it: without user, password, query and fragment, also when it is
/// malformed.
std::string displayed_url(const std::string& url);

}  // namespace sabath::fetch
