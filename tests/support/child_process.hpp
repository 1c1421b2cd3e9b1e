#pragma once

#include <functional>

#include <sys/wait.h>
#include <unistd.h>

namespace sabath::test {

/// Runs `body` in a forked copy of this process, which ends with what it returns. Checks of Catch
/// have no effect in there. Not beside other threads: what they have locked stays so in the copy.
inline int start_child(const std::function<int()>& body) {
  const int pid = ::fork();
  if (pid != 0) return pid;
  try {
    ::_exit(body());
  } catch (...) {
    ::_exit(99);
  }
}

/// The status as of wait(2).
inline int status_in_child(const std::function<int()>& body) {
  const int pid = start_child(body);
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
