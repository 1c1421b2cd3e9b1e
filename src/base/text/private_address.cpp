#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/private_address.hpp>

#include <algorithm>
#include <cstdint>
#include <string>

#include <arpa/inet.h>

namespace sabath::base {
namespace {

using std::string_view;

string_view host_of(string_view url) {
  const auto begin = url.find("://");
  if (begin == string_view::npos) return {};
  url = url.substr(begin + 3);
  url = url.substr(0, url.find_first_of("/?#"));
  if (const auto at = url.rfind('@'); at != string_view::npos) url.remove_prefix(at + 1);
  if (url.starts_with('[')) return url.substr(1, url.find(']') - 1);
  return url.substr(0, url.find(':'));
}

bool is_private_ip(const std::string& host) {
  in_addr four{};
  if (inet_aton(host.c_str(), &four) != 0) {  // also "127.1", "0x7f.1" and "2130706433"
    const std::uint32_t number = ntohl(four.s_addr);
    const auto within = [number](std::uint32_t network, unsigned bits) {
      return number >> (32U - bits) == network >> (32U - bits);
    };
    return within(0x00000000U, 8) || within(0x0A000000U, 8) || within(0x7F000000U, 8) ||
           within(0xA9FE0000U, 16) || within(0xAC100000U, 12) || within(0xC0A80000U, 16) ||
           within(0x64400000U, 10);
  }
  in6_addr six{};
  if (inet_pton(AF_INET6, host.c_str(), &six) != 1) return false;
  const auto* bytes = static_cast<const unsigned char*>(six.s6_addr);
  const bool is_mapped = std::all_of(bytes, bytes + 10, [](unsigned char b) { return b == 0; });
  return is_mapped || (bytes[0] & 0xFEU) == 0xFCU || (bytes[0] == 0xFEU && bytes[1] >= 0x80U);
}

}  // namespace

bool is_private_address(string_view url) {
  const std::string lower = lower_case(url);
  if (lower.empty() || lower.starts_with("doi:")) return false;
  if (lower.starts_with("file:") || lower.find("+file:") != std::string::npos) return true;
  std::string host(host_of(lower));
  // Programs that fetch decode and mend other spellings, each in its own way.
  const bool is_plain =
      !host.empty() &&
      host.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789.-_:") == host.npos;
  if (!is_plain) return true;
  while (host.ends_with('.'))
    host.pop_back();
  const bool is_named = host == "localhost" || host.ends_with(".localhost") ||
                        host.ends_with(".local") || host.ends_with(".internal");
  return is_named || is_private_ip(host);
}

}  // namespace sabath::base
