#pragma once

#include <sabath/base/unique_fd.hpp>

#include <functional>
#include <optional>
#include <utility>

namespace sabath::probe {

/// The kernel's reports of processes that start others (connector, CN_IDX_PROC). With them the
/// parent is known of a process that ended before it could be looked at.
class ForkEvents {
 public:
  /// Returns nothing where the kernel does not allow it: it takes CAP_NET_ADMIN and the first
  /// namespaces of processes, users and networks.
  static std::optional<ForkEvents> ask();
  /// Tells the kernel that it no longer listens. Before 6.6 the kernel counts a socket that was
  /// only closed as a listener for good.
  ~ForkEvents();
  ForkEvents(ForkEvents&& other) noexcept = default;
  ForkEvents& operator=(ForkEvents&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ForkEvents(const ForkEvents&) = delete;
  ForkEvents& operator=(const ForkEvents&) = delete;

  /// Reads all reports that wait. `take` is not told of threads. False where some were lost.
  bool read(const std::function<void(int parent, int child)>& take);

 private:
  explicit ForkEvents(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;  ///< empty, or the kernel was told that it listens
};

}  // namespace sabath::probe
