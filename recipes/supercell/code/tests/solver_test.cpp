#include "solver.h"

#include "bubble.h"
#include "error.h"
#include "snapshot.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <numbers>
#include <vector>

using namespace supercell;

namespace {

// A flow without gravity in a periodic square whose solution is known.
struct KnownFlow {
  double length;  // m
  double time;    // s
  // What is conserved at a place at the start; the flow carries it with `wind_x`, `wind_z`.
  std::function<std::array<double, quantity_count>(double x, double z)> start;
  double wind_x;
  double wind_z;
};

const Background still_air{0.0, 300.0};

// Root mean square error of the density after `flow.time`, kg m-3.
double density_error(const KnownFlow& flow, std::size_t cells) {
  Workers workers(1);
  SolverSettings settings;
  settings.grid = {cells, cells, flow.length, flow.length};
  settings.background = still_air;
  settings.vertical = Boundary::periodic;
  Solver solver(settings, workers);
  const Grid& grid = settings.grid;
  for (std::size_t k = 0; k < cells; ++k) {
    for (std::size_t i = 0; i < cells; ++i) {
      for (std::size_t q = 0; q < quantity_count; ++q) {
        const auto value = [&](double x, double z) { return flow.start(x, z)[q]; };
        solver.state()[q].at(i, k) = cell_average(grid, i, k, value);
      }
    }
  }
  const auto steps =
      static_cast<std::size_t>(std::ceil(flow.time * 450 / (0.6 * grid.spacing_x())));
  for (std::size_t step = 0; step < steps; ++step) {
    solver.step(flow.time / static_cast<double>(steps));
  }
  const auto wrap = [&](double x) { return x - flow.length * std::floor(x / flow.length); };
  double sum = 0;
  for (std::size_t k = 0; k < cells; ++k) {
    for (std::size_t i = 0; i < cells; ++i) {
      const auto exact = [&](double x, double z) {
        return flow.start(wrap(x - flow.wind_x * flow.time), wrap(z - flow.wind_z * flow.time))[0];
      };
      const double error = solver.state()[density].at(i, k) - cell_average(grid, i, k, exact);
      sum += error * error;
    }
  }
  return std::sqrt(sum / static_cast<double>(cells * cells));
}

// Density that varies at constant pressure and wind is carried unchanged.
KnownFlow entropy_wave() {
  const double rho = still_air.density(0);
  const double length = 1000;
  const auto start = [rho, length](double x, double z) -> std::array<double, quantity_count> {
    const double wave = 0.1 * rho * std::sin(2 * std::numbers::pi * (x + z) / length);
    return {wave, (rho + wave) * 60.0, (rho + wave) * 40.0, 0.0};
  };
  return {length, 2.0, start, 60.0, 40.0};
}

// The isentropic vortex: its temperature balances the centrifugal force, so that it travels with
// the wind as it is (Shu, NASA/CR-97-206253, 1997).
KnownFlow vortex() {
  const double rho = still_air.density(0);
  const double warm = still_air.heat(0);
  const double length = 1000;
  const auto start = [=](double x, double z) -> std::array<double, quantity_count> {
    constexpr double core = 80;  // m
    constexpr double spin = 60;  // m s-1, fastest wind around the centre
    const double across = (x - 0.5 * length) / core;
    const double up = (z - 0.5 * length) / core;
    const double bell = std::exp(0.5 * (1.0 - across * across - up * up));
    const double theta = still_air.potential_temperature;
    const double exner_here = 1.0 - spin * spin * bell * bell / (2 * air::heat_capacity * theta);
    const double full_heat = heat_of_exner(exner_here);
    const double full_density = full_heat / theta;
    return {full_density - rho,
            full_density * (60.0 - spin * up * bell),
            full_density * (40.0 + spin * across * bell),
            full_heat - warm};
  };
  return {length, 3.0, start, 60.0, 40.0};
}

Experiment small_experiment(std::size_t snapshots) {
  Experiment experiment;
  experiment.grid.cells_x = 48;
  experiment.grid.cells_z = 36;
  experiment.coarsening = 2;
  experiment.snapshots = snapshots;
  return experiment;
}

constexpr Bubble bubble{6400, 3000, 2500, 3.0};

}  // namespace

TEST_CASE("solver: an entropy wave is carried with an order of at least 1.8") {
  const KnownFlow flow = entropy_wave();
  const double coarse = density_error(flow, 16);
  const double middle = density_error(flow, 32);
  const double fine = density_error(flow, 64);
  INFO("entropy wave: orders " << std::log2(coarse / middle) << " and "
                               << std::log2(middle / fine));
  CHECK(std::log2(coarse / middle) > 1.8);
  CHECK(std::log2(middle / fine) > 1.8);
  CHECK(fine < 1e-4);
}

TEST_CASE("solver: an isentropic vortex is carried with an order of at least 1.8") {
  const KnownFlow flow = vortex();
  const double coarse = density_error(flow, 40);
  const double middle = density_error(flow, 80);
  const double fine = density_error(flow, 160);
  INFO("vortex: orders " << std::log2(coarse / middle) << " and " << std::log2(middle / fine));
  CHECK(std::log2(coarse / middle) > 1.8);
  CHECK(std::log2(middle / fine) > 1.8);
}

TEST_CASE("solver: the mass of a rising bubble is conserved to 1e-12") {
  Workers workers(1);
  double first = 0;
  double worst = 0;
  simulate(small_experiment(101), bubble, workers, [&](const Solver& solver, auto) {
    const double mass = solver.total_mass();
    if (first == 0) first = mass;
    worst = std::fmax(worst, std::fabs(mass / first - 1.0));
  });
  INFO("worst relative mass drift " << worst);
  CHECK(first > 1e7);
  CHECK(worst < 1e-12);
}

