#include "snapshot.h"

#include "error.h"

#include <cmath>
#include <string>
#include <utility>

namespace supercell {
namespace {

// An upper bound of sound and wind near the ground, m s-1.
constexpr double fastest_signal = 390.0;

// Mean of a quantity over the block of cells that becomes kept cell (i, k).
double block_mean(const Field& field, std::size_t i, std::size_t k, std::size_t coarsening) {
  double sum = 0;
  for (std::size_t z = k * coarsening; z < (k + 1) * coarsening; ++z) {
    for (std::size_t x = i * coarsening; x < (i + 1) * coarsening; ++x)
      sum += field.at(x, z);
  }
  return sum / static_cast<double>(coarsening * coarsening);
}

double row_mean(const std::vector<double>& rows, std::size_t k, std::size_t coarsening) {
  double sum = 0;
  for (std::size_t z = k * coarsening; z < (k + 1) * coarsening; ++z)
    sum += rows[z];
  return sum / static_cast<double>(coarsening);
}

}  // namespace

std::size_t Experiment::steps() const {
  const double cell = std::fmin(grid.spacing_x(), grid.spacing_z());
  return static_cast<std::size_t>(std::ceil(interval * fastest_signal / (courant * cell)));
}

void Experiment::check(std::size_t radius) const {
  if (grid.cells_x % coarsening != 0 || grid.cells_z % coarsening != 0) {
    throw UsageError("the numbers of cells (" + std::to_string(grid.cells_x) + " and " +
                     std::to_string(grid.cells_z) + ") are not multiples of the coarsening (" +
                     std::to_string(coarsening) + ")");
  }
  if (kept_x() < 2 * radius + 1 || kept_z() < 2 * radius + 1) {
    throw UsageError("the grid is too small",
                     "at least " + std::to_string((2 * radius + 1) * coarsening) +
                         " cells are needed in x and in z");
  }
  const Grid kept = kept_grid();
  const double reach = static_cast<double>(radius) * std::fmin(kept.spacing_x(), kept.spacing_z());
  if (interval * fastest_signal > reach) {
    throw UsageError("in one interval sound travels farther than the " + std::to_string(radius) +
                         " cells that the surrogate sees",
                     "shorten the interval below " + std::to_string(reach / fastest_signal) +
                         " s, or take fewer cells");
  }
}

std::vector<double> take_snapshot(const Solver& solver, std::size_t coarsening) {
  const Grid& grid = solver.settings().grid;
  const double background_theta = solver.settings().background.potential_temperature;
  const std::size_t kept_x = grid.cells_x / coarsening;
  const std::size_t kept_z = grid.cells_z / coarsening;
  const State& state = solver.state();
  std::vector<double> snapshot(variable_count * kept_z * kept_x);
  for (std::size_t k = 0; k < kept_z; ++k) {
    const double background_heat = row_mean(solver.background_heat(), k, coarsening);
    const double background_density = row_mean(solver.background_density(), k, coarsening);
    const double background_exner = exner_of_heat(background_heat);
    for (std::size_t i = 0; i < kept_x; ++i) {
      const auto put = [&](Variable variable, double value) {
        snapshot[(variable * kept_z + k) * kept_x + i] = value;
      };
      const double density_departure = block_mean(state[density], i, k, coarsening);
      const double heat_departure = block_mean(state[heat], i, k, coarsening);
      const double full_density = background_density + density_departure;
      const double root = fifth_root<3>(1.0 + heat_departure / background_heat);
      put(wind_x, block_mean(state[momentum_x], i, k, coarsening) / full_density);
      put(wind_z, block_mean(state[momentum_z], i, k, coarsening) / full_density);
      // Without the cancellation of (rho theta) / rho - theta_0.
      put(temperature, (heat_departure - background_theta * density_departure) / full_density);
      put(exner, background_exner * (root * root - 1.0));
    }
  }
  return snapshot;
}

void simulate(const Experiment& experiment,
              const Bubble& bubble,
              Workers& workers,
              const std::function<void(const Solver&, std::vector<double>)>& keep) {
  SolverSettings settings;
  settings.grid = experiment.grid;
  Solver solver(settings, workers);
  set_bubble(solver, bubble);
  const std::size_t steps = experiment.steps();
  const double dt = experiment.time_step();
  keep(solver, take_snapshot(solver, experiment.coarsening));
  for (std::size_t snapshot = 1; snapshot < experiment.snapshots; ++snapshot) {
    for (std::size_t step = 0; step < steps; ++step)
      solver.step(dt);
    std::vector<double> taken = take_snapshot(solver, experiment.coarsening);
    for (const double value : taken) {
      if (!std::isfinite(value)) {
        throw Error("the simulation became unstable before snapshot " + std::to_string(snapshot));
      }
    }
    keep(solver, std::move(taken));
  }
}

double thermal_height(const Experiment& experiment, const double* snapshot) {
  const Grid kept = experiment.kept_grid();
  const double* theta = snapshot + temperature * kept.cells_x * kept.cells_z;
  double weight = 0;
  double moment = 0;
  for (std::size_t k = 0; k < kept.cells_z; ++k) {
    for (std::size_t i = 0; i < kept.cells_x; ++i) {
      const double warm = std::fmax(theta[k * kept.cells_x + i], 0.0);
      weight += warm;
      moment += warm * kept.z(k);
    }
  }
  return weight > 0 ? moment / weight : 0.0;
}

}  // namespace supercell
