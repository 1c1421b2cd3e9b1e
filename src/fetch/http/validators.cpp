#include "validators.hpp"

#include <algorithm>
#include <string_view>

namespace sabath::fetch {

namespace {

/// RFC 9110, section 8.8.3.
bool is_entity_tag(std::string_view text) {
  if (text.starts_with("W/")) text.remove_prefix(2);
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  text = text.substr(1, text.size() - 2);
  return std::all_of(
      text.begin(), text.end(), [](unsigned char c) { return c > 0x20 && c != '"' && c != 0x7f; });
}

bool is_one_line(std::string_view text) {
  return std::all_of(
      text.begin(), text.end(), [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

}  // namespace

std::string Validators::unless_line() const {
  if (is_entity_tag(etag)) return "If-None-Match: " + etag;
  if (last_modified.empty() || !is_one_line(last_modified)) return {};
  return "If-Modified-Since: " + last_modified;
}

}  // namespace sabath::fetch
