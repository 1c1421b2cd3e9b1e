#include "reduced.h"

#include "clones.h"
#include "error.h"
#include "h5_file.h"
#include "least_squares.h"
#include "random.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace supercell {
namespace {

constexpr std::size_t modes_count = Modes::count;
constexpr double ridge = 3e-7;

// Eigenvalues of a symmetric matrix on its diagonal and eigenvectors in the columns of the result
// (Jacobi's cyclic method).
std::vector<double> eigenvectors(std::vector<double>& matrix, std::size_t size) {
  std::vector<double> vectors(size * size);  // one eigenvector in each row
  for (std::size_t i = 0; i < size; ++i)
    vectors[i * size + i] = 1;
  const auto turn =
      [](double* a, double* b, std::size_t stride, std::size_t count, double c, double s) {
        for (std::size_t i = 0; i < count; ++i) {
          const double x = a[i * stride];
          const double y = b[i * stride];
          a[i * stride] = c * x - s * y;
          b[i * stride] = s * x + c * y;
        }
      };
  double trace = 0;
  for (std::size_t i = 0; i < size; ++i)
    trace += matrix[i * size + i];
  for (int sweep = 0; sweep < 30; ++sweep) {
    double largest = 0;
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) {
        const double off = matrix[p * size + q];
        largest = std::fmax(largest, std::fabs(off));
        if (std::fabs(off) < 1e-15 * trace) continue;
        const double theta = (matrix[q * size + q] - matrix[p * size + p]) / (2 * off);
        const double t =
            (theta >= 0 ? 1.0 : -1.0) / (std::fabs(theta) + std::sqrt(theta * theta + 1));
        const double c = 1 / std::sqrt(t * t + 1);
        const double s = t * c;
        turn(&matrix[p * size], &matrix[q * size], 1, size, c, s);
        turn(&matrix[p], &matrix[q], size, size, c, s);
        turn(&vectors[p * size], &vectors[q * size], 1, size, c, s);
      }
    }
    if (largest < 1e-14 * trace) break;
  }
  return vectors;
}

SUPERCELL_CLONES void project(const double* encoder,
                              const double* state,
                              const double* factor,
                              double* amplitudes) {
  std::array<double, modes_count> sum{};
  for (std::size_t v = 0; v < slow_variables; ++v) {
    for (std::size_t i = v * slow_cells; i < (v + 1) * slow_cells; ++i) {
      const double value = state[i] * factor[v];
      for (std::size_t m = 0; m < modes_count; ++m)
        sum[m] += value * encoder[i * modes_count + m];
    }
  }
  for (std::size_t m = 0; m < modes_count; ++m)
    amplitudes[m] = sum[m];
}

SUPERCELL_CLONES void add_scaled(double factor, const double* from, double* to, std::size_t count) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i)
    to[i] += factor * from[i];
}

// One step of the operator.
SUPERCELL_CLONES void advance(const double* weights, bool quadratic, double* amplitudes) {
  std::array<double, modes_count> sum;
  std::array<double, modes_count> q;
  for (std::size_t m = 0; m < modes_count; ++m) {
    q[m] = amplitudes[m];
    sum[m] = q[m] + weights[m];
  }
  const double* row = weights + modes_count;
  for (std::size_t i = 0; i < modes_count; ++i, row += modes_count) {
    for (std::size_t m = 0; m < modes_count; ++m)
      sum[m] += q[i] * row[m];
  }
  if (quadratic) {
    for (std::size_t i = 0; i < modes_count; ++i) {
      for (std::size_t j = i; j < modes_count; ++j, row += modes_count) {
        const double product = q[i] * q[j];
        for (std::size_t m = 0; m < modes_count; ++m)
          sum[m] += product * row[m];
      }
    }
  }
  for (std::size_t m = 0; m < modes_count; ++m)
    amplitudes[m] = sum[m];
}

std::vector<double> features_of(const std::vector<double>& q, Terms terms) {
  std::vector<double> features{1.0};
  features.insert(features.end(), q.begin(), q.end());
  if (terms == Terms::quadratic) {
    for (std::size_t i = 0; i < q.size(); ++i) {
      for (std::size_t j = i; j < q.size(); ++j)
        features.push_back(q[i] * q[j]);
    }
  }
  return features;
}

