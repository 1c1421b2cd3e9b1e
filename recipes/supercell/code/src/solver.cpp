#include "solver.h"

#include "clones.h"

#include <cmath>

namespace supercell {
namespace {

// One row of faces that all have the same background.
struct FaceRow {
  // Density, momentum across the face, momentum along it, heat: the cell before face 0.
  std::array<const double*, quantity_count> before;
  std::array<double*, quantity_count> flux;
  std::ptrdiff_t stride;  // from the cell before a face to the cell after it
  std::size_t count;
  double density, heat, pressure;  // of the background
  double dissipation;
};

struct Face {
  double value;       // interpolated to fourth order
  double difference;  // the third difference, 0 for a parabola
};

inline Face at_face(const double* before, std::ptrdiff_t stride) {
  const double far_before = before[-stride];
  const double near_before = before[0];
  const double near_after = before[stride];
  const double far_after = before[2 * stride];
  return {(7.0 * (near_before + near_after) - (far_before + far_after)) * (1.0 / 12.0),
          (far_after - far_before) - 3.0 * (near_after - near_before)};
}

SUPERCELL_CLONES void face_fluxes(const FaceRow& row) {
  const double* density_in = row.before[0];
  const double* normal_in = row.before[1];
  const double* along_in = row.before[2];
  const double* heat_in = row.before[3];
  double* density_flux = row.flux[0];
  double* normal_flux = row.flux[1];
  double* along_flux = row.flux[2];
  double* heat_flux = row.flux[3];
  const FaceRow here = row;
  const double per_heat = 1.0 / here.heat;
  const double elasticity = air::heat_ratio * here.pressure;
  const double third_order = here.dissipation / 12.0;
  // The fluxes overlap neither the state nor each other.
#pragma GCC ivdep
  for (std::size_t i = 0; i < here.count; ++i) {
    const Face rho = at_face(density_in + i, here.stride);
    const Face normal = at_face(normal_in + i, here.stride);
    const Face along = at_face(along_in + i, here.stride);
    const Face warm = at_face(heat_in + i, here.stride);

    const double full_density = here.density + rho.value;
    const double full_heat = here.heat + warm.value;
    const double volume = 1.0 / full_density;
    const double velocity = normal.value * volume;
    const double ratio = 1.0 + warm.value * per_heat;  // 1 exactly where nothing departs
    const double root = fifth_root<3>(ratio);
    const double pressure_ratio = ratio * (root * root);
    const double sound = std::sqrt(elasticity * pressure_ratio * volume);
    const double blend = third_order * (std::fabs(velocity) + sound);

    density_flux[i] = normal.value + blend * rho.difference;
    normal_flux[i] = normal.value * velocity + here.pressure * (pressure_ratio - 1.0) +
                     blend * normal.difference;
    along_flux[i] = along.value * velocity + blend * along.difference;
    heat_flux[i] = full_heat * velocity + blend * warm.difference;
  }
}

// One row of one quantity, from the fluxes through its four sides.
struct CellRow {
  const double* base;
  const double* current;
  double* next;
  const double* left;
  const double* bottom;
  const double* top;
  const double* lift;  // what gravity pulls at, density for the vertical momentum
  std::size_t count;
  double keep, dt, per_x, per_z, gravity;
};

SUPERCELL_CLONES void update_row(const CellRow& row) {
  const CellRow here = row;
  // `next` may be `base` or `current`, but then cell by cell.
#pragma GCC ivdep
  for (std::size_t i = 0; i < here.count; ++i) {
    const double tendency = -(here.left[i + 1] - here.left[i]) * here.per_x -
                            (here.top[i] - here.bottom[i]) * here.per_z -
                            here.gravity * here.lift[i];
    here.next[i] =
        here.keep * here.base[i] + (1.0 - here.keep) * (here.current[i] + here.dt * tendency);
  }
}

SUPERCELL_CLONES void scale_fluxes(
    double* mass, double* warmth, std::size_t count, double moved, double kept) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    mass[i] -= moved * warmth[i];
    warmth[i] *= kept;
  }
}

