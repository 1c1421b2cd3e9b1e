#include "trainer.h"

#include "adam.h"
#include "error.h"
#include "random.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <numeric>
#include <string>

namespace kessler {
namespace {

// Streams of the seed, besides that of the first weights.
constexpr std::uint64_t order_stream = 2;
constexpr std::uint64_t label_stream = 3;

using Order = std::vector<std::uint32_t>;

Order identity(std::size_t size) {
  Order order(size);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

// Fisher and Yates.
void shuffle(Order& order, Random& random) {
  for (std::size_t i = order.size(); i > 1; --i)
    std::swap(order[i - 1], order[random.below(static_cast<std::uint32_t>(i))]);
}

Scaling scaling_of(const Samples& samples, std::size_t count) {
  Scaling scaling;
  scaling.time_step = samples.time_step;
  std::array<double, input_count> squares{};
  const auto values_of = [&samples](std::size_t i) {
    const Cell cell = samples.before(i);
    return std::array<double, input_count>{
        cell.temperature, cell.dry, cell.vapour, cell.cloud, cell.rain};
  };
  const auto total = static_cast<double>(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = values_of(i);
    for (std::size_t v = 0; v < input_count; ++v)
      scaling.mean[v] += values[v] / total;
  }
  double active = 0;
  Change change_squares{};
  for (std::size_t i = 0; i < count; ++i) {
    const auto values = values_of(i);
    for (std::size_t v = 0; v < input_count; ++v)
      squares[v] += (values[v] - scaling.mean[v]) * (values[v] - scaling.mean[v]);
    if (!samples.is_active(i)) continue;
    active += 1;
    const Change change = samples.change(i);
    for (std::size_t o = 0; o < output_count; ++o)
      change_squares[o] += change[o] * change[o];
  }
  for (std::size_t v = 0; v < input_count; ++v) {
    scaling.spread[v] = std::sqrt(squares[v] / total);
    if (!(scaling.spread[v] > 0)) {
      throw Error("input " + std::to_string(v) + " is the same in all training samples",
                  "the network needs samples that vary");
    }
  }
  for (std::size_t o = 0; o < output_count; ++o) {
    scaling.change[o] = std::sqrt(change_squares[o] / std::max(active, 1.0));
    if (!(scaling.change[o] > 0)) {
      throw Error(std::string("the ") + output_names[o] + " changes in no training sample",
                  "are 'outputs' the states after the step?");
    }
  }
  return scaling;
}

// Cholesky's factorisation of the normal equations, then both substitutions.
void solve(std::vector<double>& matrix, std::vector<double>& right, std::size_t size) {
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t row = column; row < size; ++row) {
      double sum = matrix[row * size + column];
      for (std::size_t k = 0; k < column; ++k)
        sum -= matrix[row * size + k] * matrix[column * size + k];
      matrix[row * size + column] =
          row == column ? std::sqrt(sum) : sum / matrix[column * size + column];
    }
  }
  for (std::size_t o = 0; o < output_count; ++o) {
    const auto at = [&](std::size_t i) -> double& { return right[i * output_count + o]; };
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k < i; ++k)
        at(i) -= matrix[i * size + k] * at(k);
      at(i) /= matrix[i * size + i];
    }
    for (std::size_t i = size; i-- > 0;) {
      for (std::size_t k = i + 1; k < size; ++k)
        at(i) -= matrix[k * size + i] * at(k);
      at(i) /= matrix[i * size + i];
    }
  }
}

// Scaled inputs and targets of a range of samples.
struct Table {
  std::vector<double> inputs;
  std::vector<double> targets;

  Table(const Samples& samples, const Scaling& scaling, std::size_t first, std::size_t end) {
    for (std::size_t i = first; i < end; ++i) {
      const auto input = scaling.scaled(samples.before(i));
      inputs.insert(inputs.end(), input.begin(), input.end());
      const Change change = samples.change(i);
      for (std::size_t o = 0; o < output_count; ++o)
        targets.push_back(change[o] / scaling.change[o]);
    }
  }
  std::size_t size() const { return targets.size() / output_count; }
  const double* input(std::size_t i) const { return inputs.data() + i * input_count; }
  const double* target(std::size_t i) const { return targets.data() + i * output_count; }
};

void shuffle_targets(Table& table, std::uint64_t seed) {
  Order order = identity(table.size());
  Random random(seed, label_stream);
  shuffle(order, random);
  const std::vector<double> targets = table.targets;
  for (std::size_t i = 0; i < order.size(); ++i)
    std::copy_n(targets.data() + order[i] * output_count,
                output_count,
                table.targets.data() + i * output_count);
}

LinearModel least_squares(const Table& table) {
  constexpr std::size_t size = input_count + 1;
  std::vector<double> matrix(size * size);
  std::vector<double> right(size * output_count);
  for (std::size_t i = 0; i < table.size(); ++i) {
    std::array<double, size> row{};
    std::copy_n(table.input(i), input_count, row.begin());
    row[input_count] = 1;
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b <= a; ++b)
        matrix[a * size + b] += row[a] * row[b];
      for (std::size_t o = 0; o < output_count; ++o)
        right[a * output_count + o] += row[a] * table.target(i)[o];
    }
  }
  // The inputs of some flows are nearly dependent.
  for (std::size_t a = 0; a < size; ++a)
    matrix[a * size + a] *= 1.0 + 1e-10;
  solve(matrix, right, size);
  LinearModel model;
  std::copy(right.begin(), right.end(), model.weights.begin());
  return model;
}

