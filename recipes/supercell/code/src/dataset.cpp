#include "dataset.h"

#include "error.h"
#include "stencil.h"

#include <algorithm>

namespace supercell {
namespace {

constexpr const char* equations =
    "dry compressible Euler equations in departures from a hydrostatic background of constant "
    "potential temperature; periodic in x, solid walls in z";
constexpr std::int64_t layout_version = 1;

void write_root(H5Writer& file, const Experiment& experiment) {
  const Background background;
  file.attribute("/", "Conventions", "CF-1.8");
  file.attribute("/", "title", "Rising warm bubbles in a neutrally stratified atmosphere");
  file.attribute("/", "equations", equations);
  file.attribute(
      "/",
      "source",
      "supercell-simulate 1.0.0: finite volumes, fourth-order interpolation, third-order "
      "Runge-Kutta; kept as means over blocks of cells");
  file.attribute("/", "layout_version", layout_version);
  const auto integer = [&](const char* name, std::size_t value) {
    file.attribute("/", name, static_cast<std::int64_t>(value));
  };
  integer("cells_x", experiment.grid.cells_x);
  integer("cells_z", experiment.grid.cells_z);
  integer("coarsening", experiment.coarsening);
  integer("steps_per_interval", experiment.steps());
  file.attribute("/", "width_m", experiment.grid.width);
  file.attribute("/", "height_m", experiment.grid.height);
  file.attribute("/", "grid_spacing_x_m", experiment.grid.spacing_x());
  file.attribute("/", "grid_spacing_z_m", experiment.grid.spacing_z());
  file.attribute("/", "interval_s", experiment.interval);
  file.attribute("/", "courant", experiment.courant);
  file.attribute("/", "time_step_s", experiment.time_step());
  file.attribute("/", "gravity_m_s2", background.gravity);
  file.attribute("/", "background_potential_temperature_k", background.potential_temperature);
}

void write_bubbles(H5Writer& file, const std::vector<Trajectory>& trajectories) {
  struct Column {
    const char* name;
    H5Description description;
    double (*value)(const Trajectory&);
  };
  const Column columns[] = {
      {"bubble_x",
       {"centre of the initial bubble in x", "m", "trajectory", ""},
       [](const Trajectory& t) { return t.bubble.x; }},
      {"bubble_z",
       {"centre of the initial bubble in z", "m", "trajectory", ""},
       [](const Trajectory& t) { return t.bubble.z; }},
      {"bubble_radius",
       {"radius of the initial bubble", "m", "trajectory", ""},
       [](const Trajectory& t) { return t.bubble.radius; }},
      {"bubble_amplitude",
       {"excess of potential temperature at the centre of the bubble", "K", "trajectory", ""},
       [](const Trajectory& t) { return t.bubble.amplitude; }},
      {"role",
       {"what the trajectory is for", "1", "trajectory", ""},
       [](const Trajectory& t) { return static_cast<double>(t.role); }},
  };
  for (const Column& column : columns) {
    std::vector<double> values;
    for (const Trajectory& trajectory : trajectories)
      values.push_back(column.value(trajectory));
    file.write(column.name, {values.size()}, values, column.description);
  }
  file.attribute("role", "flag_values", "0, 1, 2");
  file.attribute("role", "flag_meanings", "training validation held_out");
}

std::vector<Trajectory> read_bubbles(const H5Reader& file) {
  const std::vector<double> x = file.read("bubble_x", 1).values;
  const std::vector<double> z = file.read("bubble_z", 1).values;
  const std::vector<double> radius = file.read("bubble_radius", 1).values;
  const std::vector<double> amplitude = file.read("bubble_amplitude", 1).values;
  const std::vector<double> role = file.read("role", 1).values;
  std::vector<Trajectory> trajectories;
  for (const auto* column : {&z, &radius, &amplitude, &role}) {
    if (column->size() != x.size()) {
      throw Error(file.path() + ": the descriptions of the bubbles differ in number");
    }
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (role[i] != 0 && role[i] != 1 && role[i] != 2) {
      throw Error(file.path() + ": role " + std::to_string(role[i]) + " is unknown");
    }
    trajectories.push_back(
        {{x[i], z[i], radius[i], amplitude[i]}, static_cast<Role>(static_cast<int>(role[i]))});
  }
  return trajectories;
}

Experiment read_experiment(const H5Reader& file) {
  constexpr std::int64_t most = 1 << 20;
  Experiment experiment;
  file.integer("layout_version", layout_version, layout_version);
  experiment.grid.cells_x = static_cast<std::size_t>(file.integer("cells_x", 1, most));
  experiment.grid.cells_z = static_cast<std::size_t>(file.integer("cells_z", 1, most));
  experiment.coarsening = static_cast<std::size_t>(file.integer("coarsening", 1, most));
  experiment.grid.width = file.real("width_m");
  experiment.grid.height = file.real("height_m");
  experiment.interval = file.real("interval_s");
  experiment.courant = file.real("courant");
  if (!(experiment.grid.width > 0 && experiment.grid.height > 0 && experiment.interval > 0 &&
        experiment.courant > 0)) {
    throw Error(file.path() + ": a length or time among the attributes is not positive");
  }
  return experiment;
}

// Reads the variables, [trajectory][time][z][x] each, into [trajectory][time][variable][z][x].
void read_states(const H5Reader& file, Dataset& dataset) {
  Experiment& experiment = dataset.experiment;
  const std::size_t cells = experiment.kept_x() * experiment.kept_z();
  for (std::size_t v = 0; v < variable_count; ++v) {
    const H5Array array = file.read(variables[v].name, 4);
    if (v == 0) {
      experiment.snapshots = array.dimensions[1];
      dataset.states.resize(array.values.size() * variable_count);
    }
    const Dimensions expected{dataset.trajectories.size(),
                              experiment.snapshots,
                              experiment.kept_z(),
                              experiment.kept_x()};
    if (array.dimensions != expected) {
      throw Error(file.path() + ": data set '" + variables[v].name +
                  "' has another shape than the grid and the bubbles tell");
    }
    const std::size_t total = dataset.trajectories.size() * experiment.snapshots;
    for (std::size_t snapshot = 0; snapshot < total; ++snapshot) {
      std::copy_n(array.values.data() + snapshot * cells,
                  cells,
                  dataset.states.data() + (snapshot * variable_count + v) * cells);
    }
  }
}

}  // namespace

std::vector<std::size_t> Dataset::with_role(Role role) const {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < trajectories.size(); ++i) {
    if (trajectories[i].role == role) found.push_back(i);
  }
  return found;
}

