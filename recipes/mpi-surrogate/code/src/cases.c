#include "cases.h"

#include <math.h>

enum { least_diffusivity_exponent = -3 };

static double radical_inverse(int index, int base) {
  double value = 0;
  double digit = 1.0 / base;
  for (; index > 0; index /= base, digit /= base)
    value += index % base * digit;
  return value;
}

struct stirring_case stirring_case_number(int index) {
  const int n = index + 1;
  const double exponents = log10(STIRRING_MOST_DIFFUSIVITY) - least_diffusivity_exponent;
  const struct stirring_case one = {
      .strength = STIRRING_MOST_STRENGTH * radical_inverse(n, 2),
      .wind_x = STIRRING_MOST_WIND * (2 * radical_inverse(n, 3) - 1),
      .wind_y = STIRRING_MOST_WIND * (2 * radical_inverse(n, 5) - 1),
      .diffusivity = pow(10, least_diffusivity_exponent + exponents * radical_inverse(n, 7)),
      .phase = 0.5 * radical_inverse(n, 11)};
  return one;
}

void stirring_inputs_of(const struct stirring_case* one, double inputs[stirring_inputs]) {
  const double exponents = log10(STIRRING_MOST_DIFFUSIVITY) - least_diffusivity_exponent;
  inputs[0] = 2 * one->strength / STIRRING_MOST_STRENGTH - 1;
  inputs[1] = one->wind_x / STIRRING_MOST_WIND;
  inputs[2] = one->wind_y / STIRRING_MOST_WIND;
  inputs[3] = 2 * (log10(one->diffusivity) - least_diffusivity_exponent) / exponents - 1;
  inputs[4] = 4 * one->phase - 1;
}

int stirring_steps(int cells, double time) {
  // Both below what Runge-Kutta of the fourth order bears for these differences: 0.69 and 0.26.
  const double carried = 0.5 / cells;
  const double spread = 0.18 / (STIRRING_MOST_DIFFUSIVITY * cells * cells);
  return (int)ceil(time / fmin(carried, spread));
}
