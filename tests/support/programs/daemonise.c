// daemonise PIDFILE: leaves a daemon behind (setsid, double fork) that keeps its output open, and
// ends as soon as the daemon has written its process id into PIDFILE.
#include <stdio.h>
#include <stdlib.h>

#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  int ready[2];
  if (pipe(ready) != 0) return 1;
  const pid_t middle = fork();
  if (middle > 0) {
    char byte;
    close(ready[1]);
    waitpid(middle, NULL, 0);
    return read(ready[0], &byte, 1) == 1 ? 0 : 1;
  }
  setsid();
  if (fork() != 0) _exit(0);
  FILE* file = fopen(argv[1], "w");
  if (file == NULL) return 1;
  fprintf(file, "%d\n", (int)getpid());
  fclose(file);
  if (write(ready[1], "x", 1) != 1) return 1;
  close(ready[1]);
  sleep(120);
  return 0;
}
