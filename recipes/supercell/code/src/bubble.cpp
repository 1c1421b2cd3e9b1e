#include "bubble.h"

#include "random.h"

#include <array>
#include <cmath>

namespace supercell {

std::vector<Trajectory> standard_trajectories(int training) {
  constexpr std::array<Bubble, most_training_bubbles> bubbles{{
      {6400, 2900, 2600, 3.0},
      {4000, 2600, 2100, 2.0},
      {8000, 3300, 3000, 2.5},
      {5000, 3600, 2400, 4.0},
      {7300, 2500, 2000, 3.5},
  }};
  std::vector<Trajectory> trajectories;
  for (int i = 0; i < training; ++i) {
    trajectories.push_back({bubbles[static_cast<std::size_t>(i)], Role::training});
  }
  trajectories.push_back({{5700, 2700, 2300, 2.7}, Role::validation});
  trajectories.push_back({{7000, 3000, 2500, 3.2}, Role::held_out});
  return trajectories;
}

static void perturb(Solver& solver, int number) {
  const Grid& grid = solver.settings().grid;
  Random random(static_cast<std::uint64_t>(number), 0);
  for (std::size_t k = 0; k < grid.cells_z; ++k) {
    for (std::size_t i = 0; i < grid.cells_x; ++i) {
      double& value = solver.state()[density].at(i, k);
      const double towards = random.below(2) == 0 ? -HUGE_VAL : HUGE_VAL;
      if (value != 0.0) value = std::nextafter(value, towards);  // next to zero is no rounding
    }
  }
}

void set_bubble(Solver& solver, const Bubble& bubble) {
  const Grid& grid = solver.settings().grid;
  const Background& air = solver.settings().background;
  const auto excess = [&](double x, double z) {
    const double away_x = std::fabs(x - bubble.x);
    const double across = std::fmin(away_x, grid.width - away_x);
    const double up = z - bubble.z;
    const double square = (across * across + up * up) / (bubble.radius * bubble.radius);
    const double inside = 1.0 - square;
    return inside > 0.0 ? bubble.amplitude * (inside * inside * inside) : 0.0;
  };
  // The pressure, hence rho theta, is that of the background: rho' = -rho_0 excess / theta.
  const auto density_departure = [&](double x, double z) {
    const double warm = excess(x, z);
    return -air.density(z) * warm / (air.potential_temperature + warm);
  };
  for (std::size_t k = 0; k < grid.cells_z; ++k) {
    for (std::size_t i = 0; i < grid.cells_x; ++i) {
      solver.state()[density].at(i, k) = cell_average(grid, i, k, density_departure);
      for (const Quantity q : {momentum_x, momentum_z, heat})
        solver.state()[q].at(i, k) = 0.0;
    }
  }
  if (bubble.perturbation > 0) perturb(solver, bubble.perturbation);
}

}  // namespace supercell
