#pragma once

#include "solver.h"

#include <cstddef>
#include <string>
#include <vector>

namespace supercell {

// The slow part of a flow: u, w and theta' on 40 by 30 cells, [variable][z][x]. Sound is left out.
constexpr std::size_t slow_variables = 3;
constexpr std::size_t slow_x = 40;
constexpr std::size_t slow_z = 30;
constexpr std::size_t slow_cells = slow_x * slow_z;
constexpr std::size_t slow_size = slow_variables * slow_cells;
using SlowState = std::vector<double>;

// A forecast has ten steps of 30 s. The truth is kept four times in each.
constexpr std::size_t forecast_steps = 10;
constexpr std::size_t kept_per_step = 4;
constexpr std::size_t kept_times = forecast_steps * kept_per_step + 1;
constexpr double kept_interval = 7.5;  // s
constexpr double forecast_time = kept_interval * static_cast<double>(kept_times - 1);

// Trajectories on the fine grid, averaged to the slow grid.
struct Truth {
  std::size_t cells = 0;     // of the fine grid in x; three quarters of it in z
  std::size_t training = 0;  // the first trajectories are for training, the rest are held out
  std::vector<std::vector<SlowState>> states;    // [trajectory][time]
  std::vector<std::vector<double>> final_theta;  // fine grid, one for each held-out trajectory
};

// Moves `state` along x by `cells` (any real number); interpolates between six cells.
SlowState shifted(const SlowState& state, double cells);
// Position of the warm column in cells, periodic.
double warm_column(const SlowState& state);

// Proper orthogonal modes of a set of states, each variable divided by its root mean square.
class Modes {
 public:
  static constexpr std::size_t count = 24;

  // `states` are aligned: their warm columns lie at the same place.
  explicit Modes(const std::vector<const SlowState*>& states);

  // Amplitudes of the modes in `state`, and back.
  std::vector<double> encode(const SlowState& state) const;
  SlowState decode(const std::vector<double>& amplitudes) const;

 private:
  std::vector<double> scale_;    // one for each variable
  std::vector<double> encoder_;  // [cell][mode]
  std::vector<double> decoder_;  // [mode][cell]
};

enum class Terms { linear, quadratic };
enum class Targets { true_ones, shuffled };

// An operator on the amplitudes of the modes, q(t + 30 s) = q + C (1, q, q x q). Least squares with
// a small ridge finds C (operator inference: Peherstorfer and Willcox, Comput. Methods Appl. Mech.
// Eng. 306, 2016). The Euler equations are nearly quadratic in these variables.
class ReducedOperator {
 public:
  ReducedOperator(const Truth& truth, Terms terms, Targets targets);

  // The state `steps` steps of 30 s after `initial`.
  SlowState forecast(const SlowState& initial, std::size_t steps) const;
  const Modes& modes() const { return modes_; }
  const std::vector<double>& weights() const { return weights_; }  // [feature][mode]

 private:
  Modes modes_;
  Terms terms_;
  std::vector<double> weights_;
};

// sqrt(sum (a - b)^2 / sum b^2).
double relative_difference(const std::vector<double>& a, const std::vector<double>& b);
// theta' of a slow state.
std::vector<double> theta_of(const SlowState& state);
// Means of a field on `cells` by 3/4 `cells` over blocks, so that `coarse` by 3/4 `coarse` remain.
std::vector<double> block_means(const std::vector<double>& field,
                                std::size_t cells,
                                std::size_t coarse);
// Greatest height in m where theta' in some column is 0.5 K. `cells` in x, 9600 m in z.
double thermal_top(const std::vector<double>& theta, std::size_t cells);

void write_truth(const std::string& path, const Truth& truth);
// Throws Error when the file is not such a truth.
Truth read_truth(const std::string& path);

}  // namespace supercell
