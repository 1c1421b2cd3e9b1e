/* sabath_log.h: metrics, seeds and sample order of a run of sabath, from C99 and C++11.
 *
 *   #include <sabath_log.h>
 *
 *   sabath_log("loss", loss, step);
 *
 * Each call appends a line to the file of $SABATH_METRICS with one write(2). Outside of a run
 * nothing is written. Threads and forked processes may log at once, and what was logged outlives
 * the process. There is no library to link. Calls return 0, or a number of errno. The first failure
 * is reported on stderr; a full disk does not end the program. Needs POSIX, and GCC, Clang or a
 * compiler with their
 * __atomic builtins. The names that end in _ are not for use outside of this file.
 */
#ifndef SABATH_LOG_H
#define SABATH_LOG_H

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <fcntl.h>
#include <unistd.h>

/* Instead of a step or an epoch: there is none. */
#define SABATH_LOG_NONE INT64_MIN

/* A metric with its value. sabath_log_real and sabath_log_whole make it. */
typedef struct sabath_log_value {
  const char* name; /* UTF-8 without control characters, at most 200 bytes */
  double real;
  int64_t whole;
  int is_whole;
} sabath_log_value;

/* Appends here; longer reports are several lines, which mean the same. */
typedef struct sabath_log_line_ {
  char text[8192];
  size_t size;
} sabath_log_line_;

/* Longest member of a line: a name of 200 escaped bytes and a number. */
#define SABATH_LOG_MEMBER_ 512
#define SABATH_LOG_NAME_ 200

/* ---- numbers ---- */

