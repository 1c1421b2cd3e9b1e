#include "matrix.h"

#include "clones.h"

#include <cstring>

namespace supercell {
namespace {

// Four numbers side by side; the compiler splits them where the CPU has narrower registers. Spelled
// out because it otherwise vectorises a tile along the wrong side.
using Lanes = double __attribute__((vector_size(4 * sizeof(double))));
constexpr std::size_t lanes = 4;

// A tile of c, `rows` by 4 `groups`, that stays in registers while the inner index runs.
template <std::size_t rows, std::size_t groups>
inline __attribute__((always_inline)) void add_tile(
    MatrixView a, const double* b, double* c, std::size_t inner, std::size_t stride) {
  Lanes sum[rows][groups];
  for (std::size_t r = 0; r < rows; ++r) {
    std::memcpy(&sum[r], c + r * stride, sizeof sum[r]);
  }
  for (std::size_t p = 0; p < inner; ++p) {
    Lanes line[groups];
    std::memcpy(&line, b + p * stride, sizeof line);
    for (std::size_t r = 0; r < rows; ++r) {
      const double factor = a.data[r * a.row_stride + p * a.column_stride];
      for (std::size_t g = 0; g < groups; ++g)
        sum[r][g] += factor * line[g];
    }
  }
  for (std::size_t r = 0; r < rows; ++r) {
    std::memcpy(c + r * stride, &sum[r], sizeof sum[r]);
  }
}

// The columns that do not fill a group.
inline __attribute__((always_inline)) void add_entry(
    MatrixView a, const double* b, double* c, std::size_t inner, std::size_t stride) {
  double sum = *c;
  for (std::size_t p = 0; p < inner; ++p)
    sum += a.data[p * a.column_stride] * b[p * stride];
  *c = sum;
}

template <std::size_t rows>
inline __attribute__((always_inline)) void add_rows(
    MatrixView a, const double* b, double* c, std::size_t inner, std::size_t columns) {
  std::size_t j = 0;
  for (; j + 2 * lanes <= columns; j += 2 * lanes) {
    add_tile<rows, 2>(a, b + j, c + j, inner, columns);
  }
  for (; j + lanes <= columns; j += lanes)
    add_tile<rows, 1>(a, b + j, c + j, inner, columns);
  for (; j < columns; ++j) {
    for (std::size_t r = 0; r < rows; ++r) {
      const MatrixView row{a.data + r * a.row_stride, a.row_stride, a.column_stride};
      add_entry(row, b + j, c + r * columns + j, inner, columns);
    }
  }
}

}  // namespace

SUPERCELL_CLONES void add_product(MatrixView a, const double* b, double* c, ProductShape shape) {
  std::size_t i = 0;
  for (; i + 4 <= shape.rows; i += 4) {
    const MatrixView rows{a.data + i * a.row_stride, a.row_stride, a.column_stride};
    add_rows<4>(rows, b, c + i * shape.columns, shape.inner, shape.columns);
  }
  for (; i < shape.rows; ++i) {
    const MatrixView row{a.data + i * a.row_stride, a.row_stride, a.column_stride};
    add_rows<1>(row, b, c + i * shape.columns, shape.inner, shape.columns);
  }
}

}  // namespace supercell
