#include "trainer.h"

#include "adam.h"
#include "error.h"
#include "evaluation.h"
#include "random.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <string>

namespace supercell {
namespace {

// A fresh random choice of `count` of the samples at the front of `order`.
void draw(std::vector<std::uint32_t>& order, std::size_t count, Random& random) {
  for (std::size_t i = 0; i < count; ++i) {
    const auto rest = static_cast<std::uint32_t>(order.size() - i);
    std::swap(order[i], order[i + random.below(rest)]);
  }
}

double falling_rate(double first, std::size_t step, std::size_t steps) {
  constexpr double last_part = 0.01;
  const double done = static_cast<double>(step) / static_cast<double>(steps);
  return first * (1.0 - (1.0 - last_part) * done);
}

}  // namespace

Surrogate train(const Dataset& dataset,
                const TrainingOptions& options,
                Workers& workers,
                const TrainingObserver& observer) {
  using Clock = std::chrono::steady_clock;
  const TrainingData data(dataset, Role::training);
  Surrogate surrogate{dataset.experiment,
                      Network(static_cast<std::size_t>(options.hidden), options.seed),
                      data.normalisation(options.noise)};
  Network& network = surrogate.network;
  BatchGradient gradient(data,
                         surrogate.normalisation,
                         network,
                         {options.noise, options.seed},
                         options.reduction,
                         workers);
  Adam adam(network.parameters().size());
  Random random(options.seed, 2);
  std::vector<std::uint32_t> order(data.size());
  std::iota(order.begin(), order.end(), 0U);

  const std::size_t samples = std::min(static_cast<std::size_t>(options.samples), order.size());
  const std::size_t batch = std::min(static_cast<std::size_t>(options.batch), samples);
  const std::size_t epoch_steps = samples / batch;  // what is left over waits for the next draw
  const std::size_t steps = epoch_steps * static_cast<std::size_t>(options.epochs);
  std::size_t step = 0;
  draw(order, samples, random);
  const std::vector<double> linear = gradient.best_linear_path({order.data(), samples});
  std::ranges::copy(linear, network.parameters().subspan(network.linear_offset()).begin());
  for (long epoch = 1; epoch <= options.epochs; ++epoch) {
    const auto start = Clock::now();
    draw(order, samples, random);
    double sum = 0;
    for (std::size_t b = 0; b < epoch_steps; ++b) {
      const double loss = gradient.evaluate({order.data() + b * batch, batch});
      adam.step(
          network.parameters(), gradient.value(), falling_rate(options.learning_rate, step, steps));
      ++step;
      sum += loss;
      observer.step({static_cast<long>(step), epoch, loss});
      if (!std::isfinite(loss)) {
        throw Error("the loss is not finite at step " + std::to_string(step),
                    "lower the learning rate");
      }
    }
    const std::chrono::duration<double> wall = Clock::now() - start;
    observer.epoch({static_cast<long>(step),
                    epoch,
                    sum / static_cast<double>(epoch_steps),
                    missed_change(surrogate, dataset, Role::validation, workers),
                    wall.count()});
  }
  return surrogate;
}

}  // namespace supercell
