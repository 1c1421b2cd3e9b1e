#include "end_watch.hpp"

#include <sabath/base/error.hpp>

#include <cerrno>

#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace sabath::base {

EndWatch::EndWatch(int pid) {
#ifdef SYS_pidfd_open
  fd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (fd_) return;
#endif
  fd_.reset(::eventfd(0, EFD_CLOEXEC));
  if (!fd_) throw_errno("process " + std::to_string(pid), "cannot watch", errno);
  waiter_ = std::thread([pid, fd = fd_.get()] {
    siginfo_t info{};
    while (::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOWAIT) != 0 &&
           errno == EINTR) {
    }
    ::eventfd_write(fd, 1);
  });
}

EndWatch::~EndWatch() {
  if (waiter_.joinable()) waiter_.join();
}

}  // namespace sabath::base
