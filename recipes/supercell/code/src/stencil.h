#pragma once

#include "snapshot.h"

#include <array>
#include <cstddef>
#include <vector>

namespace supercell {

// What the surrogate sees of a state: a patch of 5 by 5 cells around the cell that it predicts.
// The equations are hyperbolic and sound crosses less than two cells in one interval, so the patch
// covers all that the centre depends on. The patch is not fed to the network as it is, for its 25
// values are nearly equal, but as its 25 products of discrete orthogonal (Gram) polynomials, which
// are finite differences; each is divided by its root mean square.
constexpr std::size_t stencil_radius = 2;
constexpr std::size_t stencil_width = 2 * stencil_radius + 1;
constexpr std::size_t stencil_points = stencil_width * stencil_width;
constexpr std::size_t stencil_modes = stencil_points;  // degree in x * 5 + degree in z
// The modes of each variable, the height of the cell and the constant 1.
constexpr std::size_t feature_count = variable_count * stencil_modes + 2;

// Samples are handled in blocks of this many; the sample is the fastest index of every array below.
constexpr std::size_t block_size = 32;

struct PatchBlock {
  std::array<double, variable_count * stencil_points * block_size> values{};
  std::array<double, block_size> height{};  // 0 at the ground, 1 at the top
};
using FeatureBlock = std::array<double, feature_count * block_size>;

// States with two more cells on each side: the periodic images in x, the mirror images at the
// walls, where the vertical wind is odd.
class PaddedStates {
 public:
  PaddedStates(const Experiment& experiment, std::size_t count);

  std::size_t count() const { return count_; }
  std::size_t cells() const { return cells_x_ * cells_z_; }
  // Copies `state`, [variable][z][x], and fills its margins.
  void set(std::size_t index, const double* state);
  // Copies the patch around `cell` (= z * cells_x + x) into sample `lane` of the block.
  void gather(std::size_t index, std::size_t cell, PatchBlock& block, std::size_t lane) const;
  double value(std::size_t index, std::size_t variable, std::size_t cell) const;

 private:
  std::size_t cells_x_, cells_z_, pitch_, plane_, count_;
  std::vector<double> values_;
};

// Mode m of a patch p is sum w_m p over its 25 points; p = sum (mode m) w_m / gain_m over all
// modes.
struct Mode {
  double gain;    // the sum of the squares of w_m: how much the mode amplifies white noise
  double centre;  // w_m at the centre
  bool fine;      // of total degree 4 or more: what a well resolved flow has next to nothing of
};
Mode mode(std::size_t index);

// Turns patches into features; each is multiplied with its entry of `factor`.
void expand(const PatchBlock& patches,
            const std::array<double, feature_count>& factor,
            FeatureBlock& features);

}  // namespace supercell
