#include "network.h"

#include "random.h"

#include <cmath>

namespace kessler {
namespace {

constexpr double leak = 0.1;

}  // namespace

Network::Network(std::size_t hidden)
    : hidden_(hidden),
      parameters_((input_count + 1 + output_count) * hidden + output_count),
      sums_(hidden),
      deltas_(hidden) {}

void Network::draw(std::uint64_t seed) {
  Random random(seed, 1);
  const auto fill = [&random](std::span<double> kernel, std::size_t units) {
    const double bound = std::sqrt(6.0 / static_cast<double>(units));
    for (double& weight : kernel)
      weight = random.uniform(-bound, bound);
  };
  fill(hidden_kernel(), input_count + hidden_);
  fill(output_kernel(), hidden_ + output_count);
}

void Network::apply(const double* input, double* output) const {
  const double* kernel = parameters_.data();
  const double* bias = kernel + input_count * hidden_;
  const double* second = bias + hidden_;
  const double* last = second + hidden_ * output_count;
  for (std::size_t o = 0; o < output_count; ++o)
    output[o] = last[o];
  for (std::size_t h = 0; h < hidden_; ++h) {
    double sum = bias[h];
    for (std::size_t i = 0; i < input_count; ++i)
      sum += input[i] * kernel[i * hidden_ + h];
    sum = sum > 0 ? sum : leak * sum;
    for (std::size_t o = 0; o < output_count; ++o)
      output[o] += sum * second[h * output_count + o];
  }
}

double Network::add_gradient(const double* input,
                             const double* target,
                             std::span<double> gradient) {
  const double* kernel = parameters_.data();
  const double* bias = kernel + input_count * hidden_;
  const double* second = bias + hidden_;
  const double* last = second + hidden_ * output_count;
  double* kernel_gradient = gradient.data();
  double* bias_gradient = kernel_gradient + input_count * hidden_;
  double* second_gradient = bias_gradient + hidden_;
  double* last_gradient = second_gradient + hidden_ * output_count;

  for (std::size_t h = 0; h < hidden_; ++h)
    sums_[h] = bias[h];
  for (std::size_t i = 0; i < input_count; ++i) {
    for (std::size_t h = 0; h < hidden_; ++h)
      sums_[h] += input[i] * kernel[i * hidden_ + h];
  }
  double error[output_count];
  for (std::size_t o = 0; o < output_count; ++o)
    error[o] = last[o] - target[o];
  for (std::size_t h = 0; h < hidden_; ++h) {
    const double unit = sums_[h] > 0 ? sums_[h] : leak * sums_[h];
    for (std::size_t o = 0; o < output_count; ++o)
      error[o] += unit * second[h * output_count + o];
  }
  double loss = 0;
  for (double& value : error) {
    loss += value * value;
    value *= 2.0 / output_count;
  }
  for (std::size_t h = 0; h < hidden_; ++h) {
    const double slope = sums_[h] > 0 ? 1.0 : leak;
    const double unit = slope * sums_[h];
    double delta = 0;
    for (std::size_t o = 0; o < output_count; ++o) {
      second_gradient[h * output_count + o] += unit * error[o];
      delta += second[h * output_count + o] * error[o];
    }
    deltas_[h] = slope * delta;
    bias_gradient[h] += deltas_[h];
  }
  for (std::size_t o = 0; o < output_count; ++o)
    last_gradient[o] += error[o];
  for (std::size_t i = 0; i < input_count; ++i) {
    for (std::size_t h = 0; h < hidden_; ++h)
      kernel_gradient[i * hidden_ + h] += input[i] * deltas_[h];
  }
  return loss / output_count;
}

}  // namespace kessler
