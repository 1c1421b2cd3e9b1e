#pragma once

#include "h5_file.h"
#include "snapshot.h"

#include <string>
#include <vector>

namespace supercell {

// The simulated trajectories, as supercell.h5 holds them.
struct Dataset {
  Experiment experiment;
  std::vector<Trajectory> trajectories;
  std::vector<double> states;      // [trajectory][time][variable][z][x]
  std::vector<double> total_mass;  // [trajectory][time], kg per metre of depth

  const double* state(std::size_t trajectory, std::size_t time) const {
    return states.data() + (trajectory * experiment.snapshots + time) * experiment.snapshot_size();
  }
  // The trajectories of a role, in order.
  std::vector<std::size_t> with_role(Role role) const;
};

// The axes "time", "z" and "x" of the kept grid, for the first `times` snapshots.
void write_axes(H5Writer& file, const Experiment& experiment, std::size_t times);

void write_dataset(H5Writer& file, const Dataset& dataset);

// Throws Error when the file is not such a data set, or has no trajectory of some role.
Dataset read_dataset(const std::string& path);

}  // namespace supercell
