#include "gradient.h"

#include "least_squares.h"
#include "matrix.h"
#include "random.h"

#include <algorithm>
#include <cmath>

namespace supercell {

BatchGradient::BatchGradient(const TrainingData& data,
                             const Normalisation& normalisation,
                             const Network& network,
                             Noise noise,
                             Reduction reduction,
                             Workers& workers)
    : data_(data),
      normalisation_(normalisation),
      factor_(normalisation.feature_factor()),
      network_(network),
      noise_(noise),
      reduction_(reduction),
      workers_(workers),
      blocks_(static_cast<std::size_t>(workers.count()), BlockBuffers(network.hidden())),
      total_(network.parameters().size()) {
  for (std::size_t m = 0; m < stencil_modes; ++m)
    modes_[m] = mode(m);
}

void BatchGradient::disturb(BlockBuffers& block, std::size_t lane, std::uint64_t place) const {
  // Stream numbers far from those of weights and order.
  Random random(noise_.seed, (std::uint64_t{1} << 32) + place);
  for (std::size_t v = 0; v < variable_count; ++v) {
    // The variance of a uniform number in [-1, 1] is 1 / 3.
    const double amplitude = noise_.amplitude * normalisation_.state[v] * std::sqrt(3.0);
    double at_centre = 0;
    for (std::size_t m = 0; m < stencil_modes; ++m) {
      const Mode& info = modes_[m];
      if (!info.fine) continue;
      const double error = amplitude * std::sqrt(info.gain) * (2.0 * random.uniform() - 1.0);
      const std::size_t feature = v * stencil_modes + m;
      block.features[feature * block_size + lane] += error * factor_[feature];
      at_centre += error * info.centre / info.gain;
    }
    block.target[v * block_size + lane] -= at_centre / normalisation_.change[v];
  }
}

void BatchGradient::split(std::size_t samples) {
  const bool ordered = reduction_ == Reduction::ordered;
  const auto workers = static_cast<std::size_t>(workers_.count());
  parts_.resize(ordered ? (samples + block_size - 1) / block_size : workers);
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    Part& part = parts_[i];
    part.samples = ordered ? Range{i * block_size, std::min((i + 1) * block_size, samples)}
                           : share_of(samples, static_cast<int>(i), workers_.count());
    part.gradient.resize(total_.size());
  }
}

void BatchGradient::load(std::span<const std::uint32_t> samples,
                         Range range,
                         BlockBuffers& block) const {
  for (std::size_t i = range.begin; i < range.end; ++i) {
    data_.load(samples[i], normalisation_, block, i - range.begin);
  }
  expand(block.patches, factor_, block.features);
  for (std::size_t i = range.begin; i < range.end; ++i) {
    disturb(block, i - range.begin, samples_before_ + i);
  }
}

std::vector<double> BatchGradient::best_linear_path(std::span<const std::uint32_t> samples) {
  LeastSquares problem(Network::inputs, Network::outputs);
  BlockBuffers& block = blocks_.front();
  std::vector<double> turned(Network::inputs * block_size);
  for (std::size_t first = 0; first < samples.size(); first += block_size) {
    const std::size_t count = std::min(block_size, samples.size() - first);
    load(samples, {first, first + count}, block);
    const MatrixView features{block.features.data(), block_size, 1};
    transpose(block.features.data(), Network::inputs, turned.data());
    add_product(features,
                turned.data(),
                problem.squares().data(),
                {Network::inputs, count, Network::inputs});
    transpose(block.target.data(), Network::outputs, turned.data());
    add_product(features,
                turned.data(),
                problem.products().data(),
                {Network::inputs, count, Network::outputs});
  }
  samples_before_ += samples.size();
  return problem.solve(1e-12);
}

void BatchGradient::accumulate(std::span<const std::uint32_t> samples,
                               Part& part,
                               BlockBuffers& block) const {
  part.sum = 0;
  std::fill(part.gradient.begin(), part.gradient.end(), 0.0);
  for (std::size_t first = part.samples.begin; first < part.samples.end; first += block_size) {
    const std::size_t count = std::min(block_size, part.samples.end - first);
    load(samples, {first, first + count}, block);
    forward(network_, block);
    part.sum += backward(network_, block, count, part.gradient);
  }
}

double BatchGradient::evaluate(std::span<const std::uint32_t> samples) {
  split(samples.size());
  workers_.run([&](int rank) {
    const Range mine = share_of(parts_.size(), rank, workers_.count());
    for (std::size_t i = mine.begin; i < mine.end; ++i) {
      accumulate(samples, parts_[i], blocks_[static_cast<std::size_t>(rank)]);
    }
  });
  std::fill(total_.begin(), total_.end(), 0.0);
  double sum = 0;
  for (const Part& part : parts_) {
    sum += part.sum;
    for (std::size_t i = 0; i < total_.size(); ++i)
      total_[i] += part.gradient[i];
  }
  samples_before_ += samples.size();
  const double terms = static_cast<double>(samples.size() * Network::outputs);
  for (double& value : total_)
    value *= 2.0 / terms;
  return sum / terms;
}

}  // namespace supercell
