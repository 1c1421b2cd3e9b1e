#pragma once

#include "microphysics.h"
#include "random.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kessler {

inline constexpr std::size_t input_count = 5;   // temperature, dry air, vapour, cloud, rain
inline constexpr std::size_t output_count = 4;  // temperature, vapour, cloud, rain
inline constexpr std::size_t stencil = 2;       // the cell, and the cell above it

inline constexpr std::array<const char*, output_count> output_names = {
    "temperature", "vapour", "cloud", "rain"};

// Change of a cell in one step that counts as active, in kg m-3 of any water density. It is above
// the rounding of 32-bit densities.
inline constexpr double active_change = 1e-8;

// States of cells before and after the scheme, in the layout of miniWeatherML's files.
struct Samples {
  double time_step = 0;        // s
  std::vector<float> inputs;   // [sample][5][2]
  std::vector<float> outputs;  // [sample][4]

  std::size_t size() const { return outputs.size() / output_count; }
  Cell before(std::size_t sample) const;
  // The change of the four outputs in the step.
  std::array<double, output_count> change(std::size_t sample) const;
  bool is_active(std::size_t sample) const;
  // True if the column of the cell above has a value other than zero.
  bool has_cell_above() const;
};

// A random state of a cell between the ground and 12 km.
Cell random_cell(Random& random);

// Random cells, on average one half active, and what the scheme makes of them. Sample i depends on
// seed and i alone.
Samples generate(std::size_t count, double time_step, std::uint64_t seed);

// States of columns with random air and updraft, in the order of time. Each column gives as many
// active as inactive cells, as far as it has them. Column c depends on seed and c alone.
Samples generate_from_columns(std::size_t count, double time_step, std::uint64_t seed);

void write_samples(const std::string& path, const Samples& samples);

// Reads a file in that layout, at most `most` samples: each k-th one. Throws Error if an array has
// another shape, type or unit.
Samples read_samples(const std::string& path, std::size_t most);

}  // namespace kessler
