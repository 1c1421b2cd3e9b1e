#include "http_headers.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace sabath::fetch {

namespace {

std::string_view trimmed(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

int number_of(std::string_view text) {
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

}  // namespace

std::string HttpHeaders::value(const std::string& name) const {
  const auto found = values.find(name);
  return found == values.end() ? std::string() : found->second;
}

Answer HttpHeaders::answer() const {
  Answer answer;
  answer.status = status;
  answer.validators = {value("etag"), value("last-modified")};
  constexpr int day = 24 * 3600;
  answer.retry_after = std::chrono::seconds(std::clamp(number_of(value("retry-after")), 0, day));
  return answer;
}

HttpHeaders parse_http_headers(std::string_view text) {
  HttpHeaders headers;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.starts_with("HTTP/")) {
      const auto blank = std::min(line.find(' '), line.size());
      headers = {.status = number_of(trimmed(line.substr(blank)))};
      continue;
    }
    const auto colon = line.find(':');
    if (headers.status == 0 || colon == std::string_view::npos) continue;
    std::string name(line.substr(0, colon));
    std::ranges::transform(name, name.begin(), [](char c) {
      return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    });
    headers.values[name] = trimmed(line.substr(colon + 1));
  }
  return headers;
}

}  // namespace sabath::fetch
