#include <sabath/base/process/sandbox.hpp>

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <iterator>

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#  define SABATH_IS_SANITIZED 1
#endif

namespace sabath::base {
namespace {

void close_other_descriptors() noexcept {
#ifdef SYS_close_range
  if (::syscall(SYS_close_range, sandbox_memory + 1, ~0U, 0) == 0) return;
#endif
  struct rlimit limit {};
  const bool is_known = ::getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 65536;
  const int end = is_known ? static_cast<int>(limit.rlim_cur) : 65536;
  for (int fd = sandbox_memory + 1; fd < end; ++fd)
    ::close(fd);
}

void set_limit(int resource, rlim_t most) noexcept {
  struct rlimit limit {};
  if (::getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return;
  if (limit.rlim_max != RLIM_INFINITY && limit.rlim_max < most) most = limit.rlim_max;
  limit.rlim_cur = limit.rlim_max = most;
  ::setrlimit(static_cast<__rlimit_resource_t>(resource), &limit);
}

/// Where memory runs out, the kernel ends this process first.
void offer_to_die_first() noexcept {
  const UniqueFd file(::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC));
  if (file) static_cast<void>(::write(file.get(), "1000", 4) == 4);
}

#if defined(__x86_64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr std::uint32_t architecture = AUDIT_ARCH_AARCH64;
#elif defined(__powerpc64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
constexpr std::uint32_t architecture = AUDIT_ARCH_PPC64LE;
#elif defined(__riscv) && __riscv_xlen == 64
constexpr std::uint32_t architecture = AUDIT_ARCH_RISCV64;
#else
constexpr std::uint32_t architecture = 0;
#endif

/// What HDF5, its filters and the C library ask for as they read files. Anything else fails with
/// EPERM: sockets, programs, processes, other processes' memory, every change of a file.
constexpr int allowed[] = {
#ifdef SYS_open
    SYS_access,
    SYS_getdents,
    SYS_lstat,
    SYS_poll,
    SYS_readlink,
    SYS_stat,
    SYS_time,
#endif
#ifdef SYS_arch_prctl
    SYS_arch_prctl,
#endif
    SYS_brk,
    SYS_clock_getres,
    SYS_clock_gettime,
    SYS_clock_nanosleep,
    SYS_close,
    SYS_dup,
    SYS_exit,
    SYS_exit_group,
    SYS_faccessat,
    SYS_fstat,
    SYS_fstatfs,
    SYS_futex,
    SYS_getcwd,
    SYS_getdents64,
    SYS_getegid,
    SYS_geteuid,
    SYS_getgid,
    SYS_getpid,
    SYS_getppid,
    SYS_getrandom,
    SYS_getrusage,
    SYS_gettid,
    SYS_gettimeofday,
    SYS_getuid,
    SYS_lseek,
    SYS_madvise,
    SYS_mmap,
    SYS_mprotect,
    SYS_mremap,
    SYS_munmap,
    SYS_nanosleep,
    SYS_newfstatat,
    SYS_ppoll,
    SYS_pread64,
    SYS_preadv,
    SYS_read,
    SYS_readlinkat,
    SYS_readv,
    SYS_recvfrom,
    SYS_recvmsg,
    SYS_restart_syscall,
    SYS_rt_sigaction,
    SYS_rt_sigprocmask,
    SYS_rt_sigreturn,
    SYS_sched_getaffinity,
    SYS_sched_yield,
    SYS_sendmsg,
    SYS_sendto,
    SYS_set_robust_list,
    SYS_set_tid_address,
    SYS_sigaltstack,
    SYS_statfs,
    SYS_statx,
    SYS_sysinfo,
    SYS_times,
    SYS_uname,
    SYS_write,
    SYS_writev,
#ifdef SYS_rseq
    SYS_rseq,
#endif
#ifdef SYS_faccessat2
    SYS_faccessat2,
#endif
};

constexpr std::uint32_t writing = O_WRONLY | O_RDWR | O_CREAT | O_TRUNC | O_APPEND;

constexpr sock_filter load(std::size_t offset) {
  return BPF_STMT(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset));
}

constexpr std::uint32_t result(std::uint32_t action, int code = 0) {
  return action | (static_cast<std::uint32_t>(code) & SECCOMP_RET_DATA);
}

constexpr sock_filter give(std::uint32_t value) {
  return BPF_STMT(BPF_RET | BPF_K, value);
}

/// Low half of an argument; flags have no more.
constexpr std::size_t argument(std::size_t index) {
  return offsetof(struct seccomp_data, args) + 8 * index;
}

/// A growing program of the kernel's packet filter.
class Filter {
 public:
  void add(sock_filter instruction) noexcept { code_[size_++] = instruction; }
  /// `instructions` follow, for this call alone, and end with a result.
  void only_for(int call, std::uint8_t instructions) noexcept {
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call), 0, instructions));
  }
  void allow(int call) noexcept {
    only_for(call, 1);
    add(give(SECCOMP_RET_ALLOW));
  }
  void fail(int call, int code) noexcept {
    only_for(call, 1);
    add(give(result(SECCOMP_RET_ERRNO, code)));
  }
  /// Where the argument has one of `bits` the call fails, else it is allowed; or the other way.
  void decide_by(int call, std::size_t index, std::uint32_t bits, bool allowed_with) noexcept {
    only_for(call, 4);
    add(load(argument(index)));
    add(BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K,
                 bits,
                 static_cast<std::uint8_t>(allowed_with ? 1 : 0),
                 static_cast<std::uint8_t>(allowed_with ? 0 : 1)));
    add(give(result(SECCOMP_RET_ERRNO, EPERM)));
    add(give(SECCOMP_RET_ALLOW));
  }
  /// Allowed where the low half of the argument is `value`. A process id has no more.
  void allow_with(int call, std::size_t index, std::uint32_t value) noexcept {
    only_for(call, 4);
    add(load(argument(index)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0));
    add(give(result(SECCOMP_RET_ERRNO, EPERM)));
    add(give(SECCOMP_RET_ALLOW));
  }
  /// Allowed but where the low half of the argument is one of two values.
  void allow_without(int call, std::size_t index, std::uint32_t a, std::uint32_t b) noexcept {
    only_for(call, 5);
    add(load(argument(index)));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, a, 2, 0));
    add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, b, 1, 0));
    add(give(SECCOMP_RET_ALLOW));
    add(give(result(SECCOMP_RET_ERRNO, EPERM)));
  }
  bool install() noexcept {
    sock_fprog program{static_cast<unsigned short>(size_), code_.data()};
    return ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  std::array<sock_filter, 2 * std::size(allowed) + 64> code_{};
  std::size_t size_ = 0;
};

