#pragma once

#include "surrogate.h"

#include <cstdint>
#include <functional>

namespace kessler {

// Consecutive samples: 70 % train, 10 % validate, 20 % are held out. Samples of a flow are in the
// order of time, so the held-out part is later than the others.
struct Split {
  explicit Split(std::size_t samples)
      : validation(samples * 7 / 10), held_out(samples * 8 / 10), end(samples) {}
  std::size_t validation;  // first sample of this part
  std::size_t held_out;
  std::size_t end;
};

struct TrainingOptions {
  int hidden = 10;
  int epochs = 100;
  int batch = 256;
  double learning_rate = 0.01;  // of the first step; falls to zero on a half cosine
  std::uint64_t seed = 1;
  // Gives each training sample the change of another one. No score may survive that.
  bool shuffled_labels = false;
};

struct StepReport {
  long step;   // from 1
  long epoch;  // from 1
  double loss;
};
struct EpochReport {
  long step;
  long epoch;
  double loss;             // mean over the epoch
  double validation_loss;  // of the validation part, in the same unit
  double seconds;          // without validation
};
struct TrainingObserver {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
};

// Fits least squares, then trains the network with Adam on the scaled changes. Throws Error if the
// loss is not finite, and names the step.
Surrogate train(const Samples& samples,
                const TrainingOptions& options,
                const TrainingObserver& observer);

// How a model does on held-out samples. Skill is 1 - MSE / MSE of "nothing changes".
struct Scores {
  Change skill{};             // on active samples
  Change false_activity{};    // RMS prediction on inactive samples over RMS change on active ones
  double water_error = 0;     // RMS of the water that a prediction creates, over RMS of its changes
  double enthalpy_error = 0;  // RMS of the enthalpy that it creates, over that of its latent heat
  std::size_t active = 0;
  std::size_t inactive = 0;
};

using Model = std::function<Change(const Cell&)>;

Scores score(const Samples& samples, std::size_t first, std::size_t end, const Model& model);

}  // namespace kessler
