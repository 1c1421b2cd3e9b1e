// Logs through sabath_log.h what its words ask for; C99 and C++11. log_test.py reads the lines.
#include <pthread.h>
#include <sabath_log.h>

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { threads = 64, lines_of_a_thread = 50 };

// Reads the bits of doubles, one hexadecimal number a line.
static int log_bits(void) {
  char line[64];
  int64_t step = 0;
  while (fgets(line, sizeof line, stdin) != NULL) {
    const uint64_t bits = strtoull(line, NULL, 16);
    double value;
    memcpy(&value, &bits, sizeof value);
    if (sabath_log("v", value, step++) != 0) return 1;
  }
  return 0;
}

static void* log_lines(void* argument) {
  const int64_t number = *(const int64_t*)argument;
  int64_t i;
  for (i = 0; i < lines_of_a_thread; ++i) {
    const sabath_log_value value = sabath_log_whole("v", number);
    sabath_log_values(&value, 1, i, number);
  }
  return NULL;
}

// Threads log while forked processes do.
static int log_at_once(void) {
  pthread_t started[threads];
  int64_t numbers[threads];
  int i;
  for (i = 0; i < threads; ++i) {
    numbers[i] = i;
    if (pthread_create(&started[i], NULL, log_lines, &numbers[i]) != 0) return 1;
  }
  for (i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) _exit(sabath_log("child", i, i));
    int status = 1;
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return 1;
  }
  for (i = 0; i < threads; ++i)
    pthread_join(started[i], NULL);
  return 0;
}

static int log_others(void) {
  const sabath_log_value values[] = {sabath_log_real("größe/\"a\\b\"", 0.1),
                                     sabath_log_whole("most", INT64_MAX),
                                     sabath_log_whole("least", INT64_MIN)};
  const int64_t ids[] = {3, -1, 2};
  const char* const names[] = {"a", "b\"c"};
  int problems = sabath_log_values(values, 3, 12, 1);
  problems += sabath_log("no_step", 1, SABATH_LOG_NONE);
  problems += sabath_log_seed("numpy", UINT64_MAX);
  problems += sabath_log_sample_ids(ids, 3, 0);
  problems += sabath_log_sample_names(names, 2, SABATH_LOG_NONE);
  problems += sabath_log_sample_order("sha256:00");
  return problems + sabath_log_values(values, 0, 1, 1);
}

// More than fits into one line, and one line may have.
static int log_much(void) {
  static int64_t ids[100000];
  static sabath_log_value values[1000];
  static char names[1000][16];
  int i;
  for (i = 0; i < 100000; ++i)
    ids[i] = i;
  for (i = 0; i < 1000; ++i) {
    snprintf(names[i], sizeof names[i], "name%d", i);
    values[i] = sabath_log_real(names[i], i);
  }
  return sabath_log_sample_ids(ids, 100000, 4) +
         sabath_log_values(values, 1000, 5, SABATH_LOG_NONE);
}

// Each wrong name is an EINVAL.
static int log_wrong(void) {
  char overlong[202];
  const char* const names[] = {
      "", "step", "sample_ids", "a\nb", "\177", "\xff", "\xc3", "\xed\xa0\x80", overlong};
  const char* const* name = names;
  memset(overlong, 'x', 201);
  overlong[201] = '\0';
  for (; name != names + sizeof names / sizeof names[0]; ++name) {
    if (sabath_log(*name, 1, 1) != EINVAL) return 1;
  }
  return sabath_log(NULL, 1, 1) == EINVAL && sabath_log_seed("", 1) == EINVAL &&
                 sabath_log_sample_names(names, 1, 1) == EINVAL &&
                 sabath_log_sample_order("") == EINVAL
             ? 0
             : 1;
}

// Prints what each of three calls returns, and that errno is kept.
static int log_returns(void) {
  int i;
  for (i = 0; i < 3; ++i) {
    errno = 7;
    printf("%d ", sabath_log("v", 1, i));
    if (errno != 7 && errno != EINVAL) return 1;
  }
  return printf("%d\n", sabath_log_is_in_run()) < 0;
}

// The second line is cut short by a limit of the file's size.
static int log_cut(void) {
  struct rlimit limit = {20, RLIM_INFINITY};
  int problem;
  if (signal(SIGXFSZ, SIG_IGN) == SIG_ERR || sabath_log("before", 1, SABATH_LOG_NONE) != 0)
    return 1;
  setrlimit(RLIMIT_FSIZE, &limit);
  problem = sabath_log("cut", 1, SABATH_LOG_NONE);
  limit.rlim_cur = RLIM_INFINITY;
  setrlimit(RLIMIT_FSIZE, &limit);
  return problem != ENOSPC || sabath_log("after", 1, SABATH_LOG_NONE) != 0;
}

int main(int count, char** words) {
  const char* word = count == 2 ? words[1] : "";
  if (strcmp(word, "bits") == 0) return log_bits();
  if (strcmp(word, "at-once") == 0) return log_at_once();
  if (strcmp(word, "others") == 0) return log_others();
  if (strcmp(word, "much") == 0) return log_much();
  if (strcmp(word, "wrong") == 0) return log_wrong();
  if (strcmp(word, "returns") == 0) return log_returns();
  if (strcmp(word, "cut") == 0) return log_cut();
  if (strcmp(word, "open") == 0) return sabath_log_open() == ENOENT ? 3 : sabath_log_open() != 0;
  return 2;
}
