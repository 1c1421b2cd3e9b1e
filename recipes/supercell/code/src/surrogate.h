#pragma once

#include "h5_file.h"
#include "network.h"
#include "training_data.h"
#include "workers.h"

#include <string>
#include <vector>

namespace supercell {

// A trained network with all that it needs to advance states of one experiment by one interval.
struct Surrogate {
  Experiment experiment;
  Network network;
  Normalisation normalisation;
};

// Advances states; keeps the memory for it. References must outlive the object.
class Rollout {
 public:
  Rollout(const Surrogate& surrogate, Workers& workers);

  // `next` (same size) = `state` ([variable][z][x]) one interval later. May be the same memory.
  void step(const double* state, double* next);

 private:
  void advance_rows(double* next, int rank);

  const Surrogate& surrogate_;
  Workers& workers_;
  std::array<double, feature_count> factor_;
  PaddedStates padded_;
  std::vector<BlockBuffers> blocks_;
};

void write_weights(H5Writer& file, const Surrogate& surrogate, std::uint64_t seed);
// Throws Error when the file does not hold such a network, or one for another experiment.
Surrogate read_weights(const std::string& path, const Experiment& experiment);

}  // namespace supercell