void write_axes(H5Writer& file, const Experiment& experiment, std::size_t times) {
  const Grid kept = experiment.kept_grid();
  std::vector<double> time, x, z;
  for (std::size_t t = 0; t < times; ++t) {
    time.push_back(static_cast<double>(t) * experiment.interval);
  }
  for (std::size_t i = 0; i < kept.cells_x; ++i)
    x.push_back(kept.x(i));
  for (std::size_t k = 0; k < kept.cells_z; ++k)
    z.push_back(kept.z(k));
  file.write("time", {time.size()}, time, {"time since the start", "s", "time", ""});
  file.write("x", {x.size()}, x, {"horizontal position of cell centres", "m", "x", ""});
  file.write("z", {z.size()}, z, {"height of cell centres above ground", "m", "z", ""});
  file.attribute("z", "positive", "up");
}

void write_dataset(H5Writer& file, const Dataset& dataset) {
  const Experiment& experiment = dataset.experiment;
  const std::size_t cells = experiment.kept_x() * experiment.kept_z();
  const std::size_t trajectories = dataset.trajectories.size();
  write_root(file, experiment);
  write_axes(file, experiment, experiment.snapshots);
  write_bubbles(file, dataset.trajectories);
  for (std::size_t v = 0; v < variable_count; ++v) {
    std::vector<double> values;
    values.reserve(trajectories * experiment.snapshots * cells);
    for (std::size_t snapshot = 0; snapshot < trajectories * experiment.snapshots; ++snapshot) {
      const double* from = dataset.states.data() + (snapshot * variable_count + v) * cells;
      values.insert(values.end(), from, from + cells);
    }
    file.write(variables[v].name,
               {trajectories, experiment.snapshots, experiment.kept_z(), experiment.kept_x()},
               values,
               {variables[v].long_name, variables[v].units, "trajectory time z x", "time z x"});
  }
  file.write("total_mass",
             {trajectories, experiment.snapshots},
             dataset.total_mass,
             {"mass of the air per metre of depth", "kg m-1", "trajectory time", "time"});
}

Dataset read_dataset(const std::string& path) {
  const H5Reader file(path);
  Dataset dataset;
  dataset.experiment = read_experiment(file);
  try {
    dataset.experiment.check(stencil_radius);
  } catch (const UsageError& error) {
    throw Error(path + ": " + error.what());
  }
  dataset.trajectories = read_bubbles(file);
  read_states(file, dataset);
  dataset.total_mass = file.read("total_mass", 2).values;
  for (const Role role : {Role::training, Role::validation, Role::held_out}) {
    if (dataset.with_role(role).empty()) {
      throw Error(path + ": has no trajectory for training, validation or holding out");
    }
  }
  if (dataset.experiment.snapshots < 11) {
    throw Error(path + ": has fewer than 11 snapshots of each trajectory",
                "simulate with --snapshots 11 or more");
  }
  return dataset;
}

}  // namespace supercell
