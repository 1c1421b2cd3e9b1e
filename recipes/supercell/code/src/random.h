#pragma once

#include <cstdint>

namespace supercell {

// SplitMix64: a counter that grows by the golden ratio, put through a mixing function (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Own distributions, as
// those of the C++ library may differ from one library to the next.
class Random {
 public:
  // Streams of the same seed are independent of each other, so that the order of the samples does
  // not shift when the network grows.
  Random(std::uint64_t seed, std::uint64_t stream) : counter_(mix(seed + mix(stream + gamma))) {}

  std::uint64_t next() { return mix(counter_ += gamma); }

  // In [0, 1), a multiple of 2^-53.
  double uniform() { return static_cast<double>(next() >> 11) * 0x1p-53; }

  // In [0, bound), bound > 0. Multiply and shift; the bias is below bound / 2^32.
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

}  // namespace supercell
