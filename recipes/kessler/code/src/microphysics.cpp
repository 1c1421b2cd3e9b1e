#include "microphysics.h"

#include <algorithm>
#include <cmath>

namespace kessler {
namespace {

constexpr double autoconversion_rate = 1e-3;                                         // s-1
constexpr double autoconversion_threshold = 1e-3;                                    // kg kg-1
constexpr double accretion_rate = 2.2;                                               // s-1
constexpr double latent_over_heat = air::heat_of_vaporisation / air::heat_capacity;  // K

// Constants of Tetens' formula over water, as the scheme uses it.
constexpr double tetens_slope = 17.27;
constexpr double tetens_freezing = 273.0;  // K
constexpr double tetens_offset = 36.0;     // K

// Derivative of the saturation mixing ratio by temperature, over that ratio.
double relative_slope(double temperature) {
  const double shifted = temperature - tetens_offset;
  return tetens_slope * (tetens_freezing - tetens_offset) / (shifted * shifted);
}

// Rain that air below saturation evaporates in a time step, in kg kg-1. The empirical law takes
// g cm-3 and mbar.
double evaporated_rain(
    const Cell& cell, double rain, double vapour, double limit, double time_step) {
  const double pressure_mbar = 0.01 * pressure(cell);
  const double dry_cgs = 1e-3 * cell.dry;
  const double content = dry_cgs * rain;
  const double ventilation = 1.6 + 124.9 * std::pow(content, 0.2046);
  const double diffusion = 5.4e5 + 2.55e6 / (pressure_mbar * limit);
  const double deficit = 1.0 - vapour / limit;
  return time_step * deficit * ventilation * std::pow(content, 0.525) / (diffusion * dry_cgs);
}

}  // namespace

double pressure(const Cell& cell) {
  return (cell.dry * air::gas_constant + cell.vapour * air::vapour_constant) * cell.temperature;
}

double saturation(double temperature, double pressure) {
  const double exponent =
      tetens_slope * (temperature - tetens_freezing) / (temperature - tetens_offset);
  return 380.0 / pressure * std::exp(exponent);
}

double enthalpy(const Cell& cell) {
  return cell.dry * air::heat_capacity * cell.temperature + air::heat_of_vaporisation * cell.vapour;
}

void step_cell(Cell& cell, double time_step) {
  double vapour = cell.vapour / cell.dry;
  double cloud = cell.cloud / cell.dry;
  double rain = cell.rain / cell.dry;
  const double total = vapour + cloud + rain;

  // Autoconversion is explicit, accretion implicit: no step takes more than all cloud.
  const double converted =
      time_step * autoconversion_rate * std::max(cloud - autoconversion_threshold, 0.0);
  const double swept = time_step * accretion_rate * std::pow(rain, 0.875);
  const double to_rain = std::clamp(cloud - (cloud - converted) / (1.0 + swept), 0.0, cloud);
  cloud -= to_rain;
  rain += to_rain;

  // One step of Newton's method for vapour at saturation. The saturation curve is convex, so the
  // step ends at or below it.
  const double limit = saturation(cell.temperature, pressure(cell));
  const double slope = latent_over_heat * limit * relative_slope(cell.temperature);
  const double excess = (vapour - limit) / (1.0 + slope);
  const double condensed = std::max(excess, -cloud);

  double evaporated = 0;
  const double room = std::max(-excess - cloud, 0.0);
  if (room > 0 && rain > 0) {
    const double wanted = evaporated_rain(cell, rain, vapour, limit, time_step);
    evaporated = std::min({wanted, room, rain});
  }
  cloud = std::max(cloud + condensed, 0.0);
  rain = std::max(rain - evaporated, 0.0);
  vapour = std::max(total - cloud - rain, 0.0);

  cell.temperature += latent_over_heat * (cell.vapour / cell.dry - vapour);
  cell.vapour = vapour * cell.dry;
  cell.cloud = cloud * cell.dry;
  cell.rain = rain * cell.dry;
}

double fall_speed(const Cell& cell) {
  const double thin = std::sqrt(air::surface_density / cell.dry);
  return 36.34 * std::pow(1e-3 * std::max(cell.rain, 0.0), 0.1364) * thin;
}

}  // namespace kessler
