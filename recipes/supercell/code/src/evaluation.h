#pragma once

#include "dataset.h"
#include "surrogate.h"

#include <cstddef>
#include <vector>

namespace supercell {

// sqrt(sum ((a - b) / scale)^2 / sum (b / scale)^2) over all variables and cells, with the scale of
// each variable's state. `a` and `b` are [variable][z][x] of `cells` cells.
double relative_error(const double* a,
                      const double* b,
                      std::size_t cells,
                      const std::array<double, variable_count>& scale);

// The surrogate left to itself from one state of a trajectory, and the forecast that nothing
// changes. Entry i of the errors is for i + 1 intervals ahead.
struct Forecast {
  std::size_t start = 0;
  std::vector<double> states;  // [step][variable][z][x], the state at the start first
  std::vector<double> surrogate_error;
  std::vector<double> persistence_error;
};

Forecast forecast(const Surrogate& surrogate,
                  const Dataset& dataset,
                  std::size_t trajectory,
                  Range times,  // from the start to the last snapshot, included
                  Workers& workers);

// How much of the change in one interval the surrogate misses, on the trajectories of `role`:
// sqrt(sum error^2 / sum change^2), each variable divided by the root mean square of its change.
double missed_change(const Surrogate& surrogate,
                     const Dataset& dataset,
                     Role role,
                     Workers& workers);

void write_forecast(H5Writer& file,
                    const Dataset& dataset,
                    std::size_t trajectory,
                    const Forecast& forecast);

}  // namespace supercell
