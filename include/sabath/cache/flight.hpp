#pragma once

#include <sabath/base/observer.hpp>

#include <chrono>
#include <functional>
#include <string>

namespace sabath::cache {

/// A task that many processes need and one of them should do.
struct Flight {
  std::string task{};  ///< shown to the user
  /// Says whether the task is done. Called first, after each wait, and before `work`.
  std::function<bool()> is_there{};
  /// Does the task. Waiting processes show the byte progress that it reports.
  std::function<void(base::Observer&)> work{};
  std::chrono::nanoseconds heartbeat{std::chrono::seconds(5)};
  /// A holder counts as dead when its claim has not changed for this time, by the waiter's clock.
  /// A holder that is provably gone counts as dead at once.
  std::chrono::nanoseconds silence{std::chrono::seconds(60)};
};

}  // namespace sabath::cache