State make_state(const Grid& grid) {
  const Field zero(grid.cells_x, grid.cells_z);
  return {zero, zero, zero, zero};
}

}  // namespace

Solver::Solver(const SolverSettings& settings, Workers& workers)
    : settings_(settings),
      workers_(workers),
      state_(make_state(settings.grid)),
      stage_(state_),
      density_cells_(settings.grid.cells_z),
      heat_cells_(settings.grid.cells_z),
      pressure_cells_(settings.grid.cells_z),
      density_faces_(settings.grid.cells_z + 1),
      heat_faces_(settings.grid.cells_z + 1),
      pressure_faces_(settings.grid.cells_z + 1) {
  const Grid& grid = settings_.grid;
  const Background& air = settings_.background;
  for (std::size_t k = 0; k < grid.cells_z; ++k) {
    const auto heat_at = [&](double, double z) { return air.heat(z); };
    heat_cells_[k] = cell_average(grid, 0, k, heat_at);
    density_cells_[k] = heat_cells_[k] / air.potential_temperature;
    pressure_cells_[k] = pressure_of_heat(heat_cells_[k]);
  }
  for (std::size_t k = 0; k <= grid.cells_z; ++k) {
    const double z = static_cast<double>(k) * grid.spacing_z();
    heat_faces_[k] = air.heat(z);
    density_faces_[k] = air.density(z);
    pressure_faces_[k] = air.pressure(z);
  }
  for (std::size_t q = 0; q < quantity_count; ++q) {
    flux_x_[q].resize(grid.cells_z * (grid.cells_x + 1));
    flux_z_[q].resize((grid.cells_z + 1) * grid.cells_x);
  }
}

// Periodic in x. At a wall the flow is mirrored: the velocity through it is odd, all else even.
void Solver::fill_halo(State& state) const {
  constexpr auto halo = static_cast<std::ptrdiff_t>(Field::halo);
  const auto cells_x = static_cast<std::ptrdiff_t>(settings_.grid.cells_x);
  const auto cells_z = static_cast<std::ptrdiff_t>(settings_.grid.cells_z);
  const bool walls = settings_.vertical == Boundary::walls;
  for (std::size_t q = 0; q < quantity_count; ++q) {
    Field& field = state[q];
    const double sign = walls && q == momentum_z ? -1.0 : 1.0;
    for (std::ptrdiff_t depth = 0; depth < halo; ++depth) {
      const double* below = field.row(walls ? depth : cells_z - 1 - depth);
      const double* above = field.row(walls ? cells_z - 1 - depth : depth);
      double* bottom = field.row(-1 - depth);
      double* top = field.row(cells_z + depth);
      for (std::ptrdiff_t i = 0; i < cells_x; ++i) {
        bottom[i] = sign * below[i];
        top[i] = sign * above[i];
      }
    }
    for (std::ptrdiff_t k = 0; k < cells_z; ++k) {
      double* row = field.row(k);
      for (std::ptrdiff_t depth = 0; depth < halo; ++depth) {
        row[-1 - depth] = row[cells_x - 1 - depth];
        row[cells_x + depth] = row[depth];
      }
    }
  }
}

