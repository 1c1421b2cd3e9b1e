// introspect: prints what it was given: descriptors, group, session, signals, folder, arguments.
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <unistd.h>

static void print_descriptors(void) {
  DIR* folder = opendir("/proc/self/fd");
  if (folder == NULL) return;
  printf("descriptors:");
  for (const struct dirent* entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
    const int fd = atoi(entry->d_name);
    if (entry->d_name[0] != '.' && fd != dirfd(folder)) printf(" %d", fd);
  }
  printf("\n");
  closedir(folder);
}

static void print_signals(void) {
  char line[256];
  FILE* file = fopen("/proc/self/status", "r");
  if (file == NULL) return;
  while (fgets(line, sizeof line, file) != NULL) {
    if (strncmp(line, "SigBlk:", 7) == 0 || strncmp(line, "SigIgn:", 7) == 0) fputs(line, stdout);
  }
  fclose(file);
}

int main(int argc, char** argv) {
  char path[PATH_MAX] = "";
  print_descriptors();
  print_signals();
  if (readlink("/proc/self/fd/0", path, sizeof path - 1) > 0) printf("stdin: %s\n", path);
  printf("pid: %d\n", (int)getpid());
  printf("group: %d\n", (int)getpgrp());
  printf("session: %d\n", (int)getsid(0));
  printf("folder: %s\n", getcwd(path, sizeof path) != NULL ? path : "?");
  for (int i = 1; i < argc; ++i)
    printf("argument: [%s]\n", argv[i]);
  return 0;
}
