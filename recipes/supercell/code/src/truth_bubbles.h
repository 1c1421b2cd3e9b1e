#pragma once

#include "bubble.h"

#include <array>
#include <vector>

namespace supercell {

// Held-out bubbles of the forecast; the first is the one of standard_trajectories().
inline const std::array<Bubble, 3> held_out_bubbles{{
    {7000, 3000, 2500, 3.2},
    {2650, 2800, 2300, 2.6},
    {10150, 3250, 2700, 2.9},
}};

// Training bubbles: z, radius and amplitude from Halton's sequence, x in the middle.
inline std::vector<Bubble> training_bubbles(std::size_t count) {
  const auto radical = [](std::size_t number, std::size_t base) {
    double value = 0;
    double digit = 1;
    for (; number > 0; number /= base) {
      digit /= static_cast<double>(base);
      value += digit * static_cast<double>(number % base);
    }
    return value;
  };
  std::vector<Bubble> bubbles;
  for (std::size_t i = 1; i <= count; ++i) {
    bubbles.push_back(
        {6400, 2500 + 1100 * radical(i, 2), 2000 + 1000 * radical(i, 3), 2 + 2 * radical(i, 5)});
  }
  return bubbles;
}

}  // namespace supercell
