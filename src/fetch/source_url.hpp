#pragma once

#include "failure.hpp"
#include "http/curl_handle.hpp"

#include <sabath/fetch/displayed_url.hpp>

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace sabath::fetch {

/// URL of a source, parsed by libcurl.
struct SourceUrl {
  CurlUrl handle{};
  std::string scheme{};
  std::string host{};       ///< with the port, where one is named
  std::string path{};       ///< decoded
  std::string plain{};      ///< without user and password
  std::string displayed{};  ///< without query and fragment either: what messages show

  SourceUrl copy() const {
    return {CurlUrl(curl_url_dup(handle.get())), scheme, host, path, plain, displayed};
  }
};

/// Returns the scheme in lower case ("https", "doi"); empty without one. The rest may be a URL that
/// libcurl does not know.
std::string scheme_of(std::string_view url);

/// Returns a part of a URL; empty where it has none, or where libcurl refuses to decode it.
std::string url_part(CURLU* url, CURLUPart part, unsigned flags = 0);

/// Returns a Failure where `url` is malformed or its host begins with '-'.
std::variant<SourceUrl, Failure> parse_source_url(const std::string& url);

/// Resolves `location`, which may be relative, against `from`. A login stays on its own host.
/// Returns a Failure where a public host sends to this machine or to a private network.
std::variant<SourceUrl, Failure> redirected(const SourceUrl& from, const std::string& location);

/// Returns the name of a source in partials and messages: the displayed URL, with a number where an
/// earlier source has the same displayed URL.
std::string name_among(const std::vector<std::string>& urls, const std::string& url);

/// Is `host` (of a SourceUrl) a loopback address?
bool is_loopback(std::string_view host);

}  // namespace sabath::fetch
