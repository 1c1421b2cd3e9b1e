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
  return fmt::format(
      "{} {} {} {} {}/\n", magic, version, greeting.token, greeting.code, greeting.base_path);
}

std::optional<Greeting> parse_greeting(std::string_view line) {
  const std::vector<std::string> words = base::split(base::trimmed(line), ' ');
  if (words.size() != 5 || words[0] != magic || words[1] != version) return std::nullopt;
  const auto is_hex = [](const std::string& word) {
    return std::ranges::all_of(
        word, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
  };
  if (!is_hex(words[2]) || !is_hex(words[3]) || !words[4].starts_with('/')) return std::nullopt;
  return Greeting{words[2], words[3], words[4].substr(0, words[4].size() - 1)};
}

}  // namespace sabath::serve