void Solver::find_fluxes(const State& state, int rank) {
  const std::size_t cells_x = settings_.grid.cells_x;
  const std::size_t cells_z = settings_.grid.cells_z;
  const auto pitch = static_cast<std::ptrdiff_t>(state[density].pitch());

  const Range rows = share_of(cells_z, rank, workers_.count());
  for (std::size_t k = rows.begin; k < rows.end; ++k) {
    FaceRow faces{{},
                  {},
                  1,
                  cells_x + 1,
                  density_cells_[k],
                  heat_cells_[k],
                  pressure_cells_[k],
                  settings_.dissipation};
    for (std::size_t q = 0; q < quantity_count; ++q) {
      faces.before[q] = state[q].row(static_cast<std::ptrdiff_t>(k)) - 1;
      faces.flux[q] = flux_x_[q].data() + k * (cells_x + 1);
    }
    face_fluxes(faces);
  }
  const Range levels = share_of(cells_z + 1, rank, workers_.count());
  for (std::size_t k = levels.begin; k < levels.end; ++k) {
    FaceRow faces{{},
                  {},
                  pitch,
                  cells_x,
                  density_faces_[k],
                  heat_faces_[k],
                  pressure_faces_[k],
                  settings_.dissipation};
    // Across a horizontal face runs the vertical momentum.
    constexpr std::array<Quantity, quantity_count> order{density, momentum_z, momentum_x, heat};
    for (std::size_t slot = 0; slot < quantity_count; ++slot) {
      const std::size_t q = order[slot];
      faces.before[slot] = state[q].row(static_cast<std::ptrdiff_t>(k) - 1);
      faces.flux[slot] = flux_z_[q].data() + k * cells_x;
    }
    face_fluxes(faces);
  }
}

void Solver::update(const Stage& stage, double dt, int rank) const {
  const Grid& grid = settings_.grid;
  const Range rows = share_of(grid.cells_z, rank, workers_.count());
  for (std::size_t k = rows.begin; k < rows.end; ++k) {
    const auto row = static_cast<std::ptrdiff_t>(k);
    // The vertical momentum first: it needs the density from before the update.
    for (const Quantity q : {momentum_z, density, momentum_x, heat}) {
      CellRow cells{};
      cells.base = stage.base[q].row(row);
      cells.current = stage.current[q].row(row);
      cells.next = stage.next[q].row(row);
      cells.left = flux_x_[q].data() + k * (grid.cells_x + 1);
      cells.bottom = flux_z_[q].data() + k * grid.cells_x;
      cells.top = cells.bottom + grid.cells_x;
      cells.lift = stage.current[density].row(row);
      cells.count = grid.cells_x;
      cells.keep = stage.keep;
      cells.dt = dt;
      cells.per_x = 1.0 / grid.spacing_x();
      cells.per_z = 1.0 / grid.spacing_z();
      cells.gravity = q == momentum_z ? settings_.background.gravity : 0.0;
      update_row(cells);
    }
  }
}

// heat - theta_0 density, which carries theta', keeps its fluxes.
void Solver::slow_down_sound() {
  const double kept = 1.0 / (settings_.sound_divisor * settings_.sound_divisor);
  const double moved = (1.0 - kept) / settings_.background.potential_temperature;
  for (auto* flux : {&flux_x_, &flux_z_}) {
    auto& mass = (*flux)[density];
    scale_fluxes(mass.data(), (*flux)[heat].data(), mass.size(), moved, kept);
  }
}

void Solver::advance(const Stage& stage, double dt) {
  fill_halo(stage.current);
  workers_.run([&](int rank) { find_fluxes(stage.current, rank); });
  if (settings_.sound_divisor != 1) slow_down_sound();
  workers_.run([&](int rank) { update(stage, dt, rank); });
}

void Solver::step(double dt) {
  advance({state_, state_, stage_, 0.0}, dt);
  advance({state_, stage_, stage_, 0.75}, dt);
  advance({state_, stage_, state_, 1.0 / 3.0}, dt);
}

double Solver::total_mass() const {
  const Grid& grid = settings_.grid;
  double background = 0;
  double departure = 0;
  for (std::size_t k = 0; k < grid.cells_z; ++k) {
    background += density_cells_[k] * static_cast<double>(grid.cells_x);
    for (std::size_t i = 0; i < grid.cells_x; ++i)
      departure += state_[density].at(i, k);
  }
  return (background + departure) * grid.spacing_x() * grid.spacing_z();
}

}  // namespace supercell
