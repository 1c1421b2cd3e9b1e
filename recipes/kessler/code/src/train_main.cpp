#include "command_line.h"
#include "error.h"
#include "h5_file.h"
#include "metrics.h"
#include "trainer.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>

namespace kessler {
namespace {

struct Options {
  std::string data;
  std::string output;
  std::string labels = "own";
  TrainingOptions training;
};

bool read_options(int count, const char* const* words, Options& options) {
  TrainingOptions& training = options.training;
  CommandLine line("kessler-train",
                   "Trains the surrogate on the changes of cells, and scores it on held-out cells "
                   "against persistence and least squares.");
  line.required("data", options.data, "file of kessler-data");
  line.required("output", options.output, "folder for weights.h5 and predictions.h5");
  line.integer("hidden", training.hidden, 1, "hidden units", 65536);
  line.integer("epochs", training.epochs, 1, "passes over the training samples");
  line.integer("batch", training.batch, 1, "samples per step");
  line.positive("learning-rate", training.learning_rate, "of the first step of Adam");
  line.choice("labels", options.labels, {"own", "shuffled"}, "shuffled: a check for leaks");
  line.seed("seed", training.seed, "of first weights and order");
  if (!line.parse(count, words)) return false;
  training.shuffled_labels = options.labels == "shuffled";
  return true;
}

TrainingObserver observe() {
  const auto step = [](const StepReport& report) {
    report_metrics(report.step, report.epoch, {{"loss", report.loss}});
  };
  const auto epoch = [](const EpochReport& report) {
    report_metrics(report.step,
                   report.epoch,
                   {{"validation_loss", report.validation_loss}, {"epoch_time", report.seconds}});
    std::printf("epoch %ld: loss %.6g, validation loss %.6g, %.3f s\n",
                report.epoch,
                report.loss,
                report.validation_loss,
                report.seconds);
    std::fflush(stdout);
  };
  return {step, epoch};
}

void report(const Scores& network, const Scores& linear) {
  double lowest = network.skill[0];
  double margin = network.skill[0] - linear.skill[0];
  for (std::size_t o = 0; o < output_count; ++o) {
    const std::string name = output_names[o];
    report_metrics({{"skill_" + name, network.skill[o]},
                    {"least_squares_skill_" + name, linear.skill[o]},
                    {"false_activity_" + name, network.false_activity[o]}});
    lowest = std::min(lowest, network.skill[o]);
    margin = std::min(margin, network.skill[o] - linear.skill[o]);
  }
  report_metrics({{"skill", lowest},
                  {"margin", margin},
                  {"water_error", network.water_error},
                  {"enthalpy_error", network.enthalpy_error}});
  std::printf("held out: %zu active cells, %zu inactive cells\n", network.active, network.inactive);
  std::printf("%-12s %12s %14s %15s\n", "change of", "skill", "least squares", "false activity");
  for (std::size_t o = 0; o < output_count; ++o) {
    std::printf("%-12s %12.4f %14.4f %15.4f\n",
                output_names[o],
                network.skill[o],
                linear.skill[o],
                network.false_activity[o]);
  }
  std::printf("lowest skill %.4f, lowest margin over least squares %.4f\n", lowest, margin);
  std::printf("created without correction, relative: water %.3g, enthalpy %.3g\n",
              network.water_error,
              network.enthalpy_error);
}

void write_predictions(const std::string& path,
                       const Samples& samples,
                       const Split& split,
                       const Surrogate& surrogate) {
  std::vector<double> predicted;
  std::vector<double> truth;
  for (std::size_t i = split.held_out; i < split.end; ++i) {
    const Change change = surrogate.network_change(samples.before(i));
    predicted.insert(predicted.end(), change.begin(), change.end());
    const Change true_change = samples.change(i);
    truth.insert(truth.end(), true_change.begin(), true_change.end());
  }
  H5Writer file(path);
  const std::vector<Dimension> dimensions = {{"held_out_samples", split.end - split.held_out},
                                             {"num_vars_out", output_count}};
  const std::string units = "K, kg m-3, kg m-3, kg m-3";
  file.write("predicted_change", dimensions, predicted, units);
  file.write("true_change", dimensions, truth, units);
  file.commit();
}

int run(const Options& options) {
  const std::filesystem::path folder = options.output;
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(options.output + ": cannot be created: " + failure.message());
  open_metrics();
  const Samples samples = read_samples(options.data, static_cast<std::size_t>(-1) / 2);
  const Split split(samples.size());
  if (split.validation < 100) {
    throw Error(options.data + ": has " + std::to_string(samples.size()) +
                " samples, expected at least 143");
  }
  const Surrogate surrogate = train(samples, options.training, observe());
  std::printf("network of %zu parameters\n", surrogate.network.parameters().size());
  const auto model = [&surrogate](const Cell& cell) { return surrogate.network_change(cell); };
  const auto linear = [&surrogate](const Cell& cell) { return surrogate.linear_change(cell); };
  const Scores scores = score(samples, split.held_out, split.end, model);
  if (scores.active == 0) throw Error(options.data + ": no held-out cell is active");
  report(scores, score(samples, split.held_out, split.end, linear));
  write_surrogate((folder / "weights.h5").string(), surrogate);
  write_predictions((folder / "predictions.h5").string(), samples, split, surrogate);
  return 0;
}

}  // namespace
}  // namespace kessler

int main(int count, char** words) {
  return kessler::guarded_main("kessler-train", [&] {
    kessler::Options options;
    return kessler::read_options(count, words, options) ? kessler::run(options) : 0;
  });
}
