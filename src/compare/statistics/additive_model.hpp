#pragma once

#include <cstdint>
#include <vector>

namespace sabath::compare {

/// All values of one combination of levels.
struct Cell {
  double weight = 0;  ///< how many
  double mean = 0;
};

/// A factor as the cells have it.
struct CellFactor {
  std::uint32_t count = 0;
  const std::uint32_t* levels = nullptr;  ///< of each cell
};

struct AdditiveFit {
  double residual = 0;     ///< sum of squares between cells that the model leaves
  std::uint64_t rank = 1;  ///< parameters that can be estimated, the mean among them
};

/// Most levels that all factors except the largest may have together.
constexpr std::uint64_t most_eliminated_levels = 1000;

/// Weighted least squares of the means of cells on the sum of one effect for each factor. Without
/// factors: the mean alone. The factor with the most levels is eliminated, as its part of the
/// normal equations is diagonal. A Cholesky factorisation with pivots solves the rest and gives the
/// rank.
AdditiveFit fit_additive(const std::vector<Cell>& cells, std::vector<CellFactor> factors);

}  // namespace sabath::compare
