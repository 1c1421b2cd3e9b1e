#pragma once

#include "bubble.h"
#include "solver.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace supercell {

// What a snapshot holds and the surrogate predicts.
enum Variable : std::size_t {
  wind_x,       // u, m s-1
  wind_z,       // w, m s-1
  temperature,  // theta', K
  exner,        // pi', 1
  variable_count
};

struct VariableInfo {
  const char* name;
  const char* long_name;
  const char* units;
};

constexpr std::array<VariableInfo, variable_count> variables{{
    {"u", "horizontal wind", "m s-1"},
    {"w", "vertical wind", "m s-1"},
    {"theta_perturbation", "potential temperature minus that of the background", "K"},
    {"exner_perturbation", "Exner function of pressure minus that of the background", "1"},
}};

// How trajectories are simulated and kept: solved on a fine grid, kept as means over blocks of
// `coarsening` by `coarsening` cells.
struct Experiment {
  Grid grid;
  std::size_t coarsening = 3;
  std::size_t snapshots = 301;  // of each trajectory, the initial state included
  double interval = 0.7;        // s, from one snapshot to the next
  double courant = 0.8;         // largest fraction of a cell that sound travels in one time step

  std::size_t kept_x() const { return grid.cells_x / coarsening; }
  std::size_t kept_z() const { return grid.cells_z / coarsening; }
  std::size_t snapshot_size() const { return variable_count * kept_x() * kept_z(); }
  Grid kept_grid() const { return {kept_x(), kept_z(), grid.width, grid.height}; }
  // Equal time steps between two snapshots, and the length of one in s.
  std::size_t steps() const;
  double time_step() const { return interval / static_cast<double>(steps()); }

  // Throws UsageError when the grid does not fit the blocks or the stencil of the surrogate
  // (`radius` kept cells each way) is smaller than the way sound travels in one interval.
  void check(std::size_t radius) const;
};

// The snapshot of the solver's state, [variable][z][x] on the kept grid.
std::vector<double> take_snapshot(const Solver& solver, std::size_t coarsening);

// Runs a bubble and hands each snapshot, the initial state first, to `keep`. Throws Error when the
// flow becomes unstable.
void simulate(const Experiment& experiment,
              const Bubble& bubble,
              Workers& workers,
              const std::function<void(const Solver&, std::vector<double>)>& keep);

// Height in m of the centre of the positive potential temperature perturbation of a snapshot.
double thermal_height(const Experiment& experiment, const double* snapshot);

}  // namespace supercell
