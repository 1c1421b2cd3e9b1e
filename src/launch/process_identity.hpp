#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::launch {

/// A process and when it started, in ticks since boot, so that another one that got the same pid
/// later is told apart.
struct ProcessIdentity {
  int pid = 0;
  std::uint64_t start_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;
  /// "PID:TICKS"
  std::string text() const;
  static std::optional<ProcessIdentity> parse(std::string_view text);
  /// The process that has `pid` now, a zombie too.
  static std::optional<ProcessIdentity> of(int pid);
  /// Does it still run? A zombie does not.
  bool is_alive() const;
};

}  // namespace sabath::launch
