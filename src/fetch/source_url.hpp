#pragma once

#include "failure.hpp"
#include "http/curl_handle.hpp"

#include <sabath/fetch/displayed_url.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// A source's URL, read by libcurl.
struct SourceUrl {
  CurlUrl handle{};
  std::string scheme{};
  std::string host{};       ///< with the port, where one is named
  std::string path{};       ///< decoded
  std::string plain{};      ///< without user and password
  std::string displayed{};  ///< without query and fragment either: what messages show

  SourceUrl copy() const;
};

/// The scheme in lower case ("https", "doi"); empty when there is none. It decides who reads the
/// rest, which need not be a URL that libcurl knows.
std::string scheme_of(std::string_view url);

/// A Failure where `url` is malformed or its host begins with '-'.
std::variant<SourceUrl, Failure> parse_source_url(const std::string& url);

/// Where `location`, which may be relative, leads from `from`. A login stays only on its own host.
std::variant<SourceUrl, Failure> redirected(const SourceUrl& from, const std::string& location);

/// How partials and messages name `url`, one of the sources of a file: as it is displayed, with a
/// number where others before it differ only in what is not shown.
std::string name_among(const std::vector<std::string>& urls, const std::string& url);

/// Is `host` (of a SourceUrl) this very machine?
bool is_loopback(std::string_view host);

}  // namespace sabath::fetch
