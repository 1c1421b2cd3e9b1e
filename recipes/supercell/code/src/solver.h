#pragma once

#include "atmosphere.h"
#include "workers.h"

#include <array>
#include <cstddef>
#include <vector>

namespace supercell {

struct Grid {
  std::size_t cells_x = 96;
  std::size_t cells_z = 72;
  double width = 12800;  // m
  double height = 9600;  // m

  double spacing_x() const { return width / static_cast<double>(cells_x); }
  double spacing_z() const { return height / static_cast<double>(cells_z); }
  // Centres of cells, m.
  double x(std::size_t i) const { return (static_cast<double>(i) + 0.5) * spacing_x(); }
  double z(std::size_t k) const { return (static_cast<double>(k) + 0.5) * spacing_z(); }
};

// Cell averages of one quantity with two cells of halo on each side.
class Field {
 public:
  static constexpr std::size_t halo = 2;

  Field(std::size_t cells_x, std::size_t cells_z)
      : pitch_(cells_x + 2 * halo), values_(pitch_ * (cells_z + 2 * halo)) {}

  std::size_t pitch() const { return pitch_; }
  // First cell of row k; k counts from -halo.
  double* row(std::ptrdiff_t k) { return values_.data() + offset(k); }
  const double* row(std::ptrdiff_t k) const { return values_.data() + offset(k); }
  double& at(std::size_t i, std::size_t k) { return row(static_cast<std::ptrdiff_t>(k))[i]; }
  double at(std::size_t i, std::size_t k) const { return row(static_cast<std::ptrdiff_t>(k))[i]; }

 private:
  std::size_t offset(std::ptrdiff_t k) const {
    return static_cast<std::size_t>(k + static_cast<std::ptrdiff_t>(halo)) * pitch_ + halo;
  }

  std::size_t pitch_;
  std::vector<double> values_;
};

// What the equations conserve; density and heat as departures from the background.
enum Quantity : std::size_t {
  density,     // rho - rho_0, kg m-3
  momentum_x,  // rho u, kg m-2 s-1
  momentum_z,  // rho w, kg m-2 s-1
  heat,        // rho theta - rho_0 theta_0, kg m-3 K
  quantity_count
};
using State = std::array<Field, quantity_count>;

enum class Boundary { walls, periodic };

struct SolverSettings {
  Grid grid;
  Background background;
  Boundary vertical = Boundary::walls;  // always periodic in x
  // Part of the dissipation of the third-order upwind scheme that is kept; 0 is purely central.
  double dissipation = 0.25;
  // Sound is slower by this factor, so that time steps may be longer; 1 is air. The tendency of
  // heat is divided by the square of the factor, theta' is carried as before (reduced speed of
  // sound: Rempel, Astrophys. J. 622, 2005).
  double sound_divisor = 1;
};

// The dry compressible Euler equations in a vertical plane,
//
//   d rho   / dt + div(rho v)                 = 0
//   d rho u / dt + div(rho u v) + dp'/dx      = 0
//   d rho w / dt + div(rho w v) + dp'/dz      = -rho' g
//   d rho theta / dt + div(rho theta v)       = 0,   p = p00 (R rho theta / p00)^(7/5),
//
// where ' is the departure from the hydrostatic background, which therefore stays at rest exactly.
// Finite volumes: fourth-order interpolation to the faces and a third difference scaled with the
// fastest wave (Wicker and Skamarock, Mon. Weather Rev. 130, 2002), in time the third-order strong
// stability preserving Runge-Kutta scheme (Shu and Osher, J. Comput. Phys. 77, 1988). Mass and
// heat change only through faces, and solid walls let nothing through, so both are conserved to
// rounding. The result does not depend on the number of workers, to the bit.
class Solver {
 public:
  // `workers` must outlive the solver.
  Solver(const SolverSettings& settings, Workers& workers);

  const SolverSettings& settings() const { return settings_; }
  State& state() { return state_; }
  const State& state() const { return state_; }
  // Averages of the background over the cells of each row.
  const std::vector<double>& background_density() const { return density_cells_; }
  const std::vector<double>& background_heat() const { return heat_cells_; }

  // Advances by `dt` seconds.
  void step(double dt);
  // Mass per metre of depth, kg m-1, summed in a fixed order.
  double total_mass() const;

 private:
  void fill_halo(State& state) const;
  void find_fluxes(const State& state, int rank);
  // next = keep * base + (1 - keep) * (current + dt * tendency(current)); next may be either.
  struct Stage {
    const State& base;
    State& current;
    State& next;
    double keep;
  };
  void advance(const Stage& stage, double dt);
  void slow_down_sound();
  void update(const Stage& stage, double dt, int rank) const;

  SolverSettings settings_;
  Workers& workers_;
  State state_;
  State stage_;
  std::vector<double> density_cells_, heat_cells_, pressure_cells_;  // one per row
  std::vector<double> density_faces_, heat_faces_, pressure_faces_;  // one per horizontal face
  std::array<std::vector<double>, quantity_count> flux_x_;           // [cells_z][cells_x + 1]
  std::array<std::vector<double>, quantity_count> flux_z_;           // [cells_z + 1][cells_x]
};

// The mean of `function(x, z)` over cell (i, k) by two-point Gauss quadrature in each direction.
template <class Function>
double cell_average(const Grid& grid, std::size_t i, std::size_t k, const Function& function) {
  constexpr double offset = 0.28867513459481287;  // 1 / (2 sqrt 3)
  double sum = 0;
  for (const double side_z : {-offset, offset}) {
    for (const double side_x : {-offset, offset}) {
      sum += function(grid.x(i) + side_x * grid.spacing_x(), grid.z(k) + side_z * grid.spacing_z());
    }
  }
  return 0.25 * sum;
}

}  // namespace supercell
