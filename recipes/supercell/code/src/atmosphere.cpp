#include "atmosphere.h"

#include <cmath>

namespace supercell {

double heat_of_exner(double exner) {
  return air::reference_pressure / air::gas_constant * exner * exner * std::sqrt(exner);
}

double exner_of_heat(double heat) {
  const double ratio = heat * air::gas_constant / air::reference_pressure;
  const double root = fifth_root<8>(ratio);
  return root * root;
}

double pressure_of_heat(double heat) {
  return heat * air::gas_constant * exner_of_heat(heat);
}

double Background::heat(double z) const {
  return heat_of_exner(exner(z));
}

double Background::pressure(double z) const {
  const double value = exner(z);
  return air::reference_pressure * value * value * value * std::sqrt(value);
}

}  // namespace supercell
