// Makes the data: how much of a tracer's variance is left, for many ways to stir it.
#include "cases.h"
#include "program.h"

#include <math.h>
#include <mpi.h>
#include <stdlib.h>

enum { kept_fields = 4, cases_at_once = 32 };

struct simulation {
  const char* out;
  int cells, samples;
  double time;
};

static void run(const struct simulation* options) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) open_metrics();
  const int samples = options->samples;
  const size_t area = (size_t)options->cells * (size_t)options->cells;
  double* inputs = allocate((size_t)samples * stirring_inputs, sizeof(double));
  double* mixing = allocate((size_t)samples, sizeof(double));
  double* drift = allocate((size_t)samples, sizeof(double));
  double* fields = allocate(cases_at_once * area, sizeof(double));
  double* kept = allocate(kept_fields * area, sizeof(double));
  const int steps = stirring_steps(options->cells, options->time);
  double most_drift = 0;

  const double start = MPI_Wtime();
  for (int first = 0; first < samples; first += cases_at_once) {
    struct stirring_case cases[cases_at_once];
    const int count = samples - first < cases_at_once ? samples - first : cases_at_once;
    for (int i = 0; i < count; ++i) {
      cases[i] = stirring_case_number(first + i);
      stirring_inputs_of(&cases[i], inputs + (size_t)(first + i) * stirring_inputs);
    }
    if (stirring_advance(options->cells,
                         options->time,
                         steps,
                         count,
                         cases,
                         drift + first,
                         mixing + first,
                         first == 0,
                         fields) != 0) {
      if (rank == 0) fail(2, "--cells: %d are too few for so many ranks", options->cells);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = first; i < first + count; ++i) {
      mixing[i] = log(mixing[i]);
      most_drift = fmax(most_drift, fabs(drift[i]));
      if (!isfinite(mixing[i])) fail(1, "case %d: not finite", i);
    }
    for (size_t i = 0; first == 0 && i < kept_fields * area; ++i)
      kept[i] = fields[i];
  }
  const double wall = MPI_Wtime() - start;

  if (rank == 0) {
    const struct table tables[] = {
        {"inputs", 2, {samples, stirring_inputs}, inputs},
        {"mixing", 1, {samples}, mixing},
        {"mass_drift", 1, {samples}, drift},
        {"fields", 3, {kept_fields, options->cells, options->cells}, kept},
        {.name = NULL}};
    write_tables(options->out, tables);
    const sabath_log_value values[] = {sabath_log_real("mass_drift", most_drift),
                                       sabath_log_real("simulation_time", wall)};
    report_metrics(values, 2, SABATH_LOG_NONE, SABATH_LOG_NONE);
    printf(
        "%d cases, %d steps each: mass drifts by %.1e, %.2f s\n", samples, steps, most_drift, wall);
  }
  free(inputs);
  free(mixing);
  free(drift);
  free(fields);
  free(kept);
}

int main(int count, char** words) {
  struct simulation simulation = {.cells = 32, .samples = 512, .time = 1};
  const struct option_word options[] = {
      {.name = "out", .text = &simulation.out, .help = "file to write"},
      {.name = "cells",
       .whole = &simulation.cells,
       .least = 8,
       .most = 2048,
       .help = "of the grid, in x and y"},
      {.name = "samples",
       .whole = &simulation.samples,
       .least = 32,
       .most = 1 << 20,
       .help = "ways to stir"},
      {.name = "time", .real = &simulation.time, .help = "how long to stir"},
      {.name = NULL}};
  MPI_Init(&count, &words);
  if (read_options("stirring-simulate", count, words, options)) run(&simulation);
  MPI_Finalize();
  return 0;
}
