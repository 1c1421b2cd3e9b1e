// old_kernel COMMAND ARGUMENTS...: runs a command for which the system calls that are younger than
// the oldest kernel we mean to work on do not exist (ENOSYS), so that what stands in for them is
// tested too. Ends with status 77, "skipped", where no filter may be installed.
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>

#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DENY(number)                                   \
  BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)

int main(int argc, char** argv) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      DENY(SYS_pidfd_open),
      DENY(SYS_close_range),
      DENY(SYS_renameat2),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
  if (argc < 2) return 2;
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
      prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
    perror("old_kernel: no system call filter here");
    return 77;
  }
  execv(argv[1], argv + 1);
  perror(argv[1]);
  return 127;
}
