#pragma once

#include <array>
#include <cstddef>

namespace kessler {

// One cell of air, SI units. The water densities are masses of water per volume of air.
struct Cell {
  double temperature = 0;  // K
  double dry = 0;          // kg m-3
  double vapour = 0;       // kg m-3
  double cloud = 0;        // kg m-3
  double rain = 0;         // kg m-3

  double water() const { return vapour + cloud + rain; }
};

namespace air {
inline constexpr double gas_constant = 287.0;          // J kg-1 K-1, dry air
inline constexpr double vapour_constant = 461.5;       // J kg-1 K-1
inline constexpr double heat_capacity = 1004.5;        // J kg-1 K-1, dry air at constant pressure
inline constexpr double heat_of_vaporisation = 2.5e6;  // J kg-1
inline constexpr double surface_density = 1.2;         // kg m-3, reference of the fall speed
inline constexpr double gravity = 9.81;                // m s-2
}  // namespace air

// Pressure of the moist air in Pa.
double pressure(const Cell& cell);

// Mixing ratio of vapour over water at saturation, in kg of vapour per kg of dry air.
double saturation(double temperature, double pressure);

// Enthalpy of a cell per volume in J m-3, with the heat capacity of dry air.
double enthalpy(const Cell& cell);

// The warm-rain scheme of one cell, in this order: cloud turns to rain, vapour and cloud adjust to
// saturation, rain evaporates. Water is conserved, and enthalpy at constant pressure. No water
// density becomes negative.
void step_cell(Cell& cell, double time_step);

// Fall speed of rain in m s-1.
double fall_speed(const Cell& cell);

}  // namespace kessler
