// crash: dies by SIGSEGV, without a core file.
#include <signal.h>
#include <sys/resource.h>

int main(void) {
  const struct rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  raise(SIGSEGV);
  return 0;
}
