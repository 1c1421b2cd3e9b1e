#include "command_line.h"
#include "dataset.h"
#include "error.h"
#include "stencil.h"

#include <chrono>
#include <cmath>
#include <cstdio>

namespace supercell {
namespace {

struct Options {
  std::string out;
  int cells_x = 96;
  int cells_z = 72;
  int coarsening = 3;
  int snapshots = 301;
  double interval = 0.7;
  int training = most_training_bubbles;
  int threads = 1;
  int perturbation = 0;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line("supercell-simulate",
                   "Simulates rising warm bubbles and writes snapshots of them as HDF5.");
  line.required("out", options.out, "file to write");
  line.integer("cells-x", options.cells_x, 1, "cells of the solver in x", 4096);
  line.integer("cells-z", options.cells_z, 1, "cells of the solver in z", 4096);
  line.integer("coarsening", options.coarsening, 1, "cells of the solver per kept cell", 64);
  line.integer("snapshots", options.snapshots, 11, "snapshots per bubble", 100000);
  line.positive("interval", options.interval, "seconds from snapshot to snapshot");
  line.integer("training",
               options.training,
               1,
               "bubbles to train on, beside two others",
               most_training_bubbles);
  line.integer("perturbation",
               options.perturbation,
               0,
               "which change of the initial states by one unit in the last place; 0: none");
  line.integer("threads", options.threads, 1, "threads; any number gives the same bits", 256);
  return line.parse(count, words);
}

int run(const Options& options) {
  Dataset dataset;
  dataset.experiment.grid.cells_x = static_cast<std::size_t>(options.cells_x);
  dataset.experiment.grid.cells_z = static_cast<std::size_t>(options.cells_z);
  dataset.experiment.coarsening = static_cast<std::size_t>(options.coarsening);
  dataset.experiment.snapshots = static_cast<std::size_t>(options.snapshots);
  dataset.experiment.interval = options.interval;
  dataset.experiment.check(stencil_radius);
  dataset.trajectories = standard_trajectories(options.training);
  for (Trajectory& trajectory : dataset.trajectories)
    trajectory.bubble.perturbation = options.perturbation;
  H5Writer file(options.out);
  Workers workers(options.threads);

  for (const Trajectory& trajectory : dataset.trajectories) {
    const auto start = std::chrono::steady_clock::now();
    const std::size_t first = dataset.total_mass.size();
    simulate(dataset.experiment,
             trajectory.bubble,
             workers,
             [&](const Solver& solver, const std::vector<double>& snapshot) {
               dataset.states.insert(dataset.states.end(), snapshot.begin(), snapshot.end());
               dataset.total_mass.push_back(solver.total_mass());
             });
    const double drift = std::fabs(dataset.total_mass.back() / dataset.total_mass[first] - 1.0);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    const double* last =
        dataset.states.data() + dataset.states.size() - dataset.experiment.snapshot_size();
    std::printf(
        "bubble at %5.0f m, %4.0f m, radius %4.0f m, %.1f K: rises to %.0f m, mass drift "
        "%.1e, %.2f s\n",
        trajectory.bubble.x,
        trajectory.bubble.z,
        trajectory.bubble.radius,
        trajectory.bubble.amplitude,
        thermal_height(dataset.experiment, last),
        drift,
        wall.count());
    std::fflush(stdout);
  }
  write_dataset(file, dataset);
  file.commit();
  return 0;
}

}  // namespace
}  // namespace supercell

int main(int count, char** words) {
  return supercell::guarded_main("supercell-simulate", [&] {
    supercell::Options options;
    return supercell::read_options(count, words, options) ? supercell::run(options) : 0;
  });
}
