#pragma once

#include <sabath/base/process/process_identity.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// What a claim says of its holder (docs/formats/cache.md).
struct ClaimRecord {
  std::string nonce{};              ///< of this one claim
  std::uint64_t beat = 0;           ///< counts the rewritings, so that the bytes change
  std::string host{};               ///< for people
  base::ProcessIdentity process{};  ///< for the judgement
  std::string job{};                ///< SLURM_JOB_ID, where there is one
  std::uint64_t done_bytes = 0;
  std::optional<std::uint64_t> total_bytes{};

  bool operator==(const ClaimRecord&) const = default;
};

std::string claim_text(const ClaimRecord& record);
/// Nothing when the text is not a whole record.
std::optional<ClaimRecord> parse_claim(std::string_view text);

}  // namespace sabath::cache
