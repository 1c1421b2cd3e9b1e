#pragma once

namespace supercell {

// Dry air as an ideal diatomic gas, in SI units. With cp = 7/2 R and cv = 5/2 R all powers of the
// equation of state are fifth roots and square roots, which need nothing but the arithmetic that
// IEEE 754 rounds exactly; no result depends on a mathematics library.
namespace air {
constexpr double gas_constant = 287.0;                // R, J kg-1 K-1
constexpr double heat_capacity = 3.5 * gas_constant;  // cp, J kg-1 K-1
constexpr double heat_ratio = 1.4;                    // cp / cv
constexpr double reference_pressure = 1.0e5;          // Pa, where the Exner function is 1
}  // namespace air

// x^(1/5) by Newton's method from the parabola at 1; `steps` = 3 is exact to rounding for x in
// [0.7, 1.4], 8 for x in [0.1, 4].
template <int steps>
inline double fifth_root(double x) {
  double root = 1.0 + (x - 1.0) * (0.2 - 0.08 * (x - 1.0));
#pragma GCC unroll 8
  for (int step = 0; step < steps; ++step) {
    const double square = root * root;
    root = (4.0 * root + x / (square * square)) * 0.2;
  }
  return root;
}

// The hydrostatic background of constant potential temperature: the Exner function pi = (p /
// p00)^(R / cp) falls linearly, d pi / dz = -g / (cp theta).
struct Background {
  double gravity = 9.81;                 // m s-2, 0 switches buoyancy and stratification off
  double potential_temperature = 300.0;  // K

  double exner(double z) const {
    return 1.0 - gravity * z / (air::heat_capacity * potential_temperature);
  }
  // rho theta, kg m-3 K, at height z in m.
  double heat(double z) const;
  double density(double z) const { return heat(z) / potential_temperature; }
  double pressure(double z) const;
};

// Pressure in Pa of air of the given rho theta in kg m-3 K.
double pressure_of_heat(double heat);
// rho theta in kg m-3 K of air of the given Exner function.
double heat_of_exner(double exner);
// Exner function of air of the given rho theta.
double exner_of_heat(double heat);

}  // namespace supercell
