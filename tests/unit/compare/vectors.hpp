#pragma once

#include <sabath/base/file.hpp>
#include <sabath/compare/sample.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace sabath::test {

/// tests/data/compare/NAME.
inline nlohmann::json compare_vectors(const std::string& name) {
  return nlohmann::json::parse(base::read_file(std::string(SABATH_TEST_DATA) + "/compare/" + name));
}

/// Relative, and absolute for a wanted zero.
inline Approx close_to(double wanted, double within = 1e-12) {
  return Approx(wanted).epsilon(within).margin(wanted == 0 ? within : 0);
}

/// Normal values that are the same on every machine.
class NormalValues {
 public:
  explicit NormalValues(unsigned seed) : state_(seed) {}

  std::vector<double> operator()(std::size_t count, double mean, double sd) {
    std::vector<double> values;
    while (values.size() < count)
      values.push_back(mean + sd * next());
    return values;
  }

 private:
  double uniform() {
    state_ = state_ * 6364136223846793005U + 1442695040888963407U;
    return static_cast<double>(state_ >> 11U) * 0x1p-53;
  }
  /// Marsaglia's polar method.
  double next() {
    while (true) {
      const double u = 2 * uniform() - 1;
      const double v = 2 * uniform() - 1;
      const double s = u * u + v * v;
      if (s > 0 && s < 1) return u * std::sqrt(-2 * std::log(s) / s);
    }
  }

  std::uint64_t state_;
};

}  // namespace sabath::test
