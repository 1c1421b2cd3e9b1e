#pragma once

#include "solver.h"

#include <cstddef>
#include <vector>

namespace supercell {

// A warm bubble in air at rest. The potential temperature exceeds the background by
// amplitude * (1 - r^2)^3 for r < 1, r the distance from the centre in radii; the pressure is that
// of the background.
struct Bubble {
  double x;              // centre, m
  double z;              // centre, m
  double radius;         // m
  double amplitude;      // K
  int perturbation = 0;  // above 0: which change of the state by one unit in the last place
};

// What a trajectory is for.
enum class Role { training = 0, validation = 1, held_out = 2 };

struct Trajectory {
  Bubble bubble;
  Role role;
};

constexpr int most_training_bubbles = 5;

// The first `training` training bubbles, then the validation bubble, then the held-out one, which
// lies inside the range of the others but equals none.
std::vector<Trajectory> standard_trajectories(int training);

// Sets the state of `solver` to the bubble, cell averages by quadrature. With a perturbation each
// density is the next number above or below, as the bits of a random stream of that number say.
void set_bubble(Solver& solver, const Bubble& bubble);

}  // namespace supercell
