#pragma once

#include "sabath_log.h"

#include <stdio.h>

// What the two programs share: words of the command line, HDF5 files, metrics, and how to fail.
// Only rank 0 reads, writes and reports.

// Says "PROGRAM: MESSAGE" and ends all ranks with `status`: 2 for wrong words, else 1.
_Noreturn void fail(int status, const char* format, ...) __attribute__((format(printf, 2, 3)));

// An option of a command line: `--name VALUE` into exactly one of the targets.
struct option_word {
  const char* name;
  const char** text;
  int* whole;    // from `least` to `most`
  double* real;  // positive
  long least, most;
  const char* help;
};

// Fails for words that it does not know, and for texts that are still null. Prints the options and
// returns 0 for --help.
int read_options(const char* program, int count, char** words, const struct option_word* options);

// An array of a file; the last dimension is the fastest.
struct table {
  const char* name;
  int rank;
  int sizes[3];
  double* values;
};

// Writes all of `tables` (up to a null name) under a temporary name first.
void write_tables(const char* path, const struct table* tables);
// Fills in sizes and values, which are the caller's to free. Fails for what is not finite.
void read_table(const char* path, struct table* table);

// Both fail where the file of $SABATH_METRICS cannot be written; the second one appends a line.
void open_metrics(void);
void report_metrics(const sabath_log_value* values, size_t count, int64_t step, int64_t epoch);

void* allocate(size_t count, size_t size);
