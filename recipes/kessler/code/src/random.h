#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace kessler {

// SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA
// 2014). The distributions are our own: those of the C++ library differ between libraries.
class Random {
 public:
  // Each stream of a seed is independent of the other streams.
  Random(std::uint64_t seed, std::uint64_t stream) : counter_(mix(seed + mix(stream + gamma))) {}

  std::uint64_t next() { return mix(counter_ += gamma); }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }
  double uniform(double least, double most) { return least + (most - least) * uniform(); }

  // Exponential distribution with this mean.
  double exponential(double mean) { return -mean * std::log1p(-uniform()); }

  // Normal distribution (Box and Muller, 1958; the second value is not used).
  double normal() {
    const double radius = std::sqrt(-2.0 * std::log1p(-uniform()));
    return radius * std::cos(2.0 * std::numbers::pi * uniform());
  }

  // In [0, bound), bound > 0. The bias is below bound / 2^32.
  std::uint32_t below(std::uint32_t bound) {
    return static_cast<std::uint32_t>(((next() >> 32) * bound) >> 32);
  }

 private:
  static constexpr std::uint64_t gamma = 0x9e3779b97f4a7c15;

  static constexpr std::uint64_t mix(std::uint64_t value) {
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9;
    value = (value ^ (value >> 27)) * 0x94d049bb133111eb;
    return value ^ (value >> 31);
  }

  std::uint64_t counter_;
};

}  // namespace kessler
