#pragma once

#include <stdio.h>

// Counts what does not hold, and says it. All ranks check the same numbers.
extern int failures;
#define CHECK(condition, ...)                                         \
  do {                                                                \
    if (!(condition)) {                                               \
      ++failures;                                                     \
      fprintf(stderr, "%s:%d: %s: ", __FILE__, __LINE__, #condition); \
      fprintf(stderr, __VA_ARGS__);                                   \
      fputc('\n', stderr);                                            \
    }                                                                 \
  } while (0)
