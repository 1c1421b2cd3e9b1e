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
};

}  // namespace sabath::fetch
