#include "column.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace kessler {

Column::Column(const ColumnSettings& column_settings) : settings(column_settings) {
  const double top = settings.spacing * static_cast<double>(settings.levels);
  for (std::size_t k = 0; k < settings.levels; ++k) {
    const double height = settings.spacing * (static_cast<double>(k) + 0.5);
    const double temperature = settings.surface_temperature - 0.0065 * height;
    const double pressure = 1e5 * std::pow(1.0 - 2.25577e-5 * height, 5.2559);
    const double humidity =
        settings.surface_humidity + (0.5 - settings.surface_humidity) * height / top;
    const double vapour = humidity * saturation(temperature, pressure);
    const double dry =
        pressure / (temperature * (air::gas_constant + vapour * air::vapour_constant));
    cells.push_back({temperature, dry, dry * vapour, 0, 0});
  }
}

double Column::water() const {
  double sum = 0;
  for (const Cell& cell : cells)
    sum += cell.water() * settings.spacing;
  return sum + fallen;
}

double Column::heat() const {
  double sum = 0;
  for (const Cell& cell : cells)
    sum += enthalpy(cell) * settings.spacing;
  return sum + cooled;
}

bool Column::is_possible() const {
  return std::all_of(cells.begin(), cells.end(), [](const Cell& cell) {
    return cell.temperature > 100 && cell.temperature < 400 && std::isfinite(cell.water());
  });
}

double Column::least_density() const {
  double least = cells.front().vapour;
  for (const Cell& cell : cells)
    least = std::min({least, cell.vapour, cell.cloud, cell.rain});
  return least;
}

void Column::cool() {
  if (time >= settings.updraft_time) return;
  const double phase = std::sin(std::numbers::pi * time / settings.updraft_time);
  const double speed = settings.updraft * phase * phase;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const double height = (static_cast<double>(k) + 0.5) / static_cast<double>(cells.size());
    const double rise = 4.0 * height * (1.0 - height) * speed * settings.time_step;
    const double drop = rise * air::gravity / air::heat_capacity;
    cells[k].temperature -= drop;
    cooled += cells[k].dry * air::heat_capacity * drop * settings.spacing;
  }
}

// Upwind fluxes of rain. Substeps keep a drop from falling through more than one cell.
void Column::fall() {
  double fastest = 0;
  for (const Cell& cell : cells)
    fastest = std::max(fastest, fall_speed(cell));
  const double courant = fastest * settings.time_step / settings.spacing;
  const int substeps = std::max(1, static_cast<int>(std::ceil(courant / 0.8)));
  const double share = settings.time_step / (settings.spacing * substeps);
  for (int substep = 0; substep < substeps; ++substep) {
    double from_above = 0;
    for (std::size_t k = cells.size(); k-- > 0;) {
      Cell& cell = cells[k];
      const double lost = std::min(cell.rain, cell.rain * fall_speed(cell) * share);
      cell.rain += from_above - lost;
      from_above = lost;
    }
    fallen += from_above * settings.spacing;
  }
}

void Column::step(const std::function<void(Cell&)>& scheme) {
  cool();
  for (Cell& cell : cells)
    scheme(cell);
  if (is_possible()) fall();
  time += settings.time_step;
}

}  // namespace kessler