std::vector<const SlowState*> basis_states(const Truth& truth) {
  std::vector<const SlowState*> states;
  for (std::size_t t = 0; t < truth.training; ++t) {
    for (std::size_t time = 0; time < kept_times; time += kept_per_step)
      states.push_back(&truth.states[t][time]);
  }
  return states;
}

constexpr double aligned_column = 0.5 * static_cast<double>(slow_x) - 0.5;

}  // namespace

SUPERCELL_CLONES static void shift_row(const double* extended, const double* weight, double* row) {
  for (std::size_t i = 0; i < slow_x; ++i) {
    double sum = 0;
    for (std::size_t p = 0; p < 6; ++p)
      sum += weight[p] * extended[i + p];
    row[i] = sum;
  }
}

SlowState shifted(const SlowState& state, double cells) {
  const double whole = std::floor(cells);
  const double part = cells - whole;
  std::array<double, 6> weight{};
  for (int p = 0; p < 6; ++p) {
    double value = 1;
    for (int other = 0; other < 6; ++other) {
      if (other != p) value *= (part - (other - 2)) / static_cast<double>(p - other);
    }
    weight[static_cast<std::size_t>(p)] = value;
  }
  const auto period = static_cast<long>(slow_x);
  SlowState moved(slow_size);
  std::array<double, slow_x + 5> extended{};
  for (std::size_t line = 0; line < slow_variables * slow_z; ++line) {
    const double* row = state.data() + line * slow_x;
    // moved(i) = state(i - cells): reads around i - cells = i - whole - part.
    for (std::size_t i = 0; i < extended.size(); ++i) {
      const long at = static_cast<long>(i) - static_cast<long>(whole) - 3;
      extended[i] = row[static_cast<std::size_t>(((at % period) + period) % period)];
    }
    std::array<double, 6> mirrored{};
    for (std::size_t p = 0; p < 6; ++p)
      mirrored[p] = weight[5 - p];
    shift_row(extended.data(), mirrored.data(), moved.data() + line * slow_x);
  }
  return moved;
}

double warm_column(const SlowState& state) {
  std::array<double, slow_x> column{};
  const double* theta = state.data() + 2 * slow_cells;
  for (std::size_t k = 0; k < slow_z; ++k) {
    for (std::size_t i = 0; i < slow_x; ++i)
      column[i] += std::fmax(theta[k * slow_x + i], 0.0);
  }
  const auto period = static_cast<long>(slow_x);
  double centre =
      static_cast<double>(std::max_element(column.begin(), column.end()) - column.begin());
  for (int pass = 0; pass < 3; ++pass) {
    const long middle = std::lround(centre);
    double weight = 0;
    double moment = 0;
    for (long away = 1 - period / 2; away < period / 2; ++away) {
      const double warm =
          column[static_cast<std::size_t>((((middle + away) % period) + period) % period)];
      weight += warm;
      moment += warm * static_cast<double>(away);
    }
    centre = static_cast<double>(middle) + (weight > 0 ? moment / weight : 0.0);
  }
  return centre;
}

