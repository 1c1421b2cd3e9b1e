// parting FILE: ends at once on SIGTERM, but leaves a child in its group that takes 0.3 s to write
// FILE first.
#include <stdio.h>

#include <signal.h>
#include <unistd.h>

static volatile sig_atomic_t asked = 0;
static void on_signal(int number) {
  (void)number;
  asked = 1;
}

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  if (fork() != 0) {
    pause();  // SIGTERM ends it
    return 0;
  }
  signal(SIGTERM, on_signal);
  puts("ready");
  fflush(stdout);
  while (!asked)
    usleep(1000);
  usleep(300 * 1000);
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) return 1;
  fputs("saved", file);
  fclose(file);
  return 0;
}
