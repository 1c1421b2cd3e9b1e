// A library that answers as OpenBLAS does. NAME(x) is x with the prefix and suffix of a build.
#include <stdlib.h>
#include <string.h>

#define JOIN2(a, b, c) a##b##c
#define JOIN(a, b, c) JOIN2(a, b, c)
#define NAME(name) JOIN(PREFIX, name, SUFFIX)

char* NAME(openblas_get_config)(void) {
  return "OpenBLAS " VERSION " NO_LAPACKE DYNAMIC_ARCH NO_AFFINITY Haswell MAX_THREADS=64";
}

/// As the real one: the variable decides, else the processor.
char* NAME(openblas_get_corename)(void) {
  const char* chosen = getenv("OPENBLAS_CORETYPE");
  return chosen != NULL ? (char*)chosen : "Haswell";
}

int NAME(openblas_get_num_threads)(void) {
  const char* chosen = getenv("OPENBLAS_NUM_THREADS");
  return chosen != NULL ? atoi(chosen) : 4;
}

/// What programs use it for: the order of summation is the version's.
double NAME(sum_of)(const double* values, int count) {
  double sum = 0;
  for (int i = 0; i < count; ++i)
    sum += values[VERSION[strlen(VERSION) - 1] % 2 == 0 ? i : count - 1 - i];
  return sum;
}
