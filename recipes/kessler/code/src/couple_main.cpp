#include "column.h"
#include "command_line.h"
#include "error.h"
#include "h5_file.h"
#include "metrics.h"
#include "random.h"
#include "surrogate.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>

namespace kessler {
namespace {

struct Options {
  std::string weights;
  std::string output;
  double seconds = 1800;
  int repeats = 9;
};

bool read_options(int count, const char* const* words, Options& options) {
  CommandLine line("kessler-couple",
                   "Runs a column with the warm-rain scheme, and with the surrogate in its place. "
                   "Then times both on the same cells.");
  line.required("weights", options.weights, "weights.h5 of kessler-train");
  line.required("output", options.output, "folder for column.h5 and column.csv");
  line.positive("seconds", options.seconds, "time of the column");
  line.integer("repeats", options.repeats, 1, "repeats of the timing; the median counts", 10000);
  return line.parse(count, words);
}

// A column with one scheme, and what is known of it.
struct Course {
  std::string name;
  std::function<void(Cell&)> scheme;
  Column column;
  double water_at_start;       // kg m-2
  double heat_at_start;        // J m-2
  std::vector<double> cloud;   // kg m-2, by step
  std::vector<double> rain;    // kg m-2, by step
  std::vector<double> fallen;  // kg m-2, by step
  long failed_step = 0;        // first step with impossible values, where it stops; 0: none
  double least_density = 0;    // kg m-3, over all steps

  Course(std::string course_name,
         const ColumnSettings& settings,
         std::function<void(Cell&)> cell_scheme)
      : name(std::move(course_name)),
        scheme(std::move(cell_scheme)),
        column(settings),
        water_at_start(column.water()),
        heat_at_start(column.heat()) {
    keep();
  }

  void keep() {
    double cloud_path = 0;
    double rain_path = 0;
    for (const Cell& cell : column.cells) {
      cloud_path += cell.cloud * column.settings.spacing;
      rain_path += cell.rain * column.settings.spacing;
    }
    cloud.push_back(cloud_path);
    rain.push_back(rain_path);
    fallen.push_back(column.fallen);
    least_density = std::min(least_density, column.least_density());
  }
  void step(long number) {
    if (failed_step == 0) {
      column.step(scheme);
      if (!column.is_possible()) failed_step = number;
    }
    keep();
  }
  double water_drift() const { return std::abs(column.water() / water_at_start - 1.0); }
  double heat_drift() const { return std::abs(column.heat() / heat_at_start - 1.0); }
};

std::array<double, output_count> values_of(const Cell& cell) {
  return {cell.temperature, cell.vapour, cell.cloud, cell.rain};
}

// RMS difference of the final columns over that between `idle` and `truth`, mean of the variables.
double column_error(const Column& column, const Column& truth, const Column& idle) {
  std::array<double, output_count> errors{};
  std::array<double, output_count> scales{};
  for (std::size_t k = 0; k < truth.cells.size(); ++k) {
    const auto found = values_of(column.cells[k]);
    const auto wanted = values_of(truth.cells[k]);
    const auto start = values_of(idle.cells[k]);
    for (std::size_t o = 0; o < output_count; ++o) {
      errors[o] += (found[o] - wanted[o]) * (found[o] - wanted[o]);
      scales[o] += (start[o] - wanted[o]) * (start[o] - wanted[o]);
    }
  }
  double sum = 0;
  for (std::size_t o = 0; o < output_count; ++o)
    sum += scales[o] > 0 ? std::sqrt(errors[o] / scales[o]) : 0;
  return sum / output_count;
}

// Sums of squares for the skill of one step on the states of the column.
struct OneStep {
  std::array<double, output_count> errors{};
  std::array<double, output_count> changes{};

