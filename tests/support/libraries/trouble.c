// A library that crashes, hangs or prints when it is asked for its version.
#include <stdio.h>
#include <stdlib.h>

#include <unistd.h>

char* openblas_get_config(void) {
#if defined(CRASHES)
  abort();
#elif defined(HANGS)
  for (;;)
    pause();
#else
  printf("sabath-version\tblas");
  return "OpenBLAS 9.9";
#endif
}
