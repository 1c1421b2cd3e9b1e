#pragma once

#include "gradient.h"
#include "surrogate.h"

#include <cstdint>
#include <functional>

namespace supercell {

struct TrainingOptions {
  int epochs = 6;
  std::uint64_t seed = 1;
  double learning_rate = 0.003;  // of the first step; falls linearly to a hundredth of it
  int batch = 256;
  int hidden = 32;
  int samples = 98304;    // per epoch, drawn anew each epoch; all when there are fewer
  double noise = 0.0075;  // see Noise
  Reduction reduction = Reduction::ordered;
};

struct StepReport {
  long step;   // from 1
  long epoch;  // from 1
  double loss;
};
struct EpochReport {
  long step;
  long epoch;
  double loss;              // mean over the epoch
  double validation_error;  // see missed_change
  double seconds;           // of training, validation left out
};

struct TrainingObserver {
  std::function<void(const StepReport&)> step;
  std::function<void(const EpochReport&)> epoch;
};

// Trains a surrogate on the training trajectories: the linear path starts from the least squares
// fit, then Adam moves all weights. All that is random comes from the seed. Throws
// Error when the loss is no longer finite.
Surrogate train(const Dataset& dataset,
                const TrainingOptions& options,
                Workers& workers,
                const TrainingObserver& observer);

}  // namespace supercell
