#include "evaluation.h"

#include <algorithm>
#include <cmath>

namespace supercell {
namespace {

// One variable of consecutive states, [step][z][x].
std::vector<double> one_variable(const double* states,
                                 std::size_t steps,
                                 std::size_t variable,
                                 std::size_t cells) {
  std::vector<double> values;
  values.reserve(steps * cells);
  for (std::size_t step = 0; step < steps; ++step) {
    const double* from = states + (step * variable_count + variable) * cells;
    values.insert(values.end(), from, from + cells);
  }
  return values;
}

}  // namespace

double relative_error(const double* a,
                      const double* b,
                      std::size_t cells,
                      const std::array<double, variable_count>& scale) {
  double error = 0;
  double size = 0;
  for (std::size_t v = 0; v < variable_count; ++v) {
    for (std::size_t i = v * cells; i < (v + 1) * cells; ++i) {
      const double difference = (a[i] - b[i]) / scale[v];
      const double value = b[i] / scale[v];
      error += difference * difference;
      size += value * value;
    }
  }
  return std::sqrt(error / size);
}

Forecast forecast(const Surrogate& surrogate,
                  const Dataset& dataset,
                  std::size_t trajectory,
                  Range times,
                  Workers& workers) {
  const std::size_t size = dataset.experiment.snapshot_size();
  const std::size_t cells = size / variable_count;
  const auto& scale = surrogate.normalisation.state;
  Rollout rollout(surrogate, workers);
  Forecast result;
  result.start = times.begin;
  result.states.resize((times.size() + 1) * size);
  const double* initial = dataset.state(trajectory, times.begin);
  std::copy_n(initial, size, result.states.begin());
  for (std::size_t step = 1; step <= times.size(); ++step) {
    const double* truth = dataset.state(trajectory, times.begin + step);
    double* now = result.states.data() + step * size;
    rollout.step(now - size, now);
    result.surrogate_error.push_back(relative_error(now, truth, cells, scale));
    result.persistence_error.push_back(relative_error(initial, truth, cells, scale));
  }
  return result;
}

double missed_change(const Surrogate& surrogate,
                     const Dataset& dataset,
                     Role role,
                     Workers& workers) {
  // Neighbouring snapshots hardly differ; every tenth tells as much.
  constexpr std::size_t stride = 10;
  const std::size_t size = dataset.experiment.snapshot_size();
  const std::size_t cells = size / variable_count;
  Rollout rollout(surrogate, workers);
  std::vector<double> next(size);
  double error = 0;
  double change = 0;
  for (const std::size_t trajectory : dataset.with_role(role)) {
    for (std::size_t time = 0; time + 1 < dataset.experiment.snapshots; time += stride) {
      const double* now = dataset.state(trajectory, time);
      const double* truth = dataset.state(trajectory, time + 1);
      rollout.step(now, next.data());
      for (std::size_t i = 0; i < size; ++i) {
        const double scale = surrogate.normalisation.change[i / cells];
        const double missed = (next[i] - truth[i]) / scale;
        const double happened = (truth[i] - now[i]) / scale;
        error += missed * missed;
        change += happened * happened;
      }
    }
  }
  return std::sqrt(error / change);
}

void write_forecast(H5Writer& file,
                    const Dataset& dataset,
                    std::size_t trajectory,
                    const Forecast& forecast) {
  const Experiment& experiment = dataset.experiment;
  const std::size_t cells = experiment.snapshot_size() / variable_count;
  const std::size_t steps = forecast.surrogate_error.size();
  const Bubble& bubble = dataset.trajectories[trajectory].bubble;
  file.attribute("/", "Conventions", "CF-1.8");
  file.attribute("/", "title", "Surrogate of rising warm bubbles: forecast of the held-out bubble");
  file.attribute("/", "source", "supercell-train 1.0.0");
  file.attribute("/", "bubble_x_m", bubble.x);
  file.attribute("/", "bubble_z_m", bubble.z);
  file.attribute("/", "bubble_radius_m", bubble.radius);
  file.attribute("/", "bubble_amplitude_k", bubble.amplitude);
  file.attribute("/", "interval_s", experiment.interval);
  write_axes(file, experiment, steps + 1);
  const Dimensions shape{steps + 1, experiment.kept_z(), experiment.kept_x()};
  for (std::size_t v = 0; v < variable_count; ++v) {
    const std::string name = variables[v].name;
    const std::string what = variables[v].long_name;
    file.write(name,
               shape,
               one_variable(forecast.states.data(), steps + 1, v, cells),
               {what + ", of the surrogate", variables[v].units, "time z x", "time z x"});
    file.write(name + "_reference",
               shape,
               one_variable(dataset.state(trajectory, forecast.start), steps + 1, v, cells),
               {what + ", of the simulation", variables[v].units, "time z x", "time z x"});
  }
  std::vector<double> lead;
  for (std::size_t step = 1; step <= steps; ++step) {
    lead.push_back(static_cast<double>(step) * experiment.interval);
  }
  file.write("lead", {steps}, lead, {"time since the start of the forecast", "s", "lead", ""});
  file.write("surrogate_error",
             {steps},
             forecast.surrogate_error,
             {"relative L2 error of the surrogate in normalised variables", "1", "lead", "lead"});
  file.write(
      "persistence_error",
      {steps},
      forecast.persistence_error,
      {"relative L2 error of the initial state in normalised variables", "1", "lead", "lead"});
  file.attribute("/", "one_step_error", forecast.surrogate_error[0]);
  file.attribute("/", "ten_step_error", forecast.surrogate_error[9]);
  file.attribute("/", "one_step_persistence", forecast.persistence_error[0]);
  file.attribute("/", "ten_step_persistence", forecast.persistence_error[9]);
}

}  // namespace supercell
