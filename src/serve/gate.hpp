#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sabath::serve {

/// The head of a request, as it came.
struct RequestHead {
  std::string method{};
  std::string target{};
  std::vector<std::pair<std::string, std::string>> fields{};

  /// Number of fields with this name, in any case of its letters.
  std::size_t count(std::string_view name) const;
  /// Value of the first one; empty without it.
  std::string field(std::string_view name) const;
};

struct GateRules {
  std::string token{};
  std::vector<std::string> hosts{};  ///< names by which a client may call this server
  std::string base_path{};           ///< "/portal/x"; empty: the root
};

/// Why a request is refused.
struct Refusal {
  int status = 400;
  std::string problem{};
  std::string hint{};
};

/// Checks all but the token: method, target, host, origin and body. Returns nothing for a request
/// that may pass.
std::optional<Refusal> refuse(const RequestHead& head, const GateRules& rules);

/// Whether the request has the token, in its header. Takes the same time for every wrong one.
std::optional<Refusal> refuse_without_token(const RequestHead& head, const GateRules& rules);

/// 256 random bits in letters that an address may have.
std::string make_token();
/// 128 random bits.
std::string make_ticket();

}  // namespace sabath::serve
