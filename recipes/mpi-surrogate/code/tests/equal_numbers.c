// equal_numbers TABLE RANK TOLERANCE ONE.h5 OTHER.h5: 0 where no number differs by more than the
// tolerance, relative to the largest of them.
#include "program.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

int main(int count, char** words) {
  MPI_Init(&count, &words);
  if (count != 6) fail(2, "five words are needed");
  struct table one = {.name = words[1], .rank = atoi(words[2])};
  struct table other = one;
  read_table(words[4], &one);
  read_table(words[5], &other);
  size_t total = 1;
  for (int i = 0; i < one.rank; ++i) {
    if (one.sizes[i] != other.sizes[i]) fail(1, "%s: other sizes", one.name);
    total *= (size_t)one.sizes[i];
  }
  double largest = 0;
  double difference = 0;
  for (size_t i = 0; i < total; ++i) {
    largest = fmax(largest, fabs(one.values[i]));
    difference = fmax(difference, fabs(one.values[i] - other.values[i]));
  }
  printf("%s: of %zu numbers up to %g none differs by more than %g\n",
         one.name,
         total,
         largest,
         difference);
  MPI_Finalize();
  return difference <= atof(words[3]) * largest ? 0 : 1;
}
