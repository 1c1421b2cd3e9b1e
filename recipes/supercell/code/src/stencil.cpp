#include "stencil.h"

#include "clones.h"

#include <algorithm>

namespace supercell {
namespace {

constexpr double gram[stencil_width][stencil_width] = {
    {1, 1, 1, 1, 1},
    {-2, -1, 0, 1, 2},
    {2, -1, -2, -1, 2},
    {-1, 2, 0, -2, 1},
    {1, -4, 6, -4, 1},
};

// sum over p of weights[p] * lines[p], each line one value per sample.
inline void combine(
    const double* weights, const double* lines, std::size_t stride, double factor, double* result) {
  for (std::size_t lane = 0; lane < block_size; ++lane) {
    double sum = 0;
    for (std::size_t p = 0; p < stencil_width; ++p)
      sum += weights[p] * lines[p * stride + lane];
    result[lane] = factor * sum;
  }
}

SUPERCELL_CLONES void expand_variable(const double* patch, const double* factor, double* modes) {
  // [mode in x][row][sample]
  double along[stencil_width][stencil_width][block_size];
  for (std::size_t degree = 0; degree < stencil_width; ++degree) {
    for (std::size_t row = 0; row < stencil_width; ++row) {
      combine(gram[degree],
              patch + row * stencil_width * block_size,
              block_size,
              1.0,
              along[degree][row]);
    }
  }
  std::size_t mode = 0;
  for (std::size_t in_x = 0; in_x < stencil_width; ++in_x) {
    for (std::size_t in_z = 0; in_z < stencil_width; ++in_z) {
      combine(gram[in_z], along[in_x][0], block_size, factor[mode], modes + mode * block_size);
      ++mode;
    }
  }
}

}  // namespace

PaddedStates::PaddedStates(const Experiment& experiment, std::size_t count)
    : cells_x_(experiment.kept_x()),
      cells_z_(experiment.kept_z()),
      pitch_(cells_x_ + 2 * stencil_radius),
      plane_(pitch_ * (cells_z_ + 2 * stencil_radius)),
      count_(count),
      values_(count * variable_count * plane_) {}

void PaddedStates::set(std::size_t index, const double* state) {
  const std::size_t rows = cells_z_ + 2 * stencil_radius;
  for (std::size_t v = 0; v < variable_count; ++v) {
    for (std::size_t padded = 0; padded < rows; ++padded) {
      // The row itself or the one that the wall mirrors.
      std::size_t row = padded - stencil_radius;
      if (padded < stencil_radius) row = stencil_radius - 1 - padded;
      if (padded >= cells_z_ + stencil_radius) row = 2 * cells_z_ + stencil_radius - 1 - padded;
      const bool mirrored = row + stencil_radius != padded;
      const double sign = mirrored && v == wind_z ? -1.0 : 1.0;
      const double* from = state + (v * cells_z_ + row) * cells_x_;
      double* to = values_.data() + (index * variable_count + v) * plane_ + padded * pitch_;
      for (std::size_t i = 0; i < pitch_; ++i) {
        to[i] = sign * from[(i + cells_x_ - stencil_radius) % cells_x_];
      }
    }
  }
}

void PaddedStates::gather(std::size_t index,
                          std::size_t cell,
                          PatchBlock& block,
                          std::size_t lane) const {
  const std::size_t row = cell / cells_x_;
  const std::size_t column = cell % cells_x_;
  double* to = block.values.data() + lane;
  for (std::size_t v = 0; v < variable_count; ++v) {
    const double* corner =
        values_.data() + (index * variable_count + v) * plane_ + row * pitch_ + column;
    for (std::size_t k = 0; k < stencil_width; ++k) {
      for (std::size_t i = 0; i < stencil_width; ++i) {
        *to = corner[k * pitch_ + i];
        to += block_size;
      }
    }
  }
  block.height[lane] = (static_cast<double>(row) + 0.5) / static_cast<double>(cells_z_);
}

double PaddedStates::value(std::size_t index, std::size_t variable, std::size_t cell) const {
  const std::size_t row = cell / cells_x_ + stencil_radius;
  const std::size_t column = cell % cells_x_ + stencil_radius;
  return values_[(index * variable_count + variable) * plane_ + row * pitch_ + column];
}

Mode mode(std::size_t index) {
  constexpr std::array<double, stencil_width> gain{5, 10, 14, 10, 70};
  const std::size_t in_x = index / stencil_width;
  const std::size_t in_z = index % stencil_width;
  return {gain[in_x] * gain[in_z],
          gram[in_x][stencil_radius] * gram[in_z][stencil_radius],
          in_x + in_z >= 4};
}

void expand(const PatchBlock& patches,
            const std::array<double, feature_count>& factor,
            FeatureBlock& features) {
  for (std::size_t v = 0; v < variable_count; ++v) {
    expand_variable(patches.values.data() + v * stencil_points * block_size,
                    factor.data() + v * stencil_modes,
                    features.data() + v * stencil_modes * block_size);
  }
  double* height = features.data() + (feature_count - 2) * block_size;
  for (std::size_t lane = 0; lane < block_size; ++lane) {
    height[lane] = 2.0 * patches.height[lane] - 1.0;
    height[block_size + lane] = 1.0;
  }
}

}  // namespace supercell
