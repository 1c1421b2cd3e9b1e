#pragma once

#include "failure.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <variant>

namespace sabath::fetch {

/// Parts of a source's URL for a program's argument vector. User and host do not begin with '-',
/// and no part has control characters.
struct ToolUrl {
  std::string scheme{};
  std::string user{};
  std::string host{};  ///< without brackets
  std::string port{};  ///< empty where the URL has none
  std::string path{};  ///< decoded, with its first slash
  std::string query{};
  std::string plain{};      ///< without user and password, for programs
  std::string displayed{};  ///< without query and fragment either
  std::string password{};

  /// Returns "host:port" or "host", to which secrets are bound.
  std::string authority() const;
};

/// Returns a Failure where `url` is malformed, or unsafe for a program.
std::variant<ToolUrl, Failure> parse_tool_url(const std::string& url);

/// Percent-encodes a path for a URL; slashes stay.
std::string encoded_path(const std::string& path);

}  // namespace sabath::fetch
