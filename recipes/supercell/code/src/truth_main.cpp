#include "command_line.h"
#include "error.h"
#include "reduced.h"
#include "snapshot.h"
#include "truth_bubbles.h"

#include <cmath>
#include <cstdio>

namespace supercell {
namespace {

struct Options {
  std::string out;
  int cells = 120;
  int training = 20;
  int threads = 1;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line(
      "supercell-truth",
      "Simulates rising warm bubbles for 300 s on a fine grid and writes their wind and "
      "temperature, averaged to 40 by 30 cells, as HDF5.");
  line.required("out", options.out, "file to write");
  line.integer("cells", options.cells, 40, "cells of the fine grid in x, a multiple of 40", 1000);
  line.integer(
      "training", options.training, 1, "bubbles to train on, beside three held-out ones", 1000);
  line.integer("threads", options.threads, 1, "threads; any number gives the same bits", 256);
  return line.parse(count, words);
}

int run(const Options& options) {
  Truth truth;
  truth.cells = static_cast<std::size_t>(options.cells);
  truth.training = static_cast<std::size_t>(options.training);
  if (truth.cells % slow_x != 0) {
    throw UsageError("--cells: '" + std::to_string(options.cells) + "' is not a multiple of 40");
  }
  Workers workers(options.threads);
  std::vector<Bubble> bubbles = training_bubbles(truth.training);
  bubbles.insert(bubbles.end(), held_out_bubbles.begin(), held_out_bubbles.end());
  SolverSettings settings;
  settings.grid.cells_x = truth.cells;
  settings.grid.cells_z = truth.cells * 3 / 4;
  settings.dissipation = 0.02;
  const auto steps = static_cast<std::size_t>(
      std::ceil(kept_interval * 390.0 / (0.9 * settings.grid.spacing_x())));
  for (const Bubble& bubble : bubbles) {
    Solver solver(settings, workers);
    set_bubble(solver, bubble);
    truth.states.emplace_back();
    for (std::size_t time = 0; time < kept_times; ++time) {
      for (std::size_t step = 0; time > 0 && step < steps; ++step)
        solver.step(kept_interval / static_cast<double>(steps));
      std::vector<double> snapshot = take_snapshot(solver, truth.cells / slow_x);
      snapshot.resize(slow_size);  // without the pressure, the last variable
      for (const double value : snapshot) {
        if (!std::isfinite(value)) throw Error("the simulation became unstable");
      }
      truth.states.back().push_back(std::move(snapshot));
    }
    const std::vector<double> fine = take_snapshot(solver, 1);
    const std::size_t cells = fine.size() / variable_count;
    const std::vector<double> theta(
        fine.begin() + static_cast<std::ptrdiff_t>(temperature * cells),
        fine.begin() + static_cast<std::ptrdiff_t>((temperature + 1) * cells));
    if (truth.states.size() > truth.training) truth.final_theta.push_back(theta);
    std::printf("bubble at %5.0f m, %4.0f m, radius %4.0f m, %.2f K: top at %.0f m after %.0f s\n",
                bubble.x,
                bubble.z,
                bubble.radius,
                bubble.amplitude,
                thermal_top(theta, truth.cells),
                forecast_time);
    std::fflush(stdout);
  }
  write_truth(options.out, truth);
  return 0;
}

}  // namespace
}  // namespace supercell

int main(int count, char** words) {
  return supercell::guarded_main("supercell-truth", [&] {
    supercell::Options options;
    return supercell::read_options(count, words, options) ? supercell::run(options) : 0;
  });
}
