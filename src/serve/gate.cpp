#include "gate.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include <sys/random.h>

namespace sabath::serve {
namespace {

/// Fields that must not come twice: two readers could believe different ones.
constexpr std::array single_fields{
    "host", "authorization", "origin", "sec-fetch-site", "content-length", "transfer-encoding"};

bool equals_without_case(std::string_view a, std::string_view b) {
  return base::lower_case(a) == base::lower_case(b);
}

/// The name in "name:port"; "[::1]" keeps its brackets.
std::string_view host_name(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  return host.substr(0, host.find(':'));
}

bool is_port(std::string_view text) {
  return text.empty() ||
         (text.front() == ':' && text.size() > 1 && text.size() <= 6 &&
          std::ranges::all_of(text.substr(1), [](char c) { return c >= '0' && c <= '9'; }));
}

std::optional<Refusal> refuse_target(const std::string& target) {
  const std::string_view path = std::string_view(target).substr(0, target.find('?'));
  const bool is_plain = std::ranges::all_of(target, [](char c) { return c > ' ' && c < '\x7f'; });
  if (!target.starts_with('/') || !is_plain)
    return Refusal{400, "the target is not a plain path", "ask for a path such as /api/now"};
  constexpr std::string_view forbidden = "%\\";
  if (path.find_first_of(forbidden) != std::string_view::npos ||
      path.find("..") != std::string_view::npos || path.find("//") != std::string_view::npos)
    return Refusal{400, "the path has '..', '//', '%' or a backslash", "names are plain words"};
  if (target.find('#') != std::string::npos)
    return Refusal{400, "the target has a fragment", "a fragment stays in the browser"};
  return std::nullopt;
}

std::optional<Refusal> refuse_host(const RequestHead& head, const GateRules& rules) {
  const std::string host = head.field("host");
  if (head.count("host") == 0) return Refusal{400, "no Host is given", ""};
  const std::string_view name = host_name(host);
  const bool is_known = std::ranges::any_of(
      rules.hosts, [&](const std::string& one) { return equals_without_case(one, name); });
  if (is_known && is_port(std::string_view(host).substr(name.size()))) return std::nullopt;
  return Refusal{
      403,
      fmt::format(
          "Host '{}' is not one of {}", base::printable(host), base::joined(rules.hosts, ", ")),
      "start the server with --host-name NAME to allow another name"};
}

std::optional<Refusal> refuse_origin(const RequestHead& head) {
  const std::string host = head.field("host");
  if (head.count("origin") > 0) {
    const std::string origin = head.field("origin");
    if (origin != "http://" + host && origin != "https://" + host) {
      return Refusal{403,
                     fmt::format("Origin '{}' is another page", base::printable(origin)),
                     "only pages of this server may ask it"};
    }
  }
  if (head.count("sec-fetch-site") > 0) {
    const std::string site = head.field("sec-fetch-site");
    if (site != "same-origin" && site != "none") {
      return Refusal{403,
                     fmt::format("the request comes from another page (Sec-Fetch-Site: {})",
                                 base::printable(site)),
                     "type the address into the browser instead of following a link"};
    }
  }
  return std::nullopt;
}

std::optional<Refusal> refuse_body(const RequestHead& head) {
  const bool has_length = head.count("content-length") > 0 && head.field("content-length") != "0";
  if (has_length || head.count("transfer-encoding") > 0)
    return Refusal{400, "the request has a body", "this server only answers"};
  return std::nullopt;
}

/// A token in an address ends in histories and logs.
std::optional<Refusal> refuse_token_in_query(const RequestHead& head, const GateRules& rules) {
  const std::size_t query = head.target.find('?');
  if (query == std::string::npos) return std::nullopt;
  if (head.target.find(rules.token, query) == std::string::npos || rules.token.empty())
    return std::nullopt;
  return Refusal{400, "the token stands in the query", "send it as 'Authorization: Bearer TOKEN'"};
}

std::string random_text(std::size_t bytes) {
  std::string random(bytes, '\0');
  if (::getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size()))
    base::throw_errno("random numbers", "cannot read", errno);
  std::string text;
  for (const char c : random)
    text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

}  // namespace

std::size_t RequestHead::count(std::string_view name) const {
  return static_cast<std::size_t>(std::ranges::count_if(
      fields, [&](const auto& field) { return equals_without_case(field.first, name); }));
}

std::string RequestHead::field(std::string_view name) const {
  const auto found = std::ranges::find_if(
      fields, [&](const auto& field) { return equals_without_case(field.first, name); });
  return found == fields.end() ? std::string() : found->second;
}

std::optional<Refusal> refuse(const RequestHead& head, const GateRules& rules) {
  if (head.method != "GET" && head.method != "HEAD") {
    return Refusal{405,
                   fmt::format("method {} is not known", base::printable(head.method)),
                   "this server only answers GET and HEAD: nothing can be changed here"};
  }
  for (const char* name : single_fields) {
    if (head.count(name) > 1)
      return Refusal{400, fmt::format("the field {} comes twice", name), ""};
  }
  if (auto refusal = refuse_target(head.target)) return refusal;
  if (auto refusal = refuse_host(head, rules)) return refusal;
  if (auto refusal = refuse_origin(head)) return refusal;
  if (auto refusal = refuse_body(head)) return refusal;
  return refuse_token_in_query(head, rules);
}

std::optional<Refusal> refuse_without_token(const RequestHead& head, const GateRules& rules) {
  const std::string given = head.field("authorization");
  const std::string wanted = "Bearer " + rules.token;
  if (!rules.token.empty() && given.size() == wanted.size() &&
      CRYPTO_memcmp(given.data(), wanted.data(), wanted.size()) == 0)
    return std::nullopt;
  return Refusal{401,
                 given.empty() ? "no token is given" : "the token is not the one of this server",
                 "open the address that 'sabath serve' printed"};
}

std::string make_token() {
  return random_text(32);
}

std::string make_ticket() {
  return random_text(16);
}

}  // namespace sabath::serve
