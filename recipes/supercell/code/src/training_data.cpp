#include "training_data.h"

#include "error.h"

#include <algorithm>
#include <cmath>

namespace supercell {
namespace {

double root_mean(double sum, std::size_t count) {
  const double value = std::sqrt(sum / static_cast<double>(count));
  // A quantity that never departs from 0 tells nothing, whatever it is divided by.
  return value > 0 ? value : 1.0;
}

}  // namespace

std::array<double, feature_count> Normalisation::feature_factor() const {
  std::array<double, feature_count> factor{};
  for (std::size_t f = 0; f < feature_count; ++f)
    factor[f] = 1.0 / feature[f];
  return factor;
}

TrainingData::TrainingData(const Dataset& dataset, Role role)
    : states_(dataset.experiment, dataset.with_role(role).size() * dataset.experiment.snapshots) {
  std::size_t index = 0;
  for (const std::size_t trajectory : dataset.with_role(role)) {
    for (std::size_t time = 0; time < dataset.experiment.snapshots; ++time) {
      if (time + 1 < dataset.experiment.snapshots) pairs_.push_back(index);
      states_.set(index++, dataset.state(trajectory, time));
    }
  }
  // Samples are counted with 32 bits.
  if (size() > (std::size_t{1} << 31)) throw Error("the data set has more than 2^31 samples");
}

void TrainingData::load(std::size_t index,
                        const Normalisation& normalisation,
                        BlockBuffers& block,
                        std::size_t lane) const {
  const std::size_t now = pairs_[index / states_.cells()];
  const std::size_t cell = index % states_.cells();
  states_.gather(now, cell, block.patches, lane);
  for (std::size_t v = 0; v < variable_count; ++v) {
    block.target[v * block_size + lane] =
        (states_.value(now + 1, v, cell) - states_.value(now, v, cell)) / normalisation.change[v];
  }
}

Normalisation TrainingData::normalisation(double noise) const {
  Normalisation ones;
  ones.feature.fill(1.0);
  ones.change.fill(1.0);
  Normalisation sums{};
  // Every seventh sample is enough, and meets all columns and rows of the grid in turn.
  constexpr std::size_t stride = 7;
  BlockBuffers block(1);
  std::size_t lane = 0;
  std::size_t count = 0;
  const auto add = [&] {
    expand(block.patches, ones.feature, block.features);
    for (std::size_t f = 0; f < feature_count; ++f) {
      for (std::size_t i = 0; i < lane; ++i) {
        const double value = block.features[f * block_size + i];
        sums.feature[f] += value * value;
      }
    }
    count += lane;
    lane = 0;
  };
  for (std::size_t index = 0; index < size(); index += stride) {
    load(index, ones, block, lane);
    for (std::size_t v = 0; v < variable_count; ++v) {
      const double change = block.target[v * block_size + lane];
      const double value =
          states_.value(pairs_[index / states_.cells()], v, index % states_.cells());
      sums.change[v] += change * change;
      sums.state[v] += value * value;
    }
    if (++lane == block_size) add();
  }
  add();
  for (double& value : sums.change)
    value = root_mean(value, count);
  for (double& value : sums.state)
    value = root_mean(value, count);
  for (std::size_t f = 0; f < feature_count; ++f) {
    double noise_square = 0;
    if (f < variable_count * stencil_modes && mode(f % stencil_modes).fine) {
      const double amplitude = noise * sums.state[f / stencil_modes];
      noise_square = amplitude * amplitude * mode(f % stencil_modes).gain;
    }
    sums.feature[f] = root_mean(sums.feature[f] + noise_square * static_cast<double>(count), count);
  }
  // The constant must stay 1, and the height is between -1 and 1 as it is.
  sums.feature[feature_count - 2] = sums.feature[feature_count - 1] = 1.0;
  return sums;
}

}  // namespace supercell
