#pragma once

#include <cstddef>
#include <vector>

namespace supercell {

// Collects the normal equations of a linear least squares problem and solves them.
class LeastSquares {
 public:
  LeastSquares(std::size_t inputs, std::size_t outputs);

  std::size_t inputs() const { return inputs_; }
  std::size_t outputs() const { return outputs_; }
  // Sums over samples: inputs by inputs and inputs by outputs, row by row.
  std::vector<double>& squares() { return squares_; }
  std::vector<double>& products() { return products_; }

  // The weights [inputs][outputs] of least squared error, by Cholesky's method. `ridge` times the
  // largest diagonal entry is added to the diagonal, so that inputs that depend on each other do
  // no harm.
  std::vector<double> solve(double ridge) const;

 private:
  std::size_t inputs_;
  std::size_t outputs_;
  std::vector<double> squares_;
  std::vector<double> products_;
};

}  // namespace supercell
