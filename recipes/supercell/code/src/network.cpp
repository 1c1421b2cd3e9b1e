#include "network.h"

#include "clones.h"
#include "matrix.h"
#include "random.h"

#include <algorithm>
#include <cmath>

namespace supercell {
namespace {

SUPERCELL_CLONES void activate(std::size_t count, double* units, double* slope) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < count; ++i) {
    const double shrink = 1.0 / std::sqrt(1.0 + units[i] * units[i]);
    units[i] *= shrink;
    slope[i] = shrink * shrink * shrink;
  }
}

}  // namespace

Network::Network(std::size_t hidden)
    : hidden_(hidden), parameters_(inputs * hidden + hidden * outputs + inputs * outputs) {}

Network::Network(std::size_t hidden, std::uint64_t seed) : Network(hidden) {
  Random random(seed, 1);
  // The variance of a uniform number in [-1, 1] is 1 / 3.
  const double into = std::sqrt(3.0 / static_cast<double>(inputs));
  const double out = 0.1 * std::sqrt(3.0 / static_cast<double>(hidden));
  for (std::size_t i = 0; i < linear_offset(); ++i) {
    parameters_[i] = (i < output_offset() ? into : out) * (2.0 * random.uniform() - 1.0);
  }
}

BlockBuffers::BlockBuffers(std::size_t hidden_units)
    : hidden(hidden_units * block_size),
      slope(hidden_units * block_size),
      error(hidden_units * block_size),
      turned(std::max(hidden_units, variable_count + std::size_t{0}) * block_size) {}

void transpose(const double* block, std::size_t units, double* turned) {
  for (std::size_t unit = 0; unit < units; ++unit) {
    for (std::size_t lane = 0; lane < block_size; ++lane) {
      turned[lane * units + unit] = block[unit * block_size + lane];
    }
  }
}

void forward(const Network& network, BlockBuffers& block) {
  const std::size_t hidden = network.hidden();
  const double* weights = network.parameters().data();
  std::fill(block.hidden.begin(), block.hidden.end(), 0.0);
  block.output.fill(0.0);
  add_product({weights, 1, hidden},
              block.features.data(),
              block.hidden.data(),
              {hidden, Network::inputs, block_size});
  activate(block.hidden.size(), block.hidden.data(), block.slope.data());
  add_product({weights + network.output_offset(), 1, Network::outputs},
              block.hidden.data(),
              block.output.data(),
              {Network::outputs, hidden, block_size});
  add_product({weights + network.linear_offset(), 1, Network::outputs},
              block.features.data(),
              block.output.data(),
              {Network::outputs, Network::inputs, block_size});
}

double backward(const Network& network,
                BlockBuffers& block,
                std::size_t samples,
                std::span<double> gradient) {
  const std::size_t hidden = network.hidden();
  const double* weights = network.parameters().data();
  double sum = 0;
  for (std::size_t unit = 0; unit < Network::outputs; ++unit) {
    for (std::size_t lane = 0; lane < block_size; ++lane) {
      double& value = block.output[unit * block_size + lane];
      value = lane < samples ? value - block.target[unit * block_size + lane] : 0.0;
      sum += value * value;
    }
  }
  // Out of the hidden layer and around it.
  transpose(block.output.data(), Network::outputs, block.turned.data());
  add_product({block.hidden.data(), block_size, 1},
              block.turned.data(),
              gradient.data() + network.output_offset(),
              {hidden, samples, Network::outputs});
  add_product({block.features.data(), block_size, 1},
              block.turned.data(),
              gradient.data() + network.linear_offset(),
              {Network::inputs, samples, Network::outputs});
  // Into the hidden layer.
  std::fill(block.error.begin(), block.error.end(), 0.0);
  add_product({weights + network.output_offset(), Network::outputs, 1},
              block.output.data(),
              block.error.data(),
              {hidden, Network::outputs, block_size});
  for (std::size_t i = 0; i < block.error.size(); ++i)
    block.error[i] *= block.slope[i];
  transpose(block.error.data(), hidden, block.turned.data());
  add_product({block.features.data(), block_size, 1},
              block.turned.data(),
              gradient.data(),
              {Network::inputs, samples, hidden});
  return sum;
}

}  // namespace supercell
