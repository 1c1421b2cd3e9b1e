#pragma once

#include <chrono>
#include <stop_token>
#include <string>

namespace sabath::base {

/// Conditions that end the reading of a file, besides the reader's own limits.
struct ReadLimits {
  std::stop_token stop{};  ///< causes Error{interrupted}
  /// Deadline; causes Error{integrity}.
  std::chrono::steady_clock::time_point until = std::chrono::steady_clock::time_point::max();

  /// Throws if a condition holds; `place` is the file.
  void check(const std::string& place) const;
};

}  // namespace sabath::base