Modes::Modes(const std::vector<const SlowState*>& states) : scale_(slow_variables) {
  const std::size_t count_states = states.size();
  if (count_states < count) throw Error("there are fewer states than modes");
  std::vector<double> scaled(count_states * slow_size);
  for (std::size_t v = 0; v < slow_variables; ++v) {
    double sum = 0;
    for (const SlowState* state : states) {
      for (std::size_t i = v * slow_cells; i < (v + 1) * slow_cells; ++i)
        sum += (*state)[i] * (*state)[i];
    }
    const double mean = std::sqrt(sum / static_cast<double>(count_states * slow_cells));
    if (!(mean > 0) || !std::isfinite(mean))
      throw Error("a variable of the truth is 0 or not finite");
    scale_[v] = mean;
    for (std::size_t s = 0; s < count_states; ++s) {
      for (std::size_t i = v * slow_cells; i < (v + 1) * slow_cells; ++i)
        scaled[s * slow_size + i] = (*states[s])[i] / mean;
    }
  }
  std::vector<double> gram(count_states * count_states);
  for (std::size_t a = 0; a < count_states; ++a) {
    for (std::size_t b = a; b < count_states; ++b) {
      std::array<double, 4> sum{};  // four sums in a fixed order
      for (std::size_t i = 0; i < slow_size; i += 4) {
        for (std::size_t lane = 0; lane < 4; ++lane)
          sum[lane] += scaled[a * slow_size + i + lane] * scaled[b * slow_size + i + lane];
      }
      gram[a * count_states + b] = gram[b * count_states + a] =
          (sum[0] + sum[1]) + (sum[2] + sum[3]);
    }
  }
  const std::vector<double> vectors = eigenvectors(gram, count_states);
  std::vector<std::size_t> order(count_states);
  for (std::size_t i = 0; i < count_states; ++i)
    order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return gram[a * count_states + a] > gram[b * count_states + b];
  });
  // The first amplitude has a root mean square of 1.
  const double first = gram[order[0] * (count_states + 1)];
  const double unit = std::sqrt(first / static_cast<double>(count_states));
  encoder_.resize(slow_size * count);
  decoder_.resize(count * slow_size);
  for (std::size_t m = 0; m < count; ++m) {
    const double size = gram[order[m] * (count_states + 1)];
    if (!(size > 1e-12 * first))
      throw Error("the states span fewer directions than there are modes");
    std::vector<double> mode(slow_size);
    for (std::size_t s = 0; s < count_states; ++s) {
      add_scaled(vectors[order[m] * count_states + s] / std::sqrt(size),
                 scaled.data() + s * slow_size,
                 mode.data(),
                 slow_size);
    }
    for (std::size_t i = 0; i < slow_size; ++i) {
      encoder_[i * count + m] = mode[i] / unit;
      decoder_[m * slow_size + i] = mode[i] * unit * scale_[i / slow_cells];
    }
  }
}

std::vector<double> Modes::encode(const SlowState& state) const {
  std::array<double, slow_variables> factor{};
  for (std::size_t v = 0; v < slow_variables; ++v)
    factor[v] = 1.0 / scale_[v];
  std::vector<double> amplitudes(count);
  project(encoder_.data(), state.data(), factor.data(), amplitudes.data());
  return amplitudes;
}

SlowState Modes::decode(const std::vector<double>& amplitudes) const {
  SlowState state(slow_size);
  for (std::size_t m = 0; m < count; ++m)
    add_scaled(amplitudes[m], decoder_.data() + m * slow_size, state.data(), slow_size);
  return state;
}

ReducedOperator::ReducedOperator(const Truth& truth, Terms terms, Targets targets)
    : modes_(basis_states(truth)), terms_(terms) {
  std::vector<std::vector<double>> now;
  std::vector<std::vector<double>> change;
  for (std::size_t t = 0; t < truth.training; ++t) {
    std::vector<std::vector<double>> q;
    for (const SlowState& state : truth.states[t])
      q.push_back(modes_.encode(state));
    for (std::size_t time = 0; time + kept_per_step < kept_times; ++time) {
      now.push_back(q[time]);
      change.push_back(q[time + kept_per_step]);
      for (std::size_t m = 0; m < Modes::count; ++m)
        change.back()[m] -= q[time][m];
    }
  }
  if (targets == Targets::shuffled) {
    Random random(1, 3);
    for (std::size_t i = change.size(); i > 1; --i)
      std::swap(change[i - 1], change[random.below(static_cast<std::uint32_t>(i))]);
  }
  const std::size_t inputs = features_of(now.front(), terms).size();
  LeastSquares problem(inputs, Modes::count);
  for (std::size_t s = 0; s < now.size(); ++s) {
    const std::vector<double> features = features_of(now[s], terms);
    for (std::size_t i = 0; i < inputs; ++i) {
      add_scaled(features[i], features.data(), problem.squares().data() + i * inputs, inputs);
      add_scaled(features[i],
                 change[s].data(),
                 problem.products().data() + i * Modes::count,
                 Modes::count);
    }
  }
  weights_ = problem.solve(ridge);
  for (const double weight : weights_) {
    if (!std::isfinite(weight))
      throw Error("the fit of the operator gave weights that are not finite");
  }
}

SlowState ReducedOperator::forecast(const SlowState& initial, std::size_t steps) const {
  const double away = aligned_column - warm_column(initial);
  std::vector<double> q = modes_.encode(shifted(initial, away));
  for (std::size_t step = 0; step < steps; ++step)
    advance(weights_.data(), terms_ == Terms::quadratic, q.data());
  return shifted(modes_.decode(q), -away);
}

