#pragma once

#include <chrono>
#include <string>

namespace sabath::fetch {

/// Cause of a failed attempt, and what may help.
struct Failure {
  std::string problem{};
  std::string hint{};
  bool retryable = false;
  bool not_found = false;
  bool access_needed = false;
  std::chrono::milliseconds retry_after{0};
  /// Host that was not found or took no connection, as `host_key` names it; empty for other causes.
  std::string unreachable{};
};

}  // namespace sabath::fetch
