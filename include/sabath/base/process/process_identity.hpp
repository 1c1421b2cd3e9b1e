#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace sabath::base {

/// Name of a process by which others on the same host can tell whether it still runs. A pid alone
/// is reused, and means nothing on another host or in another container.
struct ProcessIdentity {
  std::string host{};               ///< hash of host name and machine id
  std::string boot{};               ///< hash of the kernel's boot id
  std::uint64_t pid_namespace = 0;  ///< processes in different containers do not see one another
  int pid = 0;                      ///< as its own PID namespace has it
  std::uint64_t start_ticks = 0;    ///< ProcessStat::start_ticks; 0 where /proc does not tell

  bool operator==(const ProcessIdentity&) const = default;

  /// This process. Call it again after a fork.
  static ProcessIdentity current();
  /// The process that has `pid` in this one's PID namespace now, a zombie too.
  static ProcessIdentity of(int pid);
  /// "HOST.BOOT.NAMESPACE.PID.TICKS": the form that files and names of files use.
  std::string text() const;
  /// Reads it again, with or without ".MORE" behind it; nothing when malformed.
  static std::optional<ProcessIdentity> parse(std::string_view text);
};

enum class Liveness { running, gone, unknown };

/// Returns `gone` only if that is certain (a zombie is gone, too). Returns `unknown` for a process
/// on another host, in another container, or hidden. `self` is the asking process.
Liveness liveness_of(const ProcessIdentity& other,
                     const ProcessIdentity& self = ProcessIdentity::current());

inline bool is_provably_gone(const ProcessIdentity& other, const ProcessIdentity& self) {
  return liveness_of(other, self) == Liveness::gone;
}

/// The name of the user that this process works for, or the number where it has none.
std::string user_name();

}  // namespace sabath::base
