#include "adam.h"

#include <cmath>

namespace kessler {

void Adam::step(std::span<double> parameters, std::span<const double> gradient, double rate) {
  constexpr double keep_mean = 0.9;
  constexpr double keep_square = 0.999;
  constexpr double floor = 1e-8;
  mean_decay_ *= keep_mean;
  square_decay_ *= keep_square;
  const double scale = rate / (1.0 - mean_decay_);
  const double unbias = 1.0 / (1.0 - square_decay_);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    mean_[i] = keep_mean * mean_[i] + (1.0 - keep_mean) * gradient[i];
    square_[i] = keep_square * square_[i] + (1.0 - keep_square) * gradient[i] * gradient[i];
    parameters[i] -= scale * mean_[i] / (std::sqrt(square_[i] * unbias) + floor);
  }
}

}  // namespace kessler
