#pragma once

#include "microphysics.h"

#include <cstddef>
#include <functional>
#include <vector>

namespace kessler {

// A column of air that an updraft cools for a quarter of an hour: cloud forms, rain falls out of
// it, evaporates below and reaches the ground. The air itself stays where it is.
struct ColumnSettings {
  std::size_t levels = 48;
  double spacing = 250;              // m
  double time_step = 10;             // s
  double surface_temperature = 302;  // K
  double surface_humidity = 0.95;    // relative; falls to one half at the top
  double updraft = 4;                // m s-1 at its peak, at half of the height
  double updraft_time = 900;         // s
};

struct Column {
  ColumnSettings settings;
  std::vector<Cell> cells;  // from the ground up
  double time = 0;          // s
  double fallen = 0;        // kg m-2, rain at the ground
  double cooled = 0;        // J m-2, enthalpy that the updraft took

  explicit Column(const ColumnSettings& column_settings);

  // Water in the air and on the ground in kg m-2.
  double water() const;
  // Enthalpy in J m-2, with what the updraft took.
  double heat() const;
  // True if all values are finite and all temperatures lie in 100 K to 400 K.
  bool is_possible() const;
  double least_density() const;

  // One step: the updraft cools, `scheme` changes each cell, rain falls.
  void step(const std::function<void(Cell&)>& scheme);

 private:
  void cool();
  void fall();
};

}  // namespace kessler
