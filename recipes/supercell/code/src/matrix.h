#pragma once

#include <cstddef>

namespace supercell {

// A matrix to read: entry (i, j) is data[i * row_stride + j * column_stride], so a transpose costs
// nothing.
struct MatrixView {
  const double* data;
  std::size_t row_stride;
  std::size_t column_stride;
};

struct ProductShape {
  std::size_t rows;
  std::size_t inner;
  std::size_t columns;
};

// c += a b, with b (inner by columns) and c (rows by columns) stored row by row. Each entry of c is
// summed in the order of the inner index whatever the tiles, so the result is the same to the bit
// on every CPU.
void add_product(MatrixView a, const double* b, double* c, ProductShape shape);

}  // namespace supercell
