#include "command_line.h"
#include "error.h"
#include "evaluation.h"
#include "metrics.h"
#include "trainer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace supercell {
namespace {

struct Options {
  std::string data;
  std::string output;
  std::string reduction = "ordered";
  int threads = 1;
  int rollout = 50;
  TrainingOptions training;
};

bool read_options(int count, const char* const* words, Options& options) {
  TrainingOptions& training = options.training;
  CommandLine line(
      "supercell-train",
      "Trains a small network to advance the simulated flow by one snapshot, and lets it "
      "forecast the held-out bubble.");
  line.required("data", options.data, "file of supercell-simulate");
  line.required("output", options.output, "folder for weights.h5 and predictions.h5");
  line.integer("epochs", training.epochs, 1, "epochs", 1000000);
  line.seed("seed", training.seed, "seed of weights and order");
  line.positive("learning-rate", training.learning_rate, "first learning rate of Adam");
  line.integer("batch", training.batch, 1, "samples per step");
  line.integer("hidden", training.hidden, 1, "hidden units", 65536);
  line.integer("samples", training.samples, 1, "samples drawn per epoch");
  line.positive("noise", training.noise, "noise on the fine modes that the network sees, relative");
  line.integer("rollout", options.rollout, 10, "steps of the forecast; fewer if the data end");
  line.integer("threads", options.threads, 1, "threads", 256);
  line.choice("reduction", options.reduction, {"ordered", "fast"}, "how gradients are summed");
  if (!line.parse(count, words)) return false;
  training.reduction = options.reduction == "fast" ? Reduction::fast : Reduction::ordered;
  return true;
}

TrainingObserver observe() {
  const auto step = [](const StepReport& report) {
    report_metrics(report.step, report.epoch, {{"loss", report.loss}});
  };
  const auto epoch = [](const EpochReport& report) {
    report_metrics(report.step,
                   report.epoch,
                   {{"validation_error", report.validation_error}, {"epoch_time", report.seconds}});
    std::printf("epoch %ld: loss %.6g, validation error %.4g, %.2f s\n",
                report.epoch,
                report.loss,
                report.validation_error,
                report.seconds);
    std::fflush(stdout);
  };
  return {step, epoch};
}

void report(const Forecast& forecast) {
  report_metrics({{"one_step_error", forecast.surrogate_error[0]},
                  {"ten_step_error", forecast.surrogate_error[9]},
                  {"one_step_persistence", forecast.persistence_error[0]},
                  {"ten_step_persistence", forecast.persistence_error[9]}});
  std::printf("held-out bubble, relative error of the surrogate (of persistence):\n");
  const std::size_t steps = forecast.surrogate_error.size();
  for (const std::size_t step : {std::size_t{1}, std::size_t{10}, steps}) {
    std::printf("  %3zu steps ahead: %.3e (%.3e)\n",
                step,
                forecast.surrogate_error[step - 1],
                forecast.persistence_error[step - 1]);
  }
}

int run(const Options& options) {
  std::error_code failure;
  const std::filesystem::path folder = options.output;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(options.output + ": cannot be made: " + failure.message());
  H5Writer weights((folder / "weights.h5").string());
  H5Writer predictions((folder / "predictions.h5").string());
  open_metrics();
  const Dataset dataset = read_dataset(options.data);
  Workers workers(options.threads);

  const Surrogate surrogate = train(dataset, options.training, workers, observe());
  const std::size_t held_out = dataset.with_role(Role::held_out).front();
  const std::size_t last =
      std::min(static_cast<std::size_t>(options.rollout), dataset.experiment.snapshots - 1);
  const Forecast result = forecast(surrogate, dataset, held_out, {0, last}, workers);
  write_weights(weights, surrogate, options.training.seed);
  write_forecast(predictions, dataset, held_out, result);
  weights.commit();
  predictions.commit();
  report(result);
  return 0;
}

}  // namespace
}  // namespace supercell

int main(int count, char** words) {
  return supercell::guarded_main("supercell-train", [&] {
    supercell::Options options;
    return supercell::read_options(count, words, options) ? supercell::run(options) : 0;
  });
}
