#pragma once

#include <stdbool.h>

// The solver of stirring.f90, which says what it solves and how.
struct stirring_case {
  double strength, wind_x, wind_y, diffusivity, phase;
};

enum { stirring_inputs = 5 };

// What cases may be: the step in time is made for these. Wind is of either sign.
#define STIRRING_MOST_STRENGTH 1.0
#define STIRRING_MOST_WIND 0.5
#define STIRRING_MOST_DIFFUSIVITY 5e-3

// All ranks of MPI_COMM_WORLD call it together. `drift` and `ratio` have room for `count` numbers;
// `fields` for count * cells * cells on rank 0 where `wants_fields`. Returns 1 where a rank would
// have fewer than two cells in a direction, else 0.
int stirring_advance(int cells,
                     double time,
                     int steps,
                     int count,
                     const struct stirring_case* cases,
                     double* drift,
                     double* ratio,
                     bool wants_fields,
                     double* fields);

// As many steps as a stable run to `time` needs.
int stirring_steps(int cells, double time);
