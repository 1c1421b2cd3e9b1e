#include "command_line.h"
#include "error.h"
#include "evaluation.h"
#include "metrics.h"
#include "surrogate.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>

namespace supercell {
namespace {

struct Options {
  std::string data;
  std::string weights;
  int threads = 1;
  int steps = 20;
  int repeats = 5;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line(
      "supercell-time",
      "Times the surrogate against the simulation of the held-out bubble over the same "
      "simulated interval, both with the same threads.");
  line.required("data", options.data, "file of supercell-simulate");
  line.required("weights", options.weights, "weights.h5 of supercell-train");
  line.integer("threads", options.threads, 1, "threads", 256);
  line.integer("steps", options.steps, 1, "snapshots ahead; fewer if the data end");
  line.integer("repeats", options.repeats, 1, "repeats, of which the median is told", 10000);
  return line.parse(count, words);
}

double seconds(const std::function<void()>& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
  return wall.count();
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

int run(const Options& options) {
  open_metrics();
  const Dataset dataset = read_dataset(options.data);
  const Surrogate surrogate = read_weights(options.weights, dataset.experiment);
  const std::size_t held_out = dataset.with_role(Role::held_out).front();
  const std::size_t steps =
      std::min(static_cast<std::size_t>(options.steps), dataset.experiment.snapshots - 1);
  Experiment experiment = dataset.experiment;
  experiment.snapshots = steps + 1;
  Workers workers(options.threads);
  Rollout rollout(surrogate, workers);

  std::vector<double> simulated;
  std::vector<double> predicted(experiment.snapshot_size());
  std::vector<double> simulation_times;
  std::vector<double> surrogate_times;
  // In turn, so that a neighbour on the machine who comes or goes disturbs both alike.
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    simulation_times.push_back(seconds([&] {
      const auto keep = [&](const Solver&, std::vector<double> snapshot) {
        simulated = std::move(snapshot);
      };
      simulate(experiment, dataset.trajectories[held_out].bubble, workers, keep);
    }));
    surrogate_times.push_back(seconds([&] {
      std::copy_n(dataset.state(held_out, 0), predicted.size(), predicted.begin());
      for (std::size_t step = 0; step < steps; ++step) {
        rollout.step(predicted.data(), predicted.data());
      }
    }));
  }
  const std::size_t cells = predicted.size() / variable_count;
  const auto& scale = surrogate.normalisation.state;
  const double mismatch =
      relative_error(simulated.data(), dataset.state(held_out, steps), cells, scale);
  if (!(mismatch < 1e-9)) {
    throw Error(options.data + ": the simulation does not give these data again",
                "they were made by another version, so the times would not compare");
  }
  const double simulation = median(simulation_times);
  const double forecast = median(surrogate_times);
  const double speedup = simulation / forecast;
  report_metrics(
      {{"simulation_time", simulation}, {"surrogate_time", forecast}, {"speedup", speedup}});
  std::printf(
      "%.0f s of flow: simulation %.4f s, surrogate %.4f s (median of %d, %d threads); the "
      "surrogate is %.2f times as fast%s, its error is %.2e\n",
      static_cast<double>(steps) * experiment.interval,
      simulation,
      forecast,
      options.repeats,
      options.threads,
      speedup,
      speedup > 1 ? "" : ", that is not faster",
      relative_error(predicted.data(), simulated.data(), cells, scale));
  return 0;
}

}  // namespace
}  // namespace supercell

int main(int count, char** words) {
  return supercell::guarded_main("supercell-time", [&] {
    supercell::Options options;
    return supercell::read_options(count, words, options) ? supercell::run(options) : 0;
  });
}
