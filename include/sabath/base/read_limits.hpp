#pragma once

#include <chrono>
#include <stop_token>

namespace sabath::base {

/// When to give up reading a file, beside the reader's own limits.
struct ReadLimits {
  std::stop_token stop{};  ///< then Error{interrupted} is thrown
  /// Then Error{integrity} is thrown.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();
};

}  // namespace sabath::base
