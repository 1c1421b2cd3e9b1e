#pragma once

#include <chrono>
#include <stop_token>
#include <string>

namespace sabath::base {

/// When to give up reading a file, beside the reader's own limits.
struct ReadLimits {
  std::stop_token stop{};  ///< then Error{interrupted} is thrown
  /// Then Error{integrity} is thrown.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();

  /// Throws where it is time to give up; `place` is the file.
  void check(const std::string& place) const;
};

}  // namespace sabath::base