[[maybe_unused]] void filter_system_calls() noexcept {
  if (architecture == 0 || ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return;
  Filter filter;
  filter.add(load(offsetof(struct seccomp_data, arch)));
  filter.add(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, architecture, 1, 0));
  filter.add(give(SECCOMP_RET_KILL));
  filter.add(load(offsetof(struct seccomp_data, nr)));
#ifdef SYS_open
  filter.decide_by(SYS_open, 1, writing, false);
#endif
  filter.decide_by(SYS_openat, 2, writing, false);
  filter.decide_by(SYS_clone, 0, CLONE_THREAD, true);  // a filter may use threads
#ifdef SYS_clone3
  filter.fail(SYS_clone3, ENOSYS);  // its flags lie in memory; the C library asks for clone then
#endif
  // What could end, or limit, another process of this user names that process.
  filter.allow_with(SYS_tgkill, 0, static_cast<std::uint32_t>(::getpid()));
  filter.allow_with(SYS_prlimit64, 0, 0);
  filter.allow_without(SYS_fcntl, 1, F_SETOWN, F_SETOWN_EX);
  for (const int call : allowed)
    filter.allow(call);
  filter.add(give(result(SECCOMP_RET_ERRNO, EPERM)));
  static_cast<void>(filter.install());
}

}  // namespace

bool is_sandbox_strict() noexcept {
#ifdef SABATH_IS_SANITIZED
  return false;
#else
  return true;
#endif
}

bool enter_sandbox(int parent, [[maybe_unused]] std::uint64_t memory_bytes) noexcept {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) return false;
  close_other_descriptors();
  offer_to_die_first();
  ::prctl(PR_SET_DUMPABLE, 0);
  set_limit(RLIMIT_CORE, 0);
  set_limit(RLIMIT_FSIZE, 0);
#ifndef SABATH_IS_SANITIZED  // sanitizers reserve terabytes, and make calls of their own
  set_limit(RLIMIT_AS, memory_bytes);
  filter_system_calls();
#endif
  return true;
}

}  // namespace sabath::base
