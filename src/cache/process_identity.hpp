#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::cache {

/// Names a process so that others on the same host can tell whether it still runs: a pid alone is
/// used again, and means nothing on another host or in another container.
struct ProcessIdentity {
  std::string host{};  ///< hash of host name and machine id
  std::string boot{};  ///< hash of the kernel's boot id
  std::uint64_t pid_namespace = 0;
  int pid = 0;
  std::uint64_t start_ticks = 0;

  bool operator==(const ProcessIdentity&) const = default;

  static ProcessIdentity current();
  /// As a part of a file's name; `parse` reads it again.
  std::string text() const;
  static std::optional<ProcessIdentity> parse(std::string_view text);
};

/// Does `other` certainly run no more? False whenever that cannot be known from here: on another
/// host, or in another container of this one.
bool is_provably_gone(const ProcessIdentity& other, const ProcessIdentity& self);

}  // namespace sabath::cache