static inline uint64_t sabath_log_bits_(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

/* Splits a finite number into its shortest digits and the power of ten of the first one.
 * Comparisons are those of bits, which no option of a compiler changes. The locale's point is
 * skipped. */
static inline int sabath_log_digits_(double value, char* digits, int* power) {
  const int is_subnormal = ((sabath_log_bits_(value) >> 52) & 2047) == 0;
  char text[48];
  int precision = is_subnormal ? 0 : 14;
  int count = 0;
  const char* at = text;
  for (;; ++precision) {
    snprintf(text, sizeof text, "%.*e", precision, value);
    if (precision >= 16 || sabath_log_bits_(strtod(text, NULL)) == sabath_log_bits_(value)) break;
  }
  for (; *at != '\0' && *at != 'e'; ++at) {
    if (*at >= '0' && *at <= '9') digits[count++] = *at;
  }
  *power = *at == 'e' ? (int)strtol(at + 1, NULL, 10) : 0;
  while (count > 1 && digits[count - 1] == '0')
    --count;
  digits[count] = '\0';
  return count;
}

/* Writes a number as JSON that reads back with the same bits, as Python does: 0.1, 1e-07, -0.0.
 * Returns the number of bytes. */
static inline int sabath_log_number_(char* text, size_t size, double value) {
  const uint64_t bits = sabath_log_bits_(value);
  const char* sign = bits >> 63 ? "-" : "";
  char digits[48];
  int power = 0;
  int count;
  if (((bits >> 52) & 2047) == 2047) {
    if (bits << 12) return snprintf(text, size, "\"NaN\"");
    return snprintf(text, size, "\"%sInfinity\"", sign);
  }
  count = sabath_log_digits_(value, digits, &power);
  if (power < -4 || power > 15) {
    const char* point = count > 1 ? "." : "";
    return snprintf(text, size, "%s%c%s%se%+03d", sign, digits[0], point, digits + 1, power);
  }
  if (power < 0) return snprintf(text, size, "%s0.%.*s%s", sign, -power - 1, "000", digits);
  if (count > power + 1) {
    return snprintf(text, size, "%s%.*s.%s", sign, power + 1, digits, digits + power + 1);
  }
  return snprintf(text, size, "%s%s%.*s.0", sign, digits, power + 1 - count, "000000000000000");
}

/* ---- names ---- */

/* Length of the UTF-8 character at `text`; 0 where there is none. */
static inline size_t sabath_log_character_(const unsigned char* text) {
  const unsigned char first = text[0];
  const size_t length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  size_t i;
  if ((first >= 0x80 && first < 0xc2) || first > 0xf4) return 0;
  for (i = 1; i < length; ++i) {
    if ((text[i] & 0xc0) != 0x80) return 0;
  }
  if ((first == 0xe0 && text[1] < 0xa0) || (first == 0xed && text[1] > 0x9f)) return 0;
  if ((first == 0xf0 && text[1] < 0x90) || (first == 0xf4 && text[1] > 0x8f)) return 0;
  return length;
}

/* Is `name` what sabath reads as a name? */
static inline int sabath_log_is_name_(const char* name) {
  size_t size = 0;
  if (name == NULL || *name == '\0') return 0;
  while (name[size] != '\0') {
    const unsigned char* at = (const unsigned char*)name + size;
    const size_t length = *at < 0x20 || *at == 0x7f ? 0 : sabath_log_character_(at);
    if (length == 0 || size + length > SABATH_LOG_NAME_) return 0;
    size += length;
  }
  return 1;
}

/* Is `name` the name of a metric, and not that of another member of a line? */
static inline int sabath_log_is_metric_(const char* name) {
  static const char* const others[] = {
      "step", "epoch", "time", "seeds", "sample_ids", "sample_order"};
  size_t i;
  for (i = 0; i < sizeof others / sizeof others[0]; ++i) {
    if (name != NULL && strcmp(name, others[i]) == 0) return 0;
  }
  return sabath_log_is_name_(name);
}

/* ---- lines ---- */

static inline void sabath_log_add_(sabath_log_line_* line, const char* text) {
  const size_t size = strlen(text);
  memcpy(line->text + line->size, text, size);
  line->size += size;
}

/* Appends a name that was checked, in quotes. */
static inline void sabath_log_add_name_(sabath_log_line_* line, const char* name) {
  line->text[line->size++] = '"';
  for (; *name != '\0'; ++name) {
    if (*name == '"' || *name == '\\') line->text[line->size++] = '\\';
    line->text[line->size++] = *name;
  }
  line->text[line->size++] = '"';
}

/* Begins a member of an object. */
static inline void sabath_log_key_(sabath_log_line_* line, const char* name) {
  sabath_log_add_(line, line->size > 1 ? ", " : "");
  sabath_log_add_name_(line, name);
  sabath_log_add_(line, ": ");
}

static inline void sabath_log_add_whole_(sabath_log_line_* line, int64_t value) {
  char text[32];
  snprintf(text, sizeof text, "%" PRId64, value);
  sabath_log_add_(line, text);
}

static inline void sabath_log_begin_(sabath_log_line_* line, int64_t step, int64_t epoch) {
  line->size = 0;
  sabath_log_add_(line, "{");
  if (step != SABATH_LOG_NONE) {
    sabath_log_key_(line, "step");
    sabath_log_add_whole_(line, step);
  }
  if (epoch != SABATH_LOG_NONE) {
    sabath_log_key_(line, "epoch");
    sabath_log_add_whole_(line, epoch);
  }
}

/* Writes a message for people, once in a process. Returns `problem`. */
static inline int sabath_log_complain_(const char* place, const char* what, int problem) {
  static int is_reported;
  if (!__atomic_exchange_n(&is_reported, 1, __ATOMIC_RELAXED)) {
    fprintf(
        stderr, "sabath_log: %s: %s: %s; this is reported once\n", place, what, strerror(problem));
  }
  return problem;
}

/* The rank of this process where a launcher started several, else NULL. `sabath` sets $SABATH_RANK
 * where $SABATH_METRICS is already the file of the rank. */
static inline const char* sabath_log_rank_(void) {
  static const char* const names[][2] = {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                         {"PMI_RANK", "PMI_SIZE"},
                                         {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"}};
  size_t i;
  if (getenv("SABATH_RANK") != NULL) return NULL;
  for (i = 0; i < sizeof names / sizeof names[0]; ++i) {
    const char* rank = getenv(names[i][0]);
    const char* count = getenv(names[i][1]);
    if (rank == NULL || count == NULL || strcmp(count, "1") == 0) continue;
    return *rank != '\0' && strspn(rank, "0123456789") == strlen(rank) ? rank : NULL;
  }
  return NULL;
}

/* Writes the path of this process's file, "" outside of a run. Returns 0 or ENAMETOOLONG. */
static inline int sabath_log_path_(char* path, size_t size) {
  const char* own = getenv("SABATH_METRICS");
  const char* folder = getenv("SABATH_METRICS_DIR");
  const char* rank = NULL;
  int length = 0;
  *path = '\0';
  if (own == NULL || *own == '\0') return 0;
  if (folder != NULL && *folder != '\0') rank = sabath_log_rank_();
  length = rank == NULL ? snprintf(path, size, "%s", own)
                        : snprintf(path, size, "%s/metrics-%s.jsonl", folder, rank);
  return length < 0 || (size_t)length >= size ? ENAMETOOLONG : 0;
}

/* Opens the file for appending, once in a process; a forked one opens its own. The word has the
 * process in its upper half, and is exchanged as a whole: there is no lock that a fork could leave
 * behind. Returns -1 outside of a run, and where it fails, with *problem. */
static inline int sabath_log_open_(int* problem) {
  static int64_t opened;
  const int64_t process = (int64_t)getpid() * ((int64_t)1 << 32);
  int64_t known = __atomic_load_n(&opened, __ATOMIC_ACQUIRE);
  char path[4096];
  int file;
  *problem = 0;
  if ((known & ~(int64_t)0xffffffff) == process) return (int)(known & 0xffffffff);
  *problem = sabath_log_path_(path, sizeof path);
  if (*problem != 0) sabath_log_complain_("$SABATH_METRICS", "cannot be written", *problem);
  if (*problem != 0 || *path == '\0') return -1;
  file = open(path, O_WRONLY | O_APPEND | O_CREAT, 0644);
  if (file < 0) {
    *problem = sabath_log_complain_(path, "cannot be written", errno);
    return -1;
  }
  fcntl(file, F_SETFD, FD_CLOEXEC);
  if (__atomic_compare_exchange_n(
          &opened, &known, process | file, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
    return file;
  }
  close(file);
  return (int)(known & 0xffffffff);
}

/* Writes all bytes at once. Returns 0 or a number of errno. A disk that fills up takes part of a
 * line: it is ended before the next one, so that this is read. */
static inline int sabath_log_write_(int file, const char* text, size_t size) {
  static int is_cut;
  ssize_t written;
  if (__atomic_load_n(&is_cut, __ATOMIC_RELAXED)) {
    if (write(file, "\n", 1) != 1) return ENOSPC;
    __atomic_store_n(&is_cut, 0, __ATOMIC_RELAXED);
  }
  do {
    written = write(file, text, size);
  } while (written < 0 && errno == EINTR);
  if (written < 0) return errno;
  if ((size_t)written == size) return 0;
  __atomic_store_n(&is_cut, 1, __ATOMIC_RELAXED);
  return ENOSPC;
}

/* Ends the line and writes it. */
static inline int sabath_log_end_(sabath_log_line_* line, const char* end) {
  const int kept = errno;
  int problem = 0;
  const int file = sabath_log_open_(&problem);
  if (file >= 0) {
    sabath_log_add_(line, end);
    problem = sabath_log_write_(file, line->text, line->size);
    if (problem != 0) {
      sabath_log_complain_("$SABATH_METRICS", "a line of metrics is lost", problem);
    }
  }
  errno = kept;
  return problem;
}

/* ---- what programs call ---- */

/* Does this process belong to a run that records metrics? */
static inline int sabath_log_is_in_run(void) {
  const char* path = getenv("SABATH_METRICS");
  return path != NULL && *path != '\0';
}

/* Opens the file, for a code that would rather fail at its start. Returns 0, also outside of a run,
 * or a number of errno. */
static inline int sabath_log_open(void) {
  int problem = 0;
  sabath_log_open_(&problem);
  return problem;
}

/* Returns a metric with a real value; NaN and infinities are values, too. */
static inline sabath_log_value sabath_log_real(const char* name, double value) {
  sabath_log_value result;
  result.name = name;
  result.real = value;
  result.whole = 0;
  result.is_whole = 0;
  return result;
}

/* Returns a metric with a whole value, of which no digit is lost. */
static inline sabath_log_value sabath_log_whole(const char* name, int64_t value) {
  sabath_log_value result = sabath_log_real(name, 0);
  result.whole = value;
  result.is_whole = 1;
  return result;
}

/* Records values of one step and epoch, either of which may be SABATH_LOG_NONE. Returns 0; EINVAL
 * for a wrong name, and records nothing then; another number of errno where the file cannot be
 * written. */
static inline int sabath_log_values(const sabath_log_value* values,
                                    size_t count,
                                    int64_t step,
                                    int64_t epoch) {
  sabath_log_line_ line;
  size_t i;
  int problem = 0;
  if (count == 0 || !sabath_log_is_in_run()) return 0;
  for (i = 0; i < count; ++i) {
    if (!sabath_log_is_metric_(values[i].name)) {
      return sabath_log_complain_("name of a metric", "nothing is recorded", EINVAL);
    }
  }
  sabath_log_begin_(&line, step, epoch);
  for (i = 0; i < count && problem == 0; ++i) {
    if (line.size + SABATH_LOG_MEMBER_ > sizeof line.text) {
      problem = sabath_log_end_(&line, "}\n");
      sabath_log_begin_(&line, step, epoch);
    }
    sabath_log_key_(&line, values[i].name);
    if (values[i].is_whole) {
      sabath_log_add_whole_(&line, values[i].whole);
    } else {
      char text[64];
      sabath_log_number_(text, sizeof text, values[i].real);
      sabath_log_add_(&line, text);
    }
  }
  return problem != 0 ? problem : sabath_log_end_(&line, "}\n");
}

/* Records one value of a step, which may be SABATH_LOG_NONE. Returns as sabath_log_values. */
static inline int sabath_log(const char* name, double value, int64_t step) {
  const sabath_log_value one = sabath_log_real(name, value);
  return sabath_log_values(&one, 1, step, SABATH_LOG_NONE);
}

/* Reports the seed that a part of the code uses, such as "shuffle". Seeds are recorded and
 * compared. */
static inline int sabath_log_seed(const char* part, uint64_t seed) {
  sabath_log_line_ line;
  char text[32];
  if (!sabath_log_is_in_run()) return 0;
  if (!sabath_log_is_name_(part)) {
    return sabath_log_complain_("name of a seed", "nothing is recorded", EINVAL);
  }
  line.size = 0;
  sabath_log_add_(&line, "{\"seeds\": {");
  sabath_log_add_name_(&line, part);
  snprintf(text, sizeof text, ": %" PRIu64, seed);
  sabath_log_add_(&line, text);
  return sabath_log_end_(&line, "}}\n");
}

/* The ids of samples: whole numbers, or names where those are given. */
static inline int sabath_log_ids_(const int64_t* ids,
                                  const char* const* names,
                                  size_t count,
                                  int64_t epoch) {
  sabath_log_line_ line;
  size_t i;
  int problem = 0;
  int is_first = 1;
  sabath_log_begin_(&line, SABATH_LOG_NONE, epoch);
  sabath_log_key_(&line, "sample_ids");
  sabath_log_add_(&line, "[");
  for (i = 0; i < count && problem == 0; ++i) {
    if (line.size + SABATH_LOG_MEMBER_ > sizeof line.text) {
      problem = sabath_log_end_(&line, "]}\n");
      sabath_log_begin_(&line, SABATH_LOG_NONE, epoch);
      sabath_log_key_(&line, "sample_ids");
      sabath_log_add_(&line, "[");
      is_first = 1;
    }
    if (!is_first) sabath_log_add_(&line, ", ");
    is_first = 0;
    if (names != NULL) {
      sabath_log_add_name_(&line, names[i]);
    } else {
      sabath_log_add_whole_(&line, ids[i]);
    }
  }
  return problem != 0 ? problem : sabath_log_end_(&line, "]}\n");
}

/* Reports samples in the order in which they are taken. The digest of all is compared. */
static inline int sabath_log_sample_ids(const int64_t* ids, size_t count, int64_t epoch) {
  if (count == 0 || !sabath_log_is_in_run()) return 0;
  return sabath_log_ids_(ids, NULL, count, epoch);
}

/* The same for samples that have names. Returns EINVAL for a wrong name. */
static inline int sabath_log_sample_names(const char* const* names, size_t count, int64_t epoch) {
  size_t i;
  if (count == 0 || !sabath_log_is_in_run()) return 0;
  for (i = 0; i < count; ++i) {
    if (!sabath_log_is_name_(names[i])) {
      return sabath_log_complain_("name of a sample", "nothing is recorded", EINVAL);
    }
  }
  return sabath_log_ids_(NULL, names, count, epoch);
}

/* Reports a digest of the order that the code has computed itself. */
static inline int sabath_log_sample_order(const char* digest) {
  sabath_log_line_ line;
  if (!sabath_log_is_in_run()) return 0;
  if (!sabath_log_is_name_(digest)) {
    return sabath_log_complain_("order of samples", "nothing is recorded", EINVAL);
  }
  sabath_log_begin_(&line, SABATH_LOG_NONE, SABATH_LOG_NONE);
  sabath_log_key_(&line, "sample_order");
  sabath_log_add_name_(&line, digest);
  return sabath_log_end_(&line, "}\n");
}

#endif
