#include "surrogate.h"

#include "error.h"

#include <algorithm>

namespace supercell {
namespace {

constexpr std::int64_t layout_version = 1;

template <std::size_t size>
std::array<double, size> read_row(const H5Reader& file, const std::string& name) {
  const std::vector<double> values = file.read(name, 1).values;
  if (values.size() != size) {
    throw Error(file.path() + ": data set '" + name + "' has " + std::to_string(values.size()) +
                " entries instead of " + std::to_string(size));
  }
  std::array<double, size> row{};
  std::copy(values.begin(), values.end(), row.begin());
  return row;
}

}  // namespace

Rollout::Rollout(const Surrogate& surrogate, Workers& workers)
    : surrogate_(surrogate),
      workers_(workers),
      factor_(surrogate.normalisation.feature_factor()),
      padded_(surrogate.experiment, 1),
      blocks_(static_cast<std::size_t>(workers.count()), BlockBuffers(surrogate.network.hidden())) {
}

void Rollout::step(const double* state, double* next) {
  padded_.set(0, state);
  workers_.run([&](int rank) { advance_rows(next, rank); });
}

void Rollout::advance_rows(double* next, int rank) {
  const std::size_t cells = padded_.cells();
  const std::size_t blocks = (cells + block_size - 1) / block_size;
  const Range mine = share_of(blocks, rank, workers_.count());
  BlockBuffers& block = blocks_[static_cast<std::size_t>(rank)];
  for (std::size_t b = mine.begin; b < mine.end; ++b) {
    const std::size_t first = b * block_size;
    const std::size_t count = std::min(block_size, cells - first);
    for (std::size_t lane = 0; lane < count; ++lane) {
      padded_.gather(0, first + lane, block.patches, lane);
    }
    expand(block.patches, factor_, block.features);
    forward(surrogate_.network, block);
    for (std::size_t v = 0; v < variable_count; ++v) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        next[v * cells + first + lane] =
            padded_.value(0, v, first + lane) +
            surrogate_.normalisation.change[v] * block.output[v * block_size + lane];
      }
    }
  }
}

void write_weights(H5Writer& file, const Surrogate& surrogate, std::uint64_t seed) {
  const Network& network = surrogate.network;
  const std::span<const double> all = network.parameters();
  file.attribute("/", "title", "Surrogate of rising warm bubbles: weights");
  file.attribute("/",
                 "network",
                 "output = V s(W f) + L f with s(a) = a / sqrt(1 + a^2); the output times "
                 "change_scale is the change of the centre of a patch in one interval");
  file.attribute("/",
                 "features",
                 "per variable 25 products of Gram polynomials of a patch of 5 by 5 cells, each "
                 "divided by feature_scale; height; 1");
  file.attribute("/", "source", "supercell-train 1.0.0");
  file.attribute("/", "layout_version", layout_version);
  file.attribute("/", "seed", std::to_string(seed));
  file.attribute("/", "interval_s", surrogate.experiment.interval);
  file.attribute("/", "spacing_x_m", surrogate.experiment.kept_grid().spacing_x());
  file.attribute("/", "spacing_z_m", surrogate.experiment.kept_grid().spacing_z());
  file.write("hidden_weights",
             {Network::inputs, network.hidden()},
             all.first(network.output_offset()),
             {"W, from features to hidden units", "1", "feature hidden", ""});
  file.write("output_weights",
             {network.hidden(), Network::outputs},
             all.subspan(network.output_offset(), network.hidden() * Network::outputs),
             {"V, from hidden units to outputs", "1", "hidden variable", ""});
  file.write("linear_weights",
             {Network::inputs, Network::outputs},
             all.subspan(network.linear_offset()),
             {"L, from features to outputs", "1", "feature variable", ""});
  const Normalisation& scale = surrogate.normalisation;
  file.write("feature_scale",
             {feature_count},
             scale.feature,
             {"root mean square of each feature in the units of its variable", "1", "feature", ""});
  file.write("change_scale",
             {variable_count},
             scale.change,
             {"root mean square of the change of u, w, theta and exner in one interval",
              "1",
              "variable",
              ""});
  file.write("state_scale",
             {variable_count},
             scale.state,
             {"root mean square of u, w, theta and exner", "1", "variable", ""});
}

Surrogate read_weights(const std::string& path, const Experiment& experiment) {
  const H5Reader file(path);
  file.integer("layout_version", layout_version, layout_version);
  const Grid kept = experiment.kept_grid();
  if (file.real("interval_s") != experiment.interval ||
      file.real("spacing_x_m") != kept.spacing_x() ||
      file.real("spacing_z_m") != kept.spacing_z()) {
    throw Error(path + ": the weights are for another grid or interval than the data");
  }
  const H5Array into = file.read("hidden_weights", 2);
  const H5Array out = file.read("output_weights", 2);
  const H5Array linear = file.read("linear_weights", 2);
  const std::uint64_t hidden = into.dimensions[1];
  if (hidden == 0 || into.dimensions[0] != Network::inputs ||
      out.dimensions != Dimensions{hidden, Network::outputs} ||
      linear.dimensions != Dimensions{Network::inputs, Network::outputs}) {
    throw Error(path + ": the shapes of the weights do not make a network");
  }
  Network network(hidden);
  auto to = network.parameters().begin();
  for (const H5Array* part : {&into, &out, &linear}) {
    to = std::copy(part->values.begin(), part->values.end(), to);
  }
  const Normalisation normalisation{read_row<feature_count>(file, "feature_scale"),
                                    read_row<variable_count>(file, "change_scale"),
                                    read_row<variable_count>(file, "state_scale")};
  for (const double scale : normalisation.feature) {
    if (!(scale > 0)) throw Error(path + ": a scale is not positive");
  }
  return {experiment, std::move(network), normalisation};
}

}  // namespace supercell
