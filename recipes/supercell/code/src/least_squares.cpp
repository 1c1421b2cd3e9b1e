#include "least_squares.h"

#include <algorithm>
#include <cmath>

namespace supercell {
namespace {

// Overwrites the lower triangle of `matrix` with its Cholesky factor.
void factorise(std::vector<double>& matrix, std::size_t size) {
  for (std::size_t column = 0; column < size; ++column) {
    for (std::size_t row = column; row < size; ++row) {
      double sum = matrix[row * size + column];
      for (std::size_t k = 0; k < column; ++k) {
        sum -= matrix[row * size + k] * matrix[column * size + k];
      }
      const bool diagonal = row == column;
      matrix[row * size + column] =
          diagonal ? std::sqrt(sum) : sum / matrix[column * size + column];
    }
  }
}

}  // namespace

LeastSquares::LeastSquares(std::size_t inputs, std::size_t outputs)
    : inputs_(inputs), outputs_(outputs), squares_(inputs * inputs), products_(inputs * outputs) {}

std::vector<double> LeastSquares::solve(double ridge) const {
  std::vector<double> factor = squares_;
  double largest = 0;
  for (std::size_t i = 0; i < inputs_; ++i) {
    largest = std::max(largest, factor[i * inputs_ + i]);
  }
  for (std::size_t i = 0; i < inputs_; ++i)
    factor[i * inputs_ + i] += ridge * largest;
  factorise(factor, inputs_);
  std::vector<double> weights = products_;
  for (std::size_t output = 0; output < outputs_; ++output) {
    const auto at = [&](std::size_t i) -> double& { return weights[i * outputs_ + output]; };
    for (std::size_t i = 0; i < inputs_; ++i) {
      for (std::size_t k = 0; k < i; ++k)
        at(i) -= factor[i * inputs_ + k] * at(k);
      at(i) /= factor[i * inputs_ + i];
    }
    for (std::size_t i = inputs_; i-- > 0;) {
      for (std::size_t k = i + 1; k < inputs_; ++k)
        at(i) -= factor[k * inputs_ + i] * at(k);
      at(i) /= factor[i * inputs_ + i];
    }
  }
  return weights;
}

}  // namespace supercell