double mean_loss(const Network& network, const Table& table) {
  double sum = 0;
  for (std::size_t i = 0; i < table.size(); ++i) {
    Change output{};
    network.apply(table.input(i), output.data());
    for (std::size_t o = 0; o < output_count; ++o)
      sum += (output[o] - table.target(i)[o]) * (output[o] - table.target(i)[o]);
  }
  return sum / static_cast<double>(output_count * table.size());
}

}  // namespace

Surrogate train(const Samples& samples,
                const TrainingOptions& options,
                const TrainingObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const Split split(samples.size());
  Surrogate surrogate{
      scaling_of(samples, split.validation), Network(static_cast<std::size_t>(options.hidden)), {}};
  Table table(samples, surrogate.scaling, 0, split.validation);
  const Table validation(samples, surrogate.scaling, split.validation, split.held_out);
  surrogate.linear = least_squares(table);
  if (options.shuffled_labels) shuffle_targets(table, options.seed);

  Network& network = surrogate.network;
  network.draw(options.seed);
  Adam adam(network.parameters().size());
  Random random(options.seed, order_stream);
  Order order = identity(table.size());
  std::vector<double> gradient(network.parameters().size());
  const std::size_t batch = std::min(static_cast<std::size_t>(options.batch), table.size());
  const std::size_t epoch_steps = table.size() / batch;  // the rest waits for the next order
  const auto steps = static_cast<double>(epoch_steps * static_cast<std::size_t>(options.epochs));
  long step = 0;
  for (long epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto start = Clock::now();
    shuffle(order, random);
    double sum = 0;
    for (std::size_t b = 0; b < epoch_steps; ++b) {
      std::fill(gradient.begin(), gradient.end(), 0.0);
      double loss = 0;
      for (std::size_t i = b * batch; i < (b + 1) * batch; ++i)
        loss += network.add_gradient(table.input(order[i]), table.target(order[i]), gradient);
      loss /= static_cast<double>(batch);
      for (double& value : gradient)
        value /= static_cast<double>(batch);
      const double done = static_cast<double>(step) / steps;
      const double rate = 0.5 * options.learning_rate * (1.0 + std::cos(std::numbers::pi * done));
      ++step;
      observer.step({step, epoch, loss});
      if (!std::isfinite(loss)) {
        throw Error("the loss is not finite at step " + std::to_string(step) + " (epoch " +
                        std::to_string(epoch) + ")",
                    "lower the learning rate");
      }
      adam.step(network.parameters(), gradient, rate);
      sum += loss;
    }
    const std::chrono::duration<double> wall = Clock::now() - start;
    observer.epoch({step,
                    epoch,
                    sum / static_cast<double>(epoch_steps),
                    mean_loss(network, validation),
                    wall.count()});
  }
  return surrogate;
}

Scores score(const Samples& samples, std::size_t first, std::size_t end, const Model& model) {
  Scores scores;
  Change errors{};
  Change changes{};
  Change false_squares{};
  double created = 0;
  double moved = 0;
  double heat_created = 0;
  double heat_moved = 0;
  for (std::size_t i = first; i < end; ++i) {
    const Cell cell = samples.before(i);
    const Change predicted = model(cell);
    if (!samples.is_active(i)) {
      ++scores.inactive;
      for (std::size_t o = 0; o < output_count; ++o)
        false_squares[o] += predicted[o] * predicted[o];
      continue;
    }
    ++scores.active;
    const Change change = samples.change(i);
    for (std::size_t o = 0; o < output_count; ++o) {
      errors[o] += (predicted[o] - change[o]) * (predicted[o] - change[o]);
      changes[o] += change[o] * change[o];
    }
    const double water = predicted[1] + predicted[2] + predicted[3];
    created += water * water;
    moved +=
        predicted[1] * predicted[1] + predicted[2] * predicted[2] + predicted[3] * predicted[3];
    const double latent = air::heat_of_vaporisation * predicted[1];
    const double heat = cell.dry * air::heat_capacity * predicted[0] + latent;
    heat_created += heat * heat;
    heat_moved += latent * latent;
  }
  const auto active = static_cast<double>(std::max<std::size_t>(scores.active, 1));
  const auto inactive = static_cast<double>(std::max<std::size_t>(scores.inactive, 1));
  for (std::size_t o = 0; o < output_count; ++o) {
    scores.skill[o] = 1.0 - errors[o] / changes[o];
    scores.false_activity[o] = std::sqrt(false_squares[o] / inactive / (changes[o] / active));
  }
  scores.water_error = std::sqrt(created / moved);
  scores.enthalpy_error = std::sqrt(heat_created / heat_moved);
  return scores;
}

}  // namespace kessler
