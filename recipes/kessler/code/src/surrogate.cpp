#include "surrogate.h"

#include "error.h"
#include "h5_file.h"

#include <algorithm>

namespace kessler {

std::array<double, input_count> Scaling::scaled(const Cell& cell) const {
  const std::array<double, input_count> values = {
      cell.temperature, cell.dry, cell.vapour, cell.cloud, cell.rain};
  std::array<double, input_count> result{};
  for (std::size_t i = 0; i < input_count; ++i)
    result[i] = (values[i] - mean[i]) / spread[i];
  return result;
}

void LinearModel::apply(const double* input, double* output) const {
  for (std::size_t o = 0; o < output_count; ++o) {
    double sum = weights[input_count * output_count + o];
    for (std::size_t i = 0; i < input_count; ++i)
      sum += input[i] * weights[i * output_count + o];
    output[o] = sum;
  }
}

Change Surrogate::network_change(const Cell& cell) const {
  Change change{};
  network.apply(scaling.scaled(cell).data(), change.data());
  for (std::size_t o = 0; o < output_count; ++o)
    change[o] *= scaling.change[o];
  return change;
}

Change Surrogate::linear_change(const Cell& cell) const {
  Change change{};
  linear.apply(scaling.scaled(cell).data(), change.data());
  for (std::size_t o = 0; o < output_count; ++o)
    change[o] *= scaling.change[o];
  return change;
}

void add_conserving(Cell& cell, const Change& change) {
  const double total = cell.water();
  double cloud = std::max(cell.cloud + change[2], 0.0);
  double rain = std::max(cell.rain + change[3], 0.0);
  const double liquid = cloud + rain;
  if (liquid > total) {
    const double share = std::max(total, 0.0) / liquid;
    cloud *= share;
    rain *= share;
  }
  const double vapour = std::max(total - cloud - rain, 0.0);
  cell.temperature +=
      air::heat_of_vaporisation * (cell.vapour - vapour) / (air::heat_capacity * cell.dry);
  cell.vapour = vapour;
  cell.cloud = cloud;
  cell.rain = rain;
}

void add_plain(Cell& cell, const Change& change) {
  cell.temperature += change[0];
  cell.vapour += change[1];
  cell.cloud += change[2];
  cell.rain += change[3];
}

void write_surrogate(const std::string& path, const Surrogate& surrogate) {
  H5Writer file(path);
  Network network = surrogate.network;
  const Dimension hidden{"hidden_units", network.hidden()};
  const Dimension inputs{"num_vars_in", input_count};
  const Dimension outputs{"num_vars_out", output_count};
  const auto write = [&file](const char* name,
                             const std::vector<Dimension>& dimensions,
                             std::span<const double> values) {
    file.write(name, dimensions, values, "");
  };
  write("hidden/kernel", {inputs, hidden}, network.hidden_kernel());
  write("hidden/bias", {hidden}, network.hidden_bias());
  write("output/kernel", {hidden, outputs}, network.output_kernel());
  write("output/bias", {outputs}, network.output_bias());
  const Scaling& scaling = surrogate.scaling;
  write("scaling/mean", {inputs}, scaling.mean);
  write("scaling/spread", {inputs}, scaling.spread);
  write("scaling/change", {outputs}, scaling.change);
  write("scaling/time_step", {}, std::span<const double>(&scaling.time_step, 1));
  write("least_squares",
        {{"num_vars_in_and_one", input_count + 1}, outputs},
        surrogate.linear.weights);
  file.commit();
}

Surrogate read_surrogate(const std::string& path) {
  const H5Reader file(path);
  const auto fill = [&file](const char* name, std::span<double> target) {
    const auto values = file.doubles(name, target.size());
    std::copy(values.begin(), values.end(), target.begin());
  };
  Surrogate surrogate{{}, Network(file.count("hidden/bias")), {}};
  fill("hidden/kernel", surrogate.network.hidden_kernel());
  fill("hidden/bias", surrogate.network.hidden_bias());
  fill("output/kernel", surrogate.network.output_kernel());
  fill("output/bias", surrogate.network.output_bias());
  fill("scaling/mean", surrogate.scaling.mean);
  fill("scaling/spread", surrogate.scaling.spread);
  fill("scaling/change", surrogate.scaling.change);
  fill("scaling/time_step", std::span<double>(&surrogate.scaling.time_step, 1));
  fill("least_squares", surrogate.linear.weights);
  return surrogate;
}

}  // namespace kessler
