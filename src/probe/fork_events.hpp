#pragma once

#include <sabath/base/unique_fd.hpp>

#include <functional>
#include <optional>

namespace sabath::probe {

/// The kernel's reports of processes that start others (connector, CN_IDX_PROC). With them the
/// parent is known of a process that ended before it could be looked at.
class ForkEvents {
 public:
  /// Returns nothing where the kernel does not allow it: it takes CAP_NET_ADMIN and the first
  /// namespaces of processes and networks.
  static std::optional<ForkEvents> ask();

  /// Reads all reports that wait. `take` is not told of threads. False where some were lost.
  bool read(const std::function<void(int parent, int child)>& take);

 private:
  explicit ForkEvents(base::UniqueFd fd) : fd_(std::move(fd)) {}

  base::UniqueFd fd_;
};

}  // namespace sabath::probe
