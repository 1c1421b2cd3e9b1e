#include <sabath/base/process/sandbox.hpp>

#include <catch2/catch.hpp>

#include <functional>

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;

namespace {

/// The exit status of a process in the sandbox that does this.
int status_of(const std::function<int()>& work) {
  const int parent = ::getpid();
  const int child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    if (!base::enter_sandbox(parent, std::uint64_t{512} << 20U)) ::_exit(99);
    ::_exit(work());
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

/// 0 where the call is refused.
int refused(long result) {
  return result < 0 ? 0 : 1;
}

}  // namespace

TEST_CASE("sandbox: neither network nor programs nor changes of files, where the kernel filters") {
  if (!base::is_sandbox_strict() || ::prctl(PR_GET_SECCOMP) < 0) {
    WARN("SKIPPED: this build has sanitizers, or this kernel no seccomp");
    return;
  }
  CHECK(status_of([] { return refused(::socket(AF_INET, SOCK_STREAM, 0)); }) == 0);
  CHECK(status_of([] { return refused(::socket(AF_UNIX, SOCK_STREAM, 0)); }) == 0);
  CHECK(status_of([] { return refused(::fork()); }) == 0);
  CHECK(status_of([] { return refused(::open("/dev/null", O_WRONLY)); }) == 0);
  CHECK(status_of([] { return refused(::open("/tmp", O_TMPFILE | O_RDWR, 0600)); }) == 0);
  CHECK(status_of(
            [] { return refused(::unlink("/no/such/file") < 0 && errno == EPERM ? -1 : 0); }) == 0);
  CHECK(status_of([] { return refused(::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr)); }) == 0);
  CHECK(status_of([] { return refused(::execl("/bin/true", "true", nullptr)); }) == 0);
  CHECK(status_of([] { return refused(::kill(::getppid(), 0)); }) == 0);
  CHECK(status_of([] { return ::open("/dev/null", O_RDONLY | O_CLOEXEC) < 0 ? 1 : 0; }) == 0);
}

TEST_CASE("sandbox: signals and limits reach no other process, where the kernel filters") {
  if (!base::is_sandbox_strict() || ::prctl(PR_GET_SECCOMP) < 0) {
    WARN("SKIPPED: this build has sanitizers, or this kernel no seccomp");
    return;
  }
  const auto signal_to = [](pid_t process, long thread) {
    return ::syscall(SYS_tgkill, process, thread, 0);
  };
  struct rlimit limit {};
  CHECK(status_of([&] { return refused(signal_to(::getppid(), ::getppid())); }) == 0);
  CHECK(status_of([&] { return refused(signal_to(-1, ::getppid())); }) == 0);
  CHECK(status_of([&] { return signal_to(::getpid(), ::syscall(SYS_gettid)) == 0 ? 0 : 1; }) == 0);
  CHECK(status_of([&] {
          return refused(::syscall(SYS_prlimit64, ::getppid(), RLIMIT_NOFILE, nullptr, &limit));
        }) == 0);
  CHECK(status_of([&] { return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : 1; }) == 0);
  // The owner of a descriptor is sent its signals.
  const auto own = [](int fd) { return ::fcntl(fd, F_SETOWN, ::getppid()); };
  CHECK(status_of([&] { return refused(own(::open("/dev/null", O_RDONLY))); }) == 0);
  CHECK(status_of([] {
          const int fd = ::open("/dev/null", O_RDONLY);
          struct f_owner_ex owner {};
          owner.type = F_OWNER_PID;
          owner.pid = ::getppid();
          return refused(::fcntl(fd, F_SETOWN_EX, &owner));
        }) == 0);
  CHECK(status_of([] { return ::fcntl(::open("/dev/null", O_RDONLY), F_GETFD) >= 0 ? 0 : 1; }) ==
        0);
}

TEST_CASE("sandbox: memory has a limit") {
  if (!base::is_sandbox_strict()) {
    WARN("SKIPPED: this build has sanitizers");
    return;
  }
  const auto take = [](std::size_t mib) {
    return ::mmap(
               nullptr, mib << 20U, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
           MAP_FAILED;
  };
  CHECK(status_of([&] { return take(16) ? 1 : 0; }) == 0);
  CHECK(status_of([&] { return take(600) ? 0 : 1; }) == 0);
}

TEST_CASE("sandbox: no core, no further descriptors, and only for a child") {
  const int inherited = ::open("/dev/null", O_RDONLY);
  CHECK(status_of([&] { return refused(::fcntl(inherited, F_GETFD)); }) == 0);
  ::close(inherited);
  CHECK(status_of([] {
          struct rlimit limit {};
          const bool is_none = ::getrlimit(RLIMIT_CORE, &limit) == 0 && limit.rlim_max == 0;
          return is_none ? 0 : 1;
        }) == 0);
  const int child = ::fork();
  if (child == 0) ::_exit(base::enter_sandbox(1, 1U << 30U) && ::getppid() != 1 ? 1 : 0);
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WEXITSTATUS(status) == 0);
}
