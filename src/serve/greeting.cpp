#include "greeting.hpp"

#include <sabath/base/text/pieces.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace sabath::serve {
namespace {

constexpr std::string_view magic = "sabath-view";
constexpr std::string_view version = "1";

}  // namespace

std::string greeting_line(const Greeting& greeting) {
  return fmt::format("{} {} {} {}/\n", magic, version, greeting.token, greeting.base_path);
}

std::optional<Greeting> parse_greeting(std::string_view line) {
  const std::vector<std::string> words = base::split(base::trimmed(line), ' ');
  if (words.size() != 4 || words[0] != magic || words[1] != version) return std::nullopt;
  const bool is_token = !words[2].empty() && std::ranges::all_of(words[2], [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
  });
  if (!is_token || !words[3].starts_with('/')) return std::nullopt;
  return Greeting{words[2], words[3].substr(0, words[3].size() - 1)};
}

}  // namespace sabath::serve
