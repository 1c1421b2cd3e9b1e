// The solver on as many ranks as mpirun gives: what it keeps, and how fast its error falls.
#include "cases.h"
#include "check.h"
#include "program.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

int failures = 0;
static const double pi = 3.14159265358979323846;

static void say(const char* format, double value) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) printf(format, value);
}

struct outcome {
  double drift, ratio;
  double* field;
};

static struct outcome solve(int cells, double time, struct stirring_case one) {
  struct outcome outcome = {.field = allocate((size_t)cells * (size_t)cells, sizeof(double))};
  const int status = stirring_advance(cells,
                                      time,
                                      stirring_steps(cells, time),
                                      1,
                                      &one,
                                      &outcome.drift,
                                      &outcome.ratio,
                                      true,
                                      outcome.field);
  CHECK(status == 0, "%d cells", cells);
  MPI_Bcast(outcome.field, cells * cells, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  return outcome;
}

static void mass_is_kept(void) {
  for (int i = 0; i < 4; ++i) {
    const struct outcome outcome = solve(32, 1, stirring_case_number(i));
    CHECK(fabs(outcome.drift) < 1e-13, "case %d drifts by %g", i, outcome.drift);
    CHECK(outcome.ratio > 0 && outcome.ratio < 1, "case %d: ratio %g", i, outcome.ratio);
    free(outcome.field);
  }
}

// A wave that only a wind carries decays as exp(-8 pi^2 D t).
static double error_of_wave(int cells) {
  const struct stirring_case one = {
      .wind_x = 0.4, .wind_y = -0.3, .diffusivity = 2e-3, .phase = 0.1};
  const double time = 0.5;
  const struct outcome outcome = solve(cells, time, one);
  const double width = 1.0 / cells;
  const double mean_of_wave = pow(sin(pi * width) / (pi * width), 2);
  double sum = 0;
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const double x = (i + 0.5) * width - one.wind_x * time - one.phase;
      const double y = (j + 0.5) * width - one.wind_y * time;
      const double exact = 1 + mean_of_wave * exp(-8 * pi * pi * one.diffusivity * time) *
                                   cos(2 * pi * x) * cos(2 * pi * y);
      sum += pow(outcome.field[j * cells + i] - exact, 2);
    }
  }
  free(outcome.field);
  return sqrt(sum) / cells;
}

static void order_is_four_in_a_wind(void) {
  const double errors[] = {error_of_wave(16), error_of_wave(32), error_of_wave(64)};
  for (int i = 0; i < 2; ++i) {
    const double order = log2(errors[i] / errors[i + 1]);
    say("wind: order %.2f\n", order);
    CHECK(
        order > 3.8 && order < 4.3, "order %g from errors %g, %g", order, errors[i], errors[i + 1]);
  }
}

// Between grids of which one has twice the cells, after means over two by two of them.
static double difference(const double* coarse, const double* fine, int cells) {
  double sum = 0;
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const double* corner = fine + (size_t)(2 * j) * (size_t)(2 * cells) + 2 * i;
      const double mean = (corner[0] + corner[1] + corner[2 * cells] + corner[2 * cells + 1]) / 4;
      sum += pow(coarse[j * cells + i] - mean, 2);
    }
  }
  return sqrt(sum) / cells;
}

static void order_is_two_where_vortices_stir(void) {
  const struct stirring_case one = {
      .strength = 0.8, .wind_x = 0.1, .wind_y = 0.2, .diffusivity = 4e-3, .phase = 0.2};
  const struct outcome a = solve(32, 0.5, one);
  const struct outcome b = solve(64, 0.5, one);
  const struct outcome c = solve(128, 0.5, one);
  const double order = log2(difference(a.field, b.field, 32) / difference(b.field, c.field, 64));
  say("vortices: order %.2f\n", order);
  CHECK(order > 1.8, "order %g", order);
  CHECK(fabs(c.ratio / b.ratio - 1) < 0.01, "ratios %g, %g", b.ratio, c.ratio);
  free(a.field);
  free(b.field);
  free(c.field);
}

static void stirring_mixes_faster(void) {
  struct stirring_case one = {.diffusivity = 2e-3, .phase = 0.25};
  const struct outcome still = solve(32, 1, one);
  one.strength = 1;
  const struct outcome stirred = solve(32, 1, one);
  CHECK(
      fabs(still.ratio / exp(-16 * pi * pi * one.diffusivity) - 1) < 1e-3, "ratio %g", still.ratio);
  CHECK(stirred.ratio < 0.9 * still.ratio, "ratios %g, %g", stirred.ratio, still.ratio);
  free(still.field);
  free(stirred.field);
}

static void too_many_ranks_are_refused(void) {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  double drift = 0;
  double ratio = 0;
  const struct stirring_case one = {.diffusivity = 1e-3};
  const int status =
      stirring_advance(ranks > 1 ? 2 : 1, 0.1, 1, 1, &one, &drift, &ratio, false, NULL);
  CHECK(status == 1, "status %d", status);
}

int main(int count, char** words) {
  MPI_Init(&count, &words);
  mass_is_kept();
  order_is_four_in_a_wind();
  order_is_two_where_vortices_stir();
  stirring_mixes_faster();
  too_many_ranks_are_refused();
  MPI_Finalize();
  return failures == 0 ? 0 : 1;
}
