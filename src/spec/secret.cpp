#include <sabath/spec/secret.hpp>

#include <algorithm>
#include <cctype>

namespace sabath::spec {
namespace {

bool are_equal(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) { return lower(x) == lower(y); });
}

std::string_view without_port(std::string_view host) {
  const auto colon = host.rfind(':');
  const bool is_address_alone = host.ends_with(']');  // "[::1]"
  return colon == std::string_view::npos || is_address_alone ? host : host.substr(0, colon);
}

}  // namespace

bool is_bound_to(std::string_view pattern, std::string_view host) {
  if (without_port(pattern) == pattern) host = without_port(host);
  if (!pattern.starts_with("*.")) return are_equal(pattern, host);
  const std::string_view suffix = pattern.substr(1);
  return host.size() > suffix.size() && are_equal(suffix, host.substr(host.size() - suffix.size()));
}

}  // namespace sabath::spec