double relative_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    size += b[i] * b[i];
  }
  return std::sqrt(error / size);
}

std::vector<double> theta_of(const SlowState& state) {
  return {state.begin() + 2 * slow_cells, state.end()};
}

std::vector<double> block_means(const std::vector<double>& field,
                                std::size_t cells,
                                std::size_t coarse) {
  const std::size_t block = cells / coarse;
  const std::size_t rows = coarse * 3 / 4;
  std::vector<double> means(coarse * rows);
  for (std::size_t k = 0; k < rows * block; ++k) {
    for (std::size_t i = 0; i < coarse * block; ++i)
      means[k / block * coarse + i / block] += field[k * cells + i];
  }
  for (double& mean : means)
    mean /= static_cast<double>(block * block);
  return means;
}

double thermal_top(const std::vector<double>& theta, std::size_t cells) {
  constexpr double level = 0.5;  // K
  const std::size_t rows = theta.size() / cells;
  const double spacing = 9600.0 / static_cast<double>(rows);
  std::vector<double> warmest(rows, -1e300);
  for (std::size_t k = 0; k < rows; ++k) {
    for (std::size_t i = 0; i < cells; ++i)
      warmest[k] = std::fmax(warmest[k], theta[k * cells + i]);
  }
  for (std::size_t k = rows - 1; k-- > 0;) {
    if (warmest[k] >= level && warmest[k + 1] < level) {
      const double part = (warmest[k] - level) / (warmest[k] - warmest[k + 1]);
      return (static_cast<double>(k) + 0.5 + part) * spacing;
    }
  }
  return 0;
}

void write_truth(const std::string& path, const Truth& truth) {
  H5Writer file(path);
  file.attribute("/", "Conventions", "CF-1.8");
  file.attribute("/", "title", "Rising warm bubbles on a fine grid, averaged to 40 by 30 cells");
  file.attribute("/", "layout_version", std::int64_t{1});
  file.attribute("/", "cells_x", static_cast<std::int64_t>(truth.cells));
  file.attribute("/", "training", static_cast<std::int64_t>(truth.training));
  file.attribute("/", "interval_s", kept_interval);
  std::vector<double> values;
  for (const auto& trajectory : truth.states) {
    for (const SlowState& state : trajectory)
      values.insert(values.end(), state.begin(), state.end());
  }
  file.write("states",
             {truth.states.size(), kept_times, slow_variables, slow_z, slow_x},
             values,
             {"u and w in m s-1 and theta' in K", "1", "trajectory time variable z x", ""});
  values.clear();
  for (const auto& theta : truth.final_theta)
    values.insert(values.end(), theta.begin(), theta.end());
  file.write(
      "final_theta",
      {truth.final_theta.size(), truth.cells * 3 / 4, truth.cells},
      values,
      {"theta' of the held-out bubbles at the end, on the fine grid", "K", "bubble z x", ""});
  file.commit();
}

Truth read_truth(const std::string& path) {
  const H5Reader file(path);
  Truth truth;
  file.integer("layout_version", 1, 1);
  truth.cells = static_cast<std::size_t>(file.integer("cells_x", slow_x, 4096));
  truth.training = static_cast<std::size_t>(file.integer("training", 1, 4096));
  const H5Array states = file.read("states", 5);
  const H5Array last = file.read("final_theta", 3);
  const std::uint64_t held_out = last.dimensions[0];
  const Dimensions expected{truth.training + held_out, kept_times, slow_variables, slow_z, slow_x};
  if (states.dimensions != expected || held_out == 0) {
    throw Error(path + ": data set 'states' has another shape than its attributes tell");
  }
  if (last.dimensions != Dimensions{held_out, truth.cells * 3 / 4, truth.cells}) {
    throw Error(path + ": data set 'final_theta' has another shape than its attributes tell");
  }
  const double* from = states.values.data();
  for (std::size_t t = 0; t < expected[0]; ++t) {
    truth.states.emplace_back();
    for (std::size_t time = 0; time < kept_times; ++time, from += slow_size)
      truth.states.back().emplace_back(from, from + slow_size);
  }
  const std::size_t fine = last.values.size() / held_out;
  for (std::size_t b = 0; b < held_out; ++b)
    truth.final_theta.emplace_back(last.values.data() + b * fine,
                                   last.values.data() + (b + 1) * fine);
  return truth;
}

}  // namespace supercell
