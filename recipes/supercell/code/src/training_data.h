#pragma once

#include "dataset.h"
#include "network.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace supercell {

// What makes the numbers that the network sees and gives comparable, from training data only.
struct Normalisation {
  std::array<double, feature_count> feature;  // root mean square of each feature
  std::array<double, variable_count> change;  // root mean square of the change in one interval
  std::array<double, variable_count> state;   // root mean square of the state, for errors

  std::array<double, feature_count> feature_factor() const;
};

// Pairs of a patch and the change of its centre until the next snapshot.
class TrainingData {
 public:
  // The pairs of all trajectories of `role`.
  TrainingData(const Dataset& dataset, Role role);

  std::size_t size() const { return pairs_.size() * states_.cells(); }
  // Puts sample `index` into `lane`: patches and, divided by the normalisation, target.
  void load(std::size_t index,
            const Normalisation& normalisation,
            BlockBuffers& block,
            std::size_t lane) const;
  // Of the data with the noise of BatchGradient on the fine modes.
  Normalisation normalisation(double noise) const;

 private:
  PaddedStates states_;
  std::vector<std::size_t> pairs_;  // states that have a next one
};

}  // namespace supercell
