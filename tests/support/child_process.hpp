#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace sabath::test {

/// Runs `body` in a forked copy of this process, which ends with what it returns. Returns the
/// status as of wait(2). Checks of Catch have no effect in there.
inline int status_in_child(const std::function<int()>& body) {
  const int pid = ::fork();
  if (pid == 0) {
    try {
      ::_exit(body());
    } catch (...) {
      ::_exit(99);
    }
  }
  int status = -1;
  ::waitpid(pid, &status, 0);
  return status;
}

/// The same as an ordinary user, for whom permissions count: as "nobody" where this is root.
inline int status_as_ordinary_user(const std::function<int()>& body) {
  return status_in_child([&] {
    constexpr unsigned nobody = 65534;
    if (::geteuid() == 0 &&
        (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0)) {
      return 98;
    }
    return body();
  });
}

}  // namespace sabath::test
