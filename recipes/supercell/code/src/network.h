#pragma once

#include "stencil.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace supercell {

// A perceptron with one hidden layer and a linear path around it,
//
//   hidden = s(W f),  output = V hidden + L f,  s(a) = a / sqrt(1 + a^2),
//
// where f are the features, whose last is the constant 1 and makes biases of its weights. s is the
// inverse square root unit (Carlile et al., arXiv:1710.09967), which needs no exponential function.
// The linear path takes sound and buoyancy, the hidden units the products of advection.
class Network {
 public:
  explicit Network(std::size_t hidden);
  // Random weights into the hidden layer, small ones out of it, no linear path.
  Network(std::size_t hidden, std::uint64_t seed);

  static constexpr std::size_t inputs = feature_count;
  static constexpr std::size_t outputs = variable_count;
  std::size_t hidden() const { return hidden_; }

  // All weights in one row: W [inputs][hidden], V [hidden][outputs], L [inputs][outputs].
  std::span<double> parameters() { return parameters_; }
  std::span<const double> parameters() const { return parameters_; }
  std::size_t output_offset() const { return inputs * hidden_; }
  std::size_t linear_offset() const { return output_offset() + hidden_ * outputs; }

 private:
  std::size_t hidden_;
  std::vector<double> parameters_;
};

// What one worker needs to pass one block of samples through a network, [unit][sample].
struct BlockBuffers {
  explicit BlockBuffers(std::size_t hidden);

  PatchBlock patches;
  FeatureBlock features{};
  std::vector<double> hidden;
  std::vector<double> slope;   // derivative of s at each hidden unit
  std::vector<double> error;   // derivative of the loss by the hidden units
  std::vector<double> turned;  // transpose of a block of derivatives
  std::array<double, variable_count * block_size> output{};
  std::array<double, variable_count * block_size> target{};
};

// [unit][sample] to [sample][unit], for products that sum over the samples.
void transpose(const double* block, std::size_t units, double* turned);

// From `features` to `output`, all samples of the block.
void forward(const Network& network, BlockBuffers& block);

// After forward(): adds the gradient of half the sum of squares of `output` - `target` over the
// first `samples` samples to `gradient` (laid out as the parameters) and returns the sum of
// squares.
double backward(const Network& network,
                BlockBuffers& block,
                std::size_t samples,
                std::span<double> gradient);

}  // namespace supercell
