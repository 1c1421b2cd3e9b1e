#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace kessler {

// Adam (Kingma and Ba, arXiv:1412.6980) with its usual constants.
class Adam {
 public:
  explicit Adam(std::size_t parameters) : mean_(parameters), square_(parameters) {}

  // One step of length `rate` down `gradient`.
  void step(std::span<double> parameters, std::span<const double> gradient, double rate);

 private:
  std::vector<double> mean_;
  std::vector<double> square_;
  double mean_decay_ = 1;    // 0.9^step
  double square_decay_ = 1;  // 0.999^step
};

}  // namespace kessler
