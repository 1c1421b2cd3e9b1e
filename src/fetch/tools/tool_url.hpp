#pragma once

#include "failure.hpp"

#include <sabath/fetch/fetcher.hpp>

#include <string>
#include <variant>

namespace sabath::fetch {

/// A source's URL, taken apart for a program's argument vector: nothing in it begins with '-' where
/// an option could stand, or has control characters.
struct ToolUrl {
  std::string scheme{};
  std::string user{};
  std::string host{};  ///< without brackets
  std::string port{};  ///< empty where the URL has none
  std::string path{};  ///< decoded, with its first slash
  std::string query{};
  std::string plain{};      ///< without user and password: what goes to a program as it is
  std::string displayed{};  ///< without query and fragment either
  std::string password{};

  /// "host:port", or "host": what secrets are bound to.
  std::string authority() const;
};

/// A Failure where `url` is malformed, or must not reach a program.
std::variant<ToolUrl, Failure> parse_tool_url(const std::string& url);

}  // namespace sabath::fetch
