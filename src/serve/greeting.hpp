#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sabath::serve {

/// What a server on pipes says before its first frame.
struct Greeting {
  std::string token{};
  std::string code{};  ///< is exchanged for the token once
  std::string base_path{};
};

/// "sabath-view 1 TOKEN CODE /BASE\n"
std::string greeting_line(const Greeting& greeting);
/// Reads it again; nothing for any other line.
std::optional<Greeting> parse_greeting(std::string_view line);

}  // namespace sabath::serve
