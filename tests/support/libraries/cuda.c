// The functions by which NVIDIA's and AMD's libraries tell their versions, as their headers declare
// them.
#include <stddef.h>

int cudaRuntimeGetVersion(int* version) {
  *version = 12040;
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 12080;
  return 0;
}
size_t cudnnGetVersion(void) {
  return 90100;
}
int ncclGetVersion(int* version) {
  *version = 21805;
  return 0;
}
int cublasGetProperty(int type, int* value) {
  const int parts[] = {12, 4, 5};
  if (type < 0 || type > 2) return 7;
  *value = parts[type];
  return 0;
}
int hipRuntimeGetVersion(int* version) {
  *version = 60342134;
  return 0;
}
