#pragma once

#include "samples.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kessler {

// Upstream's network: dense layer, LeakyReLU with slope 0.1, dense layer. 104 parameters with ten
// hidden units.
class Network {
 public:
  explicit Network(std::size_t hidden);
  // First weights as Keras draws them: uniform in +-sqrt(6 / (inputs + outputs)), biases zero.
  void draw(std::uint64_t seed);

  std::size_t hidden() const { return hidden_; }
  std::span<double> parameters() { return parameters_; }
  std::span<const double> parameters() const { return parameters_; }

  // Parts of the parameters: kernels are [input][unit].
  std::span<double> hidden_kernel() { return {parameters_.data(), input_count * hidden_}; }
  std::span<double> hidden_bias() { return part(input_count * hidden_, hidden_); }
  std::span<double> output_kernel() {
    return part((input_count + 1) * hidden_, hidden_ * output_count);
  }
  std::span<double> output_bias() {
    return part((input_count + 1 + output_count) * hidden_, output_count);
  }

  // `output` = network(`input`).
  void apply(const double* input, double* output) const;
  // Adds the gradient of sum((network(input) - target)^2) / 4 to `gradient`; returns that sum / 4.
  double add_gradient(const double* input, const double* target, std::span<double> gradient);

 private:
  std::span<double> part(std::size_t offset, std::size_t size) {
    return {parameters_.data() + offset, size};
  }

  std::size_t hidden_;
  std::vector<double> parameters_;
  std::vector<double> sums_;    // of the hidden layer, in add_gradient
  std::vector<double> deltas_;  // derivatives by these sums
};

}  // namespace kessler
