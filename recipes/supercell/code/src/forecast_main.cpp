#include "command_line.h"
#include "error.h"
#include "h5_file.h"
#include "metrics.h"
#include "reduced.h"
#include "snapshot.h"
#include "truth_bubbles.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>

namespace supercell {
namespace {

struct Options {
  std::string truth;
  std::string output;
  int repeats = 3;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line(
      "supercell-forecast",
      "Fits the reduced operator to the truth, forecasts the held-out bubbles, and holds "
      "its error and processor time against coarse solvers.");
  line.required("truth", options.truth, "file of supercell-truth");
  line.required("output", options.output, "folder for forecast.h5 and frontier.csv");
  line.integer("repeats", options.repeats, 1, "repeats, of which the least time counts", 1000);
  return line.parse(count, words);
}

double processor_time() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// One way to forecast: mean error, mean distance of the tops in m, least processor time in s.
struct Entry {
  std::string name;
  std::size_t cells = 0;
  double dissipation = 0;
  double sound = 1;  // divisor of the speed of sound
  double cost = 0;
  double error = 0;
  double top = 0;
};

using Fields = std::vector<std::vector<double>>;  // theta' of each held-out bubble

void compare(Entry& entry, const Truth& truth, const Fields& forecasts, std::size_t cells) {
  const auto count = static_cast<double>(forecasts.size());
  for (std::size_t b = 0; b < forecasts.size(); ++b) {
    const std::vector<double> means = block_means(truth.final_theta[b], truth.cells, cells);
    entry.error += relative_difference(forecasts[b], means) / count;
    entry.top += std::fabs(thermal_top(forecasts[b], cells) -
                           thermal_top(truth.final_theta[b], truth.cells)) /
                 count;
  }
}

// The solver of the truth on a coarser grid, with sound slowed down by `sound`.
Entry coarse_solver(
    const Truth& truth, std::size_t cells, double dissipation, double sound, int repeats) {
  SolverSettings settings;
  settings.grid.cells_x = cells;
  settings.grid.cells_z = cells * 3 / 4;
  settings.dissipation = dissipation;
  settings.sound_divisor = sound;
  // At most 375 m s-1 of sound and 15 m s-1 of wind.
  const auto steps = static_cast<std::size_t>(
      std::ceil(forecast_time * (375.0 / sound + 15.0) / settings.grid.spacing_x()));
  Workers workers(1);
  Entry entry{"coarse solver", cells, dissipation, sound, 0, 0, 0};
  Fields fields;
  for (std::size_t b = 0; b < truth.final_theta.size(); ++b) {
    double least = HUGE_VAL;
    for (int repeat = 0; repeat < repeats; ++repeat) {
      Solver solver(settings, workers);
      set_bubble(solver, held_out_bubbles[b]);
      const double start = processor_time();
      for (std::size_t step = 0; step < steps; ++step)
        solver.step(forecast_time / static_cast<double>(steps));
      least = std::fmin(least, processor_time() - start);
      if (repeat > 0) continue;
      const std::vector<double> all = take_snapshot(solver, 1);
      const std::size_t size = all.size() / variable_count;
      fields.emplace_back(all.data() + temperature * size, all.data() + (temperature + 1) * size);
    }
    entry.cost += least / static_cast<double>(truth.final_theta.size());
  }
  compare(entry, truth, fields, cells);
  return entry;
}

// Processor time of a coarse solver of the given error: between two grids of one dissipation by the
// power law through both. HUGE_VAL when none reaches it.
double cost_at(const std::vector<Entry>& solvers, double error) {
  double least = HUGE_VAL;
  for (std::size_t i = 0; i < solvers.size(); ++i) {
    const Entry& fine = solvers[i];
    if (!(fine.error <= error)) continue;
    least = std::fmin(least, fine.cost);
    if (i == 0 || solvers[i - 1].dissipation != fine.dissipation ||
        solvers[i - 1].sound != fine.sound) {
      continue;
    }
    const Entry& rough = solvers[i - 1];
    if (!(rough.error > error)) continue;
    const double part = std::log(error / rough.error) / std::log(fine.error / rough.error);
    least = std::fmin(least, rough.cost * std::exp(part * std::log(fine.cost / rough.cost)));
  }
  return least;
}

void write_forecast(const std::string& path,
                    const Truth& truth,
                    const Fields& fields,
                    const Entry& entry) {
  H5Writer file(path);
  std::vector<double> values;
  std::vector<double> reference;
  for (std::size_t b = 0; b < fields.size(); ++b) {
    values.insert(values.end(), fields[b].begin(), fields[b].end());
    const std::vector<double> means = block_means(truth.final_theta[b], truth.cells, slow_x);
    reference.insert(reference.end(), means.begin(), means.end());
  }
  file.attribute("/", "title", "Forecast of the held-out bubbles by the reduced operator");
  file.attribute("/", "forecast_error", entry.error);
  file.write("theta_perturbation",
             {fields.size(), slow_z, slow_x},
             values,
             {"theta' after 300 s, forecast", "K", "bubble z x", ""});
  file.write("theta_perturbation_reference",
             {fields.size(), slow_z, slow_x},
             reference,
             {"theta' after 300 s, truth", "K", "bubble z x", ""});
  file.commit();
}

int run(const Options& options) {
  std::error_code failure;
  const std::filesystem::path folder = options.output;
  std::filesystem::create_directories(folder, failure);
  if (failure) throw Error(options.output + ": cannot be made: " + failure.message());
  open_metrics();
  const Truth truth = read_truth(options.truth);
  const std::size_t bubbles = truth.final_theta.size();
  if (bubbles != held_out_bubbles.size()) {
    throw Error(options.truth + ": has " + std::to_string(bubbles) +
                " held-out bubbles instead of " + std::to_string(held_out_bubbles.size()));
  }
  const ReducedOperator surrogate(truth, Terms::quadratic, Targets::true_ones);
  const ReducedOperator linear(truth, Terms::linear, Targets::true_ones);
  std::vector<Entry> entries{
      {"persistence"}, {"nearest training bubble"}, {"linear operator"}, {"surrogate"}};
  std::vector<Fields> fields(entries.size());
  for (std::size_t b = 0; b < bubbles; ++b) {
    const auto& own = truth.states[truth.training + b];
    const SlowState& initial = own.front();
    // The training bubble whose initial state is most alike, moved to the same column.
    double least = HUGE_VAL;
    SlowState nearest;
    for (std::size_t t = 0; t < truth.training; ++t) {
      const auto& other = truth.states[t];
      const double away = warm_column(initial) - warm_column(other.front());
      const double distance =
          relative_difference(theta_of(shifted(other.front(), away)), theta_of(initial));
      if (distance >= least) continue;
      least = distance;
      nearest = shifted(other.back(), away);
    }
    fields[0].push_back(theta_of(initial));
    fields[1].push_back(theta_of(nearest));
    fields[2].push_back(theta_of(linear.forecast(initial, forecast_steps)));
    SlowState result;
    double cost = HUGE_VAL;
    for (int repeat = 0; repeat < 20 * options.repeats; ++repeat) {
      const double start = processor_time();
      result = surrogate.forecast(initial, forecast_steps);
      cost = std::fmin(cost, processor_time() - start);
    }
    entries[3].cost += cost / static_cast<double>(bubbles);
    fields[3].push_back(theta_of(result));
  }
  for (std::size_t i = 0; i < entries.size(); ++i)
    compare(entries[i], truth, fields[i], slow_x);
  const Entry& best = entries[3];
  if (!std::isfinite(best.error)) throw Error("the forecast of the surrogate is not finite");

  std::vector<Entry> solvers;
  constexpr std::array<std::array<double, 2>, 6> families{
      {{0, 1}, {0, 2}, {0, 3}, {0, 4}, {0.02, 1}, {0.25, 1}}};  // dissipation, divisor of sound
  for (const auto& [dissipation, sound] : families) {
    for (const std::size_t cells : {8, 12, 20, 24, 40, 60}) {
      if (cells >= truth.cells || truth.cells % cells != 0) continue;
      solvers.push_back(coarse_solver(truth, cells, dissipation, sound, options.repeats));
    }
  }
  const double coarse = cost_at(solvers, best.error);
  const bool reached = std::isfinite(coarse);
  double most = 0;
  for (const Entry& solver : solvers)
    most = std::fmax(most, solver.cost);
  const double ratio = (reached ? coarse : most) / best.cost;
  report_metrics({{"forecast_error", best.error},
                  {"forecast_top_error", best.top},
                  {"forecast_persistence", entries[0].error},
                  {"forecast_nearest", entries[1].error},
                  {"forecast_linear", entries[2].error},
                  {"forecast_cost", best.cost},
                  {"cost_ratio", ratio}});
  write_forecast((folder / "forecast.h5").string(), truth, fields[3], best);

  entries.insert(entries.end(), solvers.begin(), solvers.end());
  std::ofstream table(folder / "frontier.csv");
  table << "method,cells_x,dissipation,sound_divisor,cost_s,error,top_error_m\n";
  std::printf("theta' after %.0f s, mean of %zu held-out bubbles:\n", forecast_time, bubbles);
  for (const Entry& entry : entries) {
    std::string label = entry.name;
    if (entry.cells > 0)
      label += ", " + std::to_string(entry.cells) + " cells, dissipation " +
               std::to_string(entry.dissipation).substr(0, 4);
    if (entry.sound > 1) label += ", sound / " + std::to_string(static_cast<int>(entry.sound));
    std::printf("  %-52s error %.4f  top off by %4.0f m  %10.6f s\n",
                label.c_str(),
                entry.error,
                entry.top,
                entry.cost);
    table << entry.name << ',' << entry.cells << ',' << entry.dissipation << ',' << entry.sound
          << ',' << entry.cost << ',' << entry.error << ',' << entry.top << '\n';
  }
  if (!table.flush()) throw Error((folder / "frontier.csv").string() + ": cannot be written");
  std::printf("a coarse solver with the error of the surrogate costs %s%.0f times as much\n",
              reached ? "" : "more than ",
              ratio);
  return 0;
}

}  // namespace
}  // namespace supercell

int main(int count, char** words) {
  return supercell::guarded_main("supercell-forecast", [&] {
    supercell::Options options;
    return supercell::read_options(count, words, options) ? supercell::run(options) : 0;
  });
}