  void add(const Cell& before, const Cell& after, const Change& predicted) {
    const auto old_values = values_of(before);
    const auto new_values = values_of(after);
    for (std::size_t o = 0; o < output_count; ++o) {
      const double change = new_values[o] - old_values[o];
      errors[o] += (predicted[o] - change) * (predicted[o] - change);
      changes[o] += change * change;
    }
  }
  double lowest_skill() const {
    double lowest = 1;
    for (std::size_t o = 0; o < output_count; ++o) {
      if (changes[o] > 0) lowest = std::min(lowest, 1.0 - errors[o] / changes[o]);
    }
    return lowest;
  }
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : 0.5 * (values[half - 1] + values[half]);
}

// Time of a scheme for one cell in ns. The sum of the results keeps the compiler from leaving them
// out.
template <class Scheme>
double time_per_cell(const std::vector<Cell>& cells, double& sum, const Scheme& scheme) {
  const auto start = std::chrono::steady_clock::now();
  for (Cell cell : cells) {
    scheme(cell);
    sum += cell.temperature;
  }
  const std::chrono::duration<double, std::nano> wall = std::chrono::steady_clock::now() - start;
  return wall.count() / static_cast<double>(cells.size());
}

void time_both(const Surrogate& surrogate, int repeats) {
  Random random(1, 0);
  std::vector<Cell> cells(50000);
  std::generate(cells.begin(), cells.end(), [&random] { return random_cell(random); });
  std::vector<double> scheme_times;
  std::vector<double> surrogate_times;
  double sum = 0;
  // In turns, so that other load on the machine disturbs both alike.
  for (int repeat = 0; repeat < repeats; ++repeat) {
    scheme_times.push_back(time_per_cell(
        cells, sum, [&surrogate](Cell& cell) { step_cell(cell, surrogate.scaling.time_step); }));
    surrogate_times.push_back(time_per_cell(cells, sum, [&surrogate](Cell& cell) {
      add_conserving(cell, surrogate.network_change(cell));
    }));
  }
  if (!std::isfinite(sum)) throw Error("the timed cells have values that are not finite");
  const double scheme = median(scheme_times);
  const double network = median(surrogate_times);
  report_metrics({{"scheme_time", 1e-9 * scheme},
                  {"surrogate_time", 1e-9 * network},
                  {"speedup", scheme / network}});
  std::printf(
      "per cell: scheme %.1f ns, surrogate %.1f ns (median of %d); the surrogate is %.2f "
      "times as fast%s\n",
      scheme,
      network,
      repeats,
      scheme / network,
      scheme > network ? "" : ", that is slower");
}

void write_courses(const Options& options, const std::vector<Course>& courses) {
  const std::filesystem::path folder = options.output;
  const std::string table = (folder / "column.csv").string();
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> csv(std::fopen(table.c_str(), "we"),
                                                            std::fclose);
  if (!csv) throw Error(table + ": cannot be written");
  std::fprintf(csv.get(), "time");
  for (const Course& course : courses) {
    const char* name = course.name.c_str();
    std::fprintf(csv.get(), ",%s_cloud,%s_rain,%s_fallen", name, name, name);
  }
  const double time_step = courses.front().column.settings.time_step;
  for (std::size_t i = 0; i < courses.front().cloud.size(); ++i) {
    std::fprintf(csv.get(), "\n%g", time_step * static_cast<double>(i));
    for (const Course& course : courses)
      std::fprintf(
          csv.get(), ",%.17g,%.17g,%.17g", course.cloud[i], course.rain[i], course.fallen[i]);
  }
  std::fprintf(csv.get(), "\n");
  if (std::fflush(csv.get()) != 0) throw Error(table + ": cannot be written");

  H5Writer file((folder / "column.h5").string());
  for (const Course& course : courses) {
    std::vector<double> values;
    for (const Cell& cell : course.column.cells) {
      for (const double value : values_of(cell))
        values.push_back(value);
    }
    file.write(course.name,
               {{"level", course.column.cells.size()}, {"num_vars_out", output_count}},
               values,
               "K, kg m-3, kg m-3, kg m-3");
  }
  file.commit();
}

int run(const Options& options) {
  std::error_code failure;
  std::filesystem::create_directories(options.output, failure);
  if (failure) throw Error(options.output + ": cannot be created: " + failure.message());
  open_metrics();
  const Surrogate surrogate = read_surrogate(options.weights);
  ColumnSettings settings;
  settings.time_step = surrogate.scaling.time_step;
  const auto steps = std::max(1L, std::lround(std::min(options.seconds / settings.time_step, 1e7)));
  OneStep network_step;
  OneStep linear_step;
  std::vector<Course> courses;
  courses.emplace_back("scheme", settings, [&](Cell& cell) {
    const Cell before = cell;
    step_cell(cell, settings.time_step);
    network_step.add(before, cell, surrogate.network_change(before));
    linear_step.add(before, cell, surrogate.linear_change(before));
  });
  courses.emplace_back("surrogate", settings, [&](Cell& cell) {
    add_conserving(cell, surrogate.network_change(cell));
  });
  courses.emplace_back("uncorrected", settings, [&](Cell& cell) {
    add_plain(cell, surrogate.network_change(cell));
  });
  courses.emplace_back("least_squares", settings, [&](Cell& cell) {
    add_conserving(cell, surrogate.linear_change(cell));
  });
  courses.emplace_back("none", settings, [](Cell&) {});
  for (long step = 1; step <= steps; ++step) {
    for (Course& course : courses)
      course.step(step);
  }
  write_courses(options, courses);

  const Column& truth = courses[0].column;
  const Column& none = courses[4].column;
  std::printf(
      "column of %zu cells, %ld steps of %g s\n", settings.levels, steps, settings.time_step);
  std::printf("%-14s %8s %12s %12s %12s %12s\n",
              "scheme",
              "error",
              "rain kg/m2",
              "water drift",
              "heat drift",
              "least kg/m3");
  for (const Course& course : courses) {
    std::printf("%-14s %8.4f %12.4f %12.2e %12.2e %12.2e\n",
                course.name.c_str(),
                column_error(course.column, truth, none),
                course.column.fallen,
                course.water_drift(),
                course.heat_drift(),
                course.least_density);
    if (course.failed_step > 0) {
      std::printf("%s: stopped at step %ld, its values are impossible\n",
                  course.name.c_str(),
                  course.failed_step);
    }
  }
  std::printf(
      "one step on states of the column, lowest skill: surrogate %.4f, least squares %.4f\n",
      network_step.lowest_skill(),
      linear_step.lowest_skill());
  report_metrics({{"column_skill", network_step.lowest_skill()},
                  {"column_least_squares_skill", linear_step.lowest_skill()},
                  {"column_error", column_error(courses[1].column, truth, none)},
                  {"column_least_squares_error", column_error(courses[3].column, truth, none)},
                  {"column_rain", courses[1].column.fallen},
                  {"column_scheme_rain", truth.fallen},
                  {"column_water_drift", courses[1].water_drift()},
                  {"column_heat_drift", courses[1].heat_drift()},
                  {"column_uncorrected_water_drift", courses[2].water_drift()},
                  {"column_uncorrected_failed_step", static_cast<double>(courses[2].failed_step)},
                  {"column_least_density", courses[1].least_density},
                  {"column_failed_step", static_cast<double>(courses[1].failed_step)},
                  {"scheme_water_drift", courses[0].water_drift()},
                  {"scheme_heat_drift", courses[0].heat_drift()}});
  time_both(surrogate, options.repeats);
  if (courses[1].failed_step > 0) {
    throw Error("the column with the surrogate has impossible values at step " +
                std::to_string(courses[1].failed_step));
  }
  return 0;
}

}  // namespace
}  // namespace kessler

int main(int count, char** words) {
  return kessler::guarded_main("kessler-couple", [&] {
    kessler::Options options;
    return kessler::read_options(count, words, options) ? kessler::run(options) : 0;
  });
}