TEST_CASE("solver: the background without a bubble stays at rest exactly") {
  Workers workers(1);
  bool moved = false;
  simulate(
      small_experiment(11), {6400, 3000, 2500, 0.0}, workers, [&](const Solver&, auto snapshot) {
        for (const double value : snapshot)
          moved = moved || value != 0.0;
      });
  CHECK_FALSE(moved);
}

TEST_CASE("solver: a warm bubble rises, ever faster, and a cold one sinks") {
  const Experiment experiment = small_experiment(201);
  Workers workers(1);
  std::vector<double> heights;
  simulate(experiment, bubble, workers, [&](const Solver&, auto snapshot) {
    heights.push_back(thermal_height(experiment, snapshot.data()));
  });
  INFO("rises from " << heights.front() << " m to " << heights.back() << " m in 140 s");
  CHECK(heights[100] > heights[0] + 50);
  CHECK(heights[200] - heights[100] > 1.5 * (heights[100] - heights[0]));
  for (std::size_t i = 20; i < heights.size(); i += 20)
    CHECK(heights[i] > heights[i - 20]);

  std::vector<double> last;
  Bubble cold = bubble;
  cold.amplitude = -3.0;
  simulate(
      experiment, cold, workers, [&](const Solver&, auto snapshot) { last = std::move(snapshot); });
  // As the wind at the centre of the bubble tells.
  const std::size_t centre = (wind_z * experiment.kept_z() + 5) * experiment.kept_x() + 12;
  CHECK(last[centre] < -1.0);
}

TEST_CASE("solver: the flow stays a mirror image of itself") {
  const Experiment experiment = small_experiment(101);
  Workers workers(1);
  std::vector<double> last;
  simulate(experiment, bubble, workers, [&](const Solver&, auto snapshot) {
    last = std::move(snapshot);
  });
  const std::size_t width = experiment.kept_x();
  double worst = 0;
  for (std::size_t k = 0; k < experiment.kept_z(); ++k) {
    for (std::size_t i = 0; i < width; ++i) {
      const double* row = last.data() + (temperature * experiment.kept_z() + k) * width;
      worst = std::fmax(worst, std::fabs(row[i] - row[width - 1 - i]));
    }
  }
  CHECK(worst < 1e-9);
}

TEST_CASE("solver: the number of threads does not change a bit") {
  std::vector<double> reference;
  for (const int threads : {1, 2, 3, 5}) {
    Workers workers(threads);
    std::vector<double> all;
    simulate(small_experiment(11), bubble, workers, [&](const Solver&, auto snapshot) {
      all.insert(all.end(), snapshot.begin(), snapshot.end());
    });
    if (threads == 1) reference = all;
    CHECK(all == reference);
  }
}

TEST_CASE(
    "solver: a perturbation moves each density by one unit in the last place, in its own way") {
  Workers workers(1);
  const auto densities = [&](int number) {
    SolverSettings settings;
    settings.grid = small_experiment(11).grid;
    Solver solver(settings, workers);
    Bubble perturbed = bubble;
    perturbed.perturbation = number;
    set_bubble(solver, perturbed);
    std::vector<double> values;
    for (std::size_t k = 0; k < settings.grid.cells_z; ++k) {
      for (std::size_t i = 0; i < settings.grid.cells_x; ++i)
        values.push_back(solver.state()[density].at(i, k));
    }
    return values;
  };
  const std::vector<double> plain = densities(0);
  const std::vector<double> one = densities(1);
  CHECK(one != densities(2));
  CHECK(one == densities(1));
  std::size_t moved = 0;
  for (std::size_t i = 0; i < plain.size(); ++i) {
    if (plain[i] == 0.0) {
      CHECK(one[i] == 0.0);
    } else {
      moved += 1;
      CHECK((one[i] == std::nextafter(plain[i], 1.0) || one[i] == std::nextafter(plain[i], -1.0)));
    }
  }
  CHECK(moved > 100);
}

TEST_CASE("solver: grids that do not fit are refused") {
  Experiment experiment;
  CHECK_NOTHROW(experiment.check(2));
  experiment.coarsening = 5;
  CHECK_THROWS_AS(experiment.check(2), UsageError);
  experiment.coarsening = 24;
  CHECK_THROWS_AS(experiment.check(2), UsageError);
  experiment.coarsening = 3;
  experiment.interval = 3.0;
  CHECK_THROWS_AS(experiment.check(2), UsageError);
}

TEST_CASE("solver: slowed sound conserves mass and moves the bubble as air does") {
  Workers workers(1);
  std::vector<std::vector<double>> theta;
  for (const double divisor : {1.0, 2.0}) {
    SolverSettings settings;
    settings.grid.cells_x = 32;
    settings.grid.cells_z = 24;
    settings.dissipation = 0;
    settings.sound_divisor = divisor;
    Solver solver(settings, workers);
    set_bubble(solver, {6400, 3000, 2500, 3.0});
    const double mass = solver.total_mass();
    for (int step = 0; step < 200; ++step)
      solver.step(1.0);
    CHECK(std::fabs(solver.total_mass() / mass - 1.0) < 1e-12);
    const std::vector<double> all = take_snapshot(solver, 1);
    theta.emplace_back(all.begin() + 2 * 768, all.begin() + 3 * 768);
  }
  double error = 0, size = 0;
  for (std::size_t i = 0; i < theta[0].size(); ++i) {
    error += (theta[1][i] - theta[0][i]) * (theta[1][i] - theta[0][i]);
    size += theta[0][i] * theta[0][i];
  }
  INFO("relative difference " << std::sqrt(error / size));
  CHECK(error < 0.02 * 0.02 * size);
  CHECK(error > 0);
}
