#pragma once

#include <sabath/base/unique_fd.hpp>

#include <thread>

namespace sabath::base {

/// A descriptor that becomes readable when a child of this process ends; the child is not reaped.
/// A pidfd where the kernel has it (Linux 5.3), else a thread that waits.
class EndWatch {
 public:
  explicit EndWatch(int pid);
  /// The child has ended by now, or is about to.
  ~EndWatch();
  EndWatch(const EndWatch&) = delete;
  EndWatch& operator=(const EndWatch&) = delete;

  int fd() const noexcept { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::thread waiter_;
};

}  // namespace sabath::base
