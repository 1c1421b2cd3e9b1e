#pragma once

#include <chrono>
#include <string>

namespace sabath::fetch {

/// Why one attempt did not give the file, and what may be done about it.
struct Failure {
  std::string problem{};
  std::string hint{};
  bool retryable = false;
  bool not_found = false;
  bool access_needed = false;
  std::chrono::milliseconds retry_after{0};
  /// The host, as `host_key` names it, that was not found or took no connection; empty where there
  /// was another trouble.
  std::string unreachable{};
};

}  // namespace sabath::fetch
