#include "error.h"
#include "evaluation.h"
#include "trainer.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <vector>

using namespace supercell;

namespace {

Dataset simulate_all(const Experiment& experiment, int training) {
  Dataset dataset;
  dataset.experiment = experiment;
  dataset.trajectories = standard_trajectories(training);
  Workers workers(2);
  for (const Trajectory& trajectory : dataset.trajectories) {
    simulate(experiment, trajectory.bubble, workers, [&](const Solver& solver, auto snapshot) {
      dataset.states.insert(dataset.states.end(), snapshot.begin(), snapshot.end());
      dataset.total_mass.push_back(solver.total_mass());
    });
  }
  return dataset;
}

// Solved on the kept grid itself, so that it takes a second.
const Dataset& small_dataset() {
  static const Dataset dataset = [] {
    Experiment experiment;
    experiment.grid.cells_x = 32;
    experiment.grid.cells_z = 24;
    experiment.coarsening = 1;
    experiment.snapshots = 201;
    return simulate_all(experiment, 3);
  }();
  return dataset;
}

struct Outcome {
  std::vector<double> losses;
  std::vector<double> weights;
  Forecast forecast;
};

Outcome train_small(int threads, Reduction reduction, std::uint64_t seed, int epochs = 1) {
  TrainingOptions options;
  options.epochs = epochs;
  options.seed = seed;
  options.samples = 8192;
  options.reduction = reduction;
  Workers workers(threads);
  Outcome outcome;
  const TrainingObserver observer{
      [&](const StepReport& report) { outcome.losses.push_back(report.loss); },
      [](const EpochReport&) {}};
  const Surrogate surrogate = train(small_dataset(), options, workers, observer);
  const auto weights = surrogate.network.parameters();
  outcome.weights.assign(weights.begin(), weights.end());
  const std::size_t held_out = small_dataset().with_role(Role::held_out).front();
  outcome.forecast = forecast(surrogate, small_dataset(), held_out, {0, 10}, workers);
  return outcome;
}

}  // namespace

TEST_CASE("training: ordered sums give the same bits with any number of threads") {
  const Outcome one = train_small(1, Reduction::ordered, 1);
  REQUIRE(one.losses.size() == 32);
  for (const int threads : {2, 3, 4, 40}) {
    INFO(threads << " threads");
    const Outcome many = train_small(threads, Reduction::ordered, 1);
    CHECK(many.losses == one.losses);
    CHECK(many.weights == one.weights);
    CHECK(many.forecast.states == one.forecast.states);
    CHECK(many.forecast.surrogate_error == one.forecast.surrogate_error);
  }
}

TEST_CASE("training: fast sums differ in the last bits between one and two threads") {
  const Outcome one = train_small(1, Reduction::fast, 1, 3);
  const Outcome two = train_small(2, Reduction::fast, 1, 3);
  REQUIRE(one.losses.size() == two.losses.size());
  std::size_t first = 0;
  while (first < one.losses.size() && one.losses[first] == two.losses[first])
    ++first;
  INFO("first different loss at step " << first + 1);
  CHECK(first < 10);
  CHECK(one.weights != two.weights);
  double worst = 0;
  for (std::size_t i = 0; i < one.losses.size(); ++i) {
    worst = std::fmax(worst, std::fabs(two.losses[i] / one.losses[i] - 1.0));
  }
  INFO("largest relative difference of a loss " << worst);
  CHECK(worst < 1e-6);
  CHECK(worst > 0);
}

TEST_CASE("training: fast sums are those of each run again with the same number of threads") {
  CHECK(train_small(2, Reduction::fast, 1).weights == train_small(2, Reduction::fast, 1).weights);
}

TEST_CASE("training: a seed gives the same bits again, another seed others") {
  const Outcome first = train_small(1, Reduction::ordered, 5);
  const Outcome again = train_small(1, Reduction::ordered, 5);
  const Outcome other = train_small(1, Reduction::ordered, 6);
  CHECK(first.losses == again.losses);
  CHECK(first.weights == again.weights);
  CHECK(first.losses[0] != other.losses[0]);
  CHECK(first.weights != other.weights);
}

TEST_CASE("training: more threads than samples in a batch do no harm") {
  TrainingOptions options;
  options.epochs = 1;
  options.samples = 64;
  options.batch = 7;
  Workers workers(20);
  for (const Reduction reduction : {Reduction::ordered, Reduction::fast}) {
    options.reduction = reduction;
    long steps = 0;
    train(small_dataset(),
          options,
          workers,
          {[&](const StepReport& report) { steps = report.step; }, [](const EpochReport&) {}});
    CHECK(steps == 9);
  }
}

TEST_CASE("training: the loss falls and a loss that is not finite is an error") {
  const Outcome outcome = train_small(1, Reduction::ordered, 1, 4);
  const auto mean = [&](std::size_t first) {
    double sum = 0;
    for (std::size_t i = first; i < first + 32; ++i)
      sum += outcome.losses[i];
    return sum / 32;
  };
  CHECK(mean(96) < 0.95 * mean(0));

  TrainingOptions options;
  options.learning_rate = 1e200;
  options.samples = 8192;
  Workers workers(1);
  const TrainingObserver silent{[](const StepReport&) {}, [](const EpochReport&) {}};
  CHECK_THROWS_AS(train(small_dataset(), options, workers, silent), Error);
}

TEST_CASE("training: the surrogate beats persistence by a factor of two, even with half the data") {
  Experiment experiment;
  experiment.snapshots = 151;
  const Dataset dataset = simulate_all(experiment, 3);
  Workers workers(2);
  TrainingOptions options;
  options.epochs = 2;
  const TrainingObserver silent{[](const StepReport&) {}, [](const EpochReport&) {}};
  const Surrogate surrogate = train(dataset, options, workers, silent);
  const std::size_t held_out = dataset.with_role(Role::held_out).front();
  // From the initial state, and later when the bubble moves.
  for (const std::size_t start : {0, 50, 140}) {
    const Forecast result = forecast(surrogate, dataset, held_out, {start, start + 10}, workers);
    INFO("start " << start << ": one step " << result.surrogate_error[0] << " ("
                  << result.persistence_error[0] << "), ten steps " << result.surrogate_error[9]
                  << " (" << result.persistence_error[9] << ")");
    CHECK(2 * result.surrogate_error[0] < result.persistence_error[0]);
    CHECK(2 * result.surrogate_error[9] < result.persistence_error[9]);
  }
}
