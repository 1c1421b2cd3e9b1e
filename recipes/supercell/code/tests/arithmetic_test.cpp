#include "atmosphere.h"
#include "gradient.h"
#include "least_squares.h"
#include "matrix.h"
#include "network.h"
#include "random.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace supercell;

namespace {

std::vector<double> random_numbers(std::size_t count, std::uint64_t stream) {
  Random random(7, stream);
  std::vector<double> numbers(count);
  for (double& number : numbers)
    number = 2.0 * random.uniform() - 1.0;
  return numbers;
}

double loss(const Network& network, BlockBuffers& block, std::size_t samples) {
  forward(network, block);
  double sum = 0;
  for (std::size_t v = 0; v < variable_count; ++v) {
    for (std::size_t lane = 0; lane < samples; ++lane) {
      const std::size_t i = v * block_size + lane;
      sum += 0.5 * (block.output[i] - block.target[i]) * (block.output[i] - block.target[i]);
    }
  }
  return sum;
}

}  // namespace

TEST_CASE("arithmetic: fifth roots are those of the mathematics library to rounding") {
  for (int i = 0; i <= 70; ++i) {
    const double x = 0.7 + 0.01 * i;
    CHECK(fifth_root<3>(x) == Approx(std::pow(x, 0.2)).epsilon(1e-15));
  }
  for (int i = 0; i <= 78; ++i) {
    const double x = 0.1 + 0.05 * i;
    CHECK(fifth_root<8>(x) == Approx(std::pow(x, 0.2)).epsilon(1e-15));
  }
}

TEST_CASE("arithmetic: the background is hydrostatic") {
  const Background air;
  for (const double z : {100.0, 3000.0, 9000.0}) {
    const double slope = (air.pressure(z + 1.0) - air.pressure(z - 1.0)) / 2.0;
    CHECK(slope == Approx(-air.gravity * air.density(z)).epsilon(1e-7));
    CHECK(pressure_of_heat(air.heat(z)) == Approx(air.pressure(z)).epsilon(1e-14));
  }
}

TEST_CASE("arithmetic: blocked products are plain products to the bit, in any shape") {
  for (const ProductShape shape : {ProductShape{1, 1, 1}, {4, 9, 8}, {7, 5, 13}, {102, 32, 35}}) {
    const std::vector<double> a = random_numbers(shape.rows * shape.inner, 1);
    const std::vector<double> b = random_numbers(shape.inner * shape.columns, 2);
    std::vector<double> c = random_numbers(shape.rows * shape.columns, 3);
    std::vector<double> expected = c;
    for (std::size_t i = 0; i < shape.rows; ++i) {
      for (std::size_t j = 0; j < shape.columns; ++j) {
        for (std::size_t p = 0; p < shape.inner; ++p) {
          // a is stored transposed here.
          expected[i * shape.columns + j] += a[p * shape.rows + i] * b[p * shape.columns + j];
        }
      }
    }
    add_product({a.data(), 1, shape.rows}, b.data(), c.data(), shape);
    CHECK(c == expected);
  }
}

TEST_CASE("arithmetic: least squares finds the weights that made the data") {
  constexpr std::size_t inputs = 5;
  const std::vector<double> truth = random_numbers(inputs, 4);
  const std::vector<double> samples = random_numbers(40 * inputs, 5);
  LeastSquares problem(inputs, 1);
  for (std::size_t s = 0; s < 40; ++s) {
    const double* sample = samples.data() + s * inputs;
    double value = 0;
    for (std::size_t i = 0; i < inputs; ++i)
      value += truth[i] * sample[i];
    for (std::size_t i = 0; i < inputs; ++i) {
      problem.products()[i] += sample[i] * value;
      for (std::size_t j = 0; j < inputs; ++j) {
        problem.squares()[i * inputs + j] += sample[i] * sample[j];
      }
    }
  }
  const std::vector<double> found = problem.solve(0.0);
  for (std::size_t i = 0; i < inputs; ++i)
    CHECK(found[i] == Approx(truth[i]).epsilon(1e-12));
}

TEST_CASE("arithmetic: the modes of a patch make the patch again") {
  PatchBlock patches;
  const std::vector<double> numbers = random_numbers(patches.values.size(), 6);
  std::copy(numbers.begin(), numbers.end(), patches.values.begin());
  std::array<double, feature_count> ones{};
  ones.fill(1.0);
  FeatureBlock features{};
  expand(patches, ones, features);
  for (std::size_t v = 0; v < variable_count; ++v) {
    for (const std::size_t lane : {std::size_t{0}, block_size - 1}) {
      double centre = 0;
      for (std::size_t m = 0; m < stencil_modes; ++m) {
        const double value = features[(v * stencil_modes + m) * block_size + lane];
        centre += value * mode(m).centre / mode(m).gain;
      }
      const std::size_t at_centre = v * stencil_points + stencil_points / 2;
      CHECK(centre == Approx(patches.values[at_centre * block_size + lane]).epsilon(1e-12));
    }
  }
}

TEST_CASE("arithmetic: the gradient is that of finite differences") {
  Network network(6, 3);
  BlockBuffers block(6);
  const std::vector<double> features = random_numbers(block.features.size(), 8);
  const std::vector<double> targets = random_numbers(block.target.size(), 9);
  const std::vector<double> linear = random_numbers(Network::inputs * Network::outputs, 10);
  std::copy(features.begin(), features.end(), block.features.begin());
  std::copy(targets.begin(), targets.end(), block.target.begin());
  std::ranges::copy(linear, network.parameters().subspan(network.linear_offset()).begin());
  constexpr std::size_t samples = 21;  // not a whole block
  std::vector<double> gradient(network.parameters().size());
  forward(network, block);
  backward(network, block, samples, gradient);
  for (std::size_t i = 0; i < gradient.size(); i += 37) {
    constexpr double step = 1e-5;
    const double kept = network.parameters()[i];
    network.parameters()[i] = kept + step;
    const double above = loss(network, block, samples);
    network.parameters()[i] = kept - step;
    const double below = loss(network, block, samples);
    network.parameters()[i] = kept;
    CHECK(gradient[i] == Approx((above - below) / (2 * step)).epsilon(1e-6).margin(1e-7));
  }
}

TEST_CASE("arithmetic: seeds and streams give numbers of their own, again and again") {
  Random first(1, 1);
  Random again(1, 1);
  Random other_stream(1, 2);
  Random other_seed(2, 1);
  const std::uint64_t value = first.next();
  CHECK(value == again.next());
  CHECK(value != other_stream.next());
  CHECK(value != other_seed.next());
  double sum = 0;
  for (int i = 0; i < 100000; ++i)
    sum += first.uniform();
  CHECK(sum / 100000 == Approx(0.5).margin(0.005));
}
