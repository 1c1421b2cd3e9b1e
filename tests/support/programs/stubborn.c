// stubborn: ignores SIGTERM, says so, and stays.
#include <stdio.h>

#include <signal.h>
#include <unistd.h>

int main(void) {
  signal(SIGTERM, SIG_IGN);
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}
