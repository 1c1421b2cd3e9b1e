#pragma once

#include "network.h"
#include "samples.h"

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace kessler {

using Change = std::array<double, output_count>;

// Inputs are standardised. Changes are divided by their root mean square in active cells.
struct Scaling {
  double time_step = 0;  // s, of the samples that the surrogate was trained on
  std::array<double, input_count> mean{};
  std::array<double, input_count> spread{};
  Change change{};

  std::array<double, input_count> scaled(const Cell& cell) const;
};

// A linear function of the scaled inputs and 1, the fit of least squares.
struct LinearModel {
  std::array<double, (input_count + 1) * output_count> weights{};  // [input, 1 last][output]

  void apply(const double* input, double* output) const;
};

struct Surrogate {
  Scaling scaling;
  Network network;
  LinearModel linear;

  // The change of a cell in one step, by the network or by the linear fit.
  Change network_change(const Cell& cell) const;
  Change linear_change(const Cell& cell) const;
};

// Adds a predicted change so that water and enthalpy stay the same and no density is negative:
// cloud and rain are taken from the prediction, vapour and temperature follow.
void add_conserving(Cell& cell, const Change& change);
// Adds the predicted change alone.
void add_plain(Cell& cell, const Change& change);

void write_surrogate(const std::string& path, const Surrogate& surrogate);
Surrogate read_surrogate(const std::string& path);

}  // namespace kessler
