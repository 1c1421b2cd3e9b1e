#include "samples.h"

#include "column.h"
#include "error.h"
#include "h5_file.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace kessler {
namespace {

constexpr double top = 12000;          // m
constexpr double level_spacing = 250;  // m, of the columns in `kessler-couple`
const char* const input_units = "K, kg m-3, kg m-3, kg m-3, kg m-3";
const char* const output_units = "K, kg m-3, kg m-3, kg m-3";

std::string number(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

std::string shape(const std::vector<std::size_t>& sizes) {
  std::string text;
  for (const std::size_t size : sizes)
    text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "(" + text + ")";
}

// A quantity, its place in the arrays, and the values that are possible in SI units.
struct Range {
  const char* name;
  double least;
  double most;
  const char* unit;
  const char* hint;
};
constexpr Range temperature_range = {
    "temperature", 150, 350, "K", "is the temperature in degrees Celsius?"};
constexpr Range dry_range = {"dry density", 1e-3, 2, "kg m-3", "is the density in g m-3?"};
// Transport in a model leaves small negative densities.
constexpr Range water_range = {
    "water density", -1e-4, 0.1, "kg m-3", "is the density in g m-3, or a ratio in g kg-1?"};

void check(const H5Reader& file,
           const char* array,
           std::size_t sample,
           std::size_t variable,
           const Range& range,
           double value) {
  if (value >= range.least && value <= range.most) return;
  file.refuse("array '" + std::string(array) + "', sample " + std::to_string(sample) +
                  ", variable " + std::to_string(variable) + ": the " + range.name + " is " +
                  number(value) + ", expected " + number(range.least) + " to " +
                  number(range.most) + " " + range.unit,
              range.hint);
}

void check_units(const H5Reader& file, const char* array, const char* expected) {
  const std::string units = file.units(array);
  if (units.empty() || units == expected) return;
  file.refuse("array '" + std::string(array) + "' has the units '" + units + "', expected '" +
                  expected + "'",
              "convert the values to SI units");
}

void check_shape(const H5Reader& file,
                 const char* array,
                 const std::vector<std::size_t>& found,
                 const std::vector<std::size_t>& rest) {
  if (found.size() == rest.size() + 1 && std::equal(rest.begin(), rest.end(), found.begin() + 1)) {
    return;
  }
  std::string expected = "(samples";
  for (const std::size_t size : rest)
    expected += ", " + std::to_string(size);
  file.refuse("array '" + std::string(array) + "' has the shape " + shape(found) + ", expected " +
                  expected + ")",
              "the README describes the layout");
}

}  // namespace

Cell Samples::before(std::size_t sample) const {
  const float* values = inputs.data() + sample * input_count * stencil;
  return {values[0], values[2], values[4], values[6], values[8]};
}

std::array<double, output_count> Samples::change(std::size_t sample) const {
  const Cell cell = before(sample);
  const float* after = outputs.data() + sample * output_count;
  return {after[0] - cell.temperature,
          after[1] - cell.vapour,
          after[2] - cell.cloud,
          after[3] - cell.rain};
}

bool Samples::is_active(std::size_t sample) const {
  const auto values = change(sample);
  return std::any_of(values.begin() + 1, values.end(), [](double value) {
    return std::abs(value) > active_change;
  });
}

bool Samples::has_cell_above() const {
  for (std::size_t i = 1; i < inputs.size(); i += stencil) {
    if (inputs[i] != 0) return true;
  }
  return false;
}

Cell random_cell(Random& random) {
  const double height = random.uniform(0, top);
  const double temperature = 300.0 - 0.0065 * height + 4.0 * random.normal();
  const double standard = std::pow(1.0 - 2.25577e-5 * height, 5.2559);
  const double pressure = 1e5 * standard * (1.0 + 0.01 * random.normal());
  const double vapour = random.uniform(0.3, 1.2) * saturation(temperature, pressure);
  const double cloud = random.uniform() < 0.5 ? random.exponential(1e-3) : 0;
  const double rain = random.uniform() < 0.5 ? random.exponential(1.5e-3) : 0;
  const double dry = pressure / (temperature * (air::gas_constant + vapour * air::vapour_constant));
  return {temperature, dry, dry * vapour, dry * cloud, dry * rain};
}

Samples generate(std::size_t count, double time_step, std::uint64_t seed) {
  Samples samples;
  samples.time_step = time_step;
  samples.inputs.assign(count * input_count * stencil, 0.0F);
  samples.outputs.resize(count * output_count);
  for (std::size_t i = 0; i < count; ++i) {
    Random random(seed, i);
    const bool wants_active = random.uniform() < 0.5;
    float* input = samples.inputs.data() + i * input_count * stencil;
    float* output = samples.outputs.data() + i * output_count;
    do {
      Cell cell = random_cell(random);
      const std::array<double, input_count> values = {
          cell.temperature, cell.dry, cell.vapour, cell.cloud, cell.rain};
      for (std::size_t v = 0; v < input_count; ++v)
        input[stencil * v] = static_cast<float>(values[v]);
      cell = samples.before(i);
      step_cell(cell, time_step);
      output[0] = static_cast<float>(cell.temperature);
      output[1] = static_cast<float>(cell.vapour);
      output[2] = static_cast<float>(cell.cloud);
      output[3] = static_cast<float>(cell.rain);
    } while (samples.is_active(i) != wants_active);
  }
  return samples;
}

namespace {

ColumnSettings random_column(Random& random, double time_step) {
  ColumnSettings settings;
  settings.time_step = time_step;
  settings.surface_temperature = random.uniform(294, 304);
  settings.surface_humidity = random.uniform(0.8, 0.98);
  settings.updraft = random.uniform(2, 6);
  settings.updraft_time = random.uniform(600, 1200);
  return settings;
}

bool differ(const Cell& a, const Cell& b) {
  return std::abs(a.vapour - b.vapour) > active_change ||
         std::abs(a.cloud - b.cloud) > active_change || std::abs(a.rain - b.rain) > active_change;
}

// Adds one sample: the cell, the cell above, and the cell after the scheme. The column of the cell
// above is in upstream's order, without the dry density.
void add_sample(Samples& samples, const Cell& cell, const Cell& above, const Cell& after) {
  for (const double value : {cell.temperature,
                             above.temperature,
                             cell.dry,
                             above.vapour,
                             cell.vapour,
                             above.cloud,
                             cell.cloud,
                             above.rain,
                             cell.rain,
                             0.0}) {
    samples.inputs.push_back(static_cast<float>(value));
  }
  for (const double value : {after.temperature, after.vapour, after.cloud, after.rain})
    samples.outputs.push_back(static_cast<float>(value));
}

}  // namespace

Samples generate_from_columns(std::size_t count, double time_step, std::uint64_t seed) {
  constexpr double duration = 1800;  // s
  // Of the rarer kind of cells, active or not, in each step: short steps give no more samples of a
  // column than long ones.
  const double share = std::min(0.01 * time_step, 1.0);
  const auto steps = static_cast<long>(duration / time_step);
  Samples samples;
  samples.time_step = time_step;
  for (std::uint64_t number = 0; samples.size() < count; ++number) {
    Random random(seed, number);
    Column column(random_column(random, time_step));
    for (long step = 0; step < steps && samples.size() < count; ++step) {
      std::vector<Cell> before;
      std::vector<Cell> after;
      std::vector<bool> active;
      column.step([&](Cell& cell) {
        before.push_back(cell);
        step_cell(cell, time_step);
        after.push_back(cell);
        active.push_back(differ(before.back(), cell));
      });
      const auto active_cells = std::count(active.begin(), active.end(), true);
      const auto inactive_cells = static_cast<long>(active.size()) - active_cells;
      const auto rarer = static_cast<double>(std::min(active_cells, inactive_cells));
      for (std::size_t k = 0; k < after.size() && samples.size() < count; ++k) {
        const auto kind = static_cast<double>(active[k] ? active_cells : inactive_cells);
        if (random.uniform() * kind >= share * rarer) continue;
        add_sample(samples, before[k], before[std::min(k + 1, before.size() - 1)], after[k]);
      }
    }
  }
  return samples;
}

void write_samples(const std::string& path, const Samples& samples) {
  H5Writer file(path);
  const std::size_t count = samples.size();
  file.write("inputs",
             {{"nsamples", count}, {"num_vars_in", input_count}, {"sten_size", stencil}},
             samples.inputs,
             input_units);
  file.write("outputs",
             {{"nsamples", count}, {"num_vars_out", output_count}},
             samples.outputs,
             output_units);
  const auto scalar = [&file](const char* name, double value) {
    file.write(name, {}, std::span<const double>(&value, 1), "");
  };
  scalar("time_step_size", samples.time_step);
  for (const char* name : {"dx", "dy", "dz"})
    scalar(name, level_spacing);
  scalar("xlen", level_spacing);
  scalar("ylen", level_spacing);
  scalar("zlen", top);
  // Upstream writes 0 for one row of cells.
  file.write("only_two_dimensions", 0);
  file.commit();
}

Samples read_samples(const std::string& path, std::size_t most) {
  const H5Reader file(path);
  const auto input_sizes = file.sizes("inputs");
  const auto output_sizes = file.sizes("outputs");
  check_shape(file, "inputs", input_sizes, {input_count, stencil});
  check_shape(file, "outputs", output_sizes, {output_count});
  if (input_sizes[0] != output_sizes[0]) {
    file.refuse("array 'outputs' has " + std::to_string(output_sizes[0]) + " samples, expected " +
                    std::to_string(input_sizes[0]) + " as in 'inputs'",
                "was the writer interrupted?");
  }
  check_units(file, "inputs", input_units);
  check_units(file, "outputs", output_units);
  Samples all{file.doubles("time_step_size", 1)[0], file.floats("inputs"), file.floats("outputs")};
  if (!(all.time_step > 0)) {
    file.refuse("'time_step_size' is " + number(all.time_step) + ", expected seconds above 0", {});
  }
  const std::size_t count = all.size();
  const std::size_t stride = (count + most - 1) / most;
  if (stride > 1) {
    Samples part{all.time_step, {}, {}};
    for (std::size_t i = 0; i < count; i += stride) {
      const float* input = all.inputs.data() + i * input_count * stencil;
      const float* output = all.outputs.data() + i * output_count;
      part.inputs.insert(part.inputs.end(), input, input + input_count * stencil);
      part.outputs.insert(part.outputs.end(), output, output + output_count);
    }
    all = std::move(part);
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    const float* input = all.inputs.data() + i * input_count * stencil;
    const float* output = all.outputs.data() + i * output_count;
    for (std::size_t v = 0; v < input_count; ++v) {
      const Range& range = v == 0 ? temperature_range : v == 1 ? dry_range : water_range;
      check(file, "inputs", i * stride, v, range, input[stencil * v]);
    }
    for (std::size_t v = 0; v < output_count; ++v) {
      check(file, "outputs", i * stride, v, v == 0 ? temperature_range : water_range, output[v]);
    }
  }
  return all;
}

}  // namespace kessler
