#pragma once

#include <sabath/spec/metric.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace sabath::compare {

/// Assigns numbers to cells. Two numbers of one cell hold the tolerance abs(a-b) <= absolute +
/// relative * max(abs a, abs b). The converse does not hold.
class Rounding {
 public:
  struct Cell {
    std::uint64_t bits = 0;
    bool is_absolute = false;  ///< by which part of the tolerance; bits of both mean other things

    bool operator==(const Cell&) const = default;
  };

  /// All parts of the tolerance are set.
  explicit Rounding(const spec::Tolerance& tolerance)
      : absolute_(*tolerance.absolute), relative_(*tolerance.relative) {
    // Numbers that agree in so many leading bits of the mantissa are within 2^-bits of the larger.
    const double bits = relative_ > 0 ? std::ceil(-std::log2(relative_)) : 52;
    dropped_bits_ = 52 - static_cast<unsigned>(std::clamp(bits, 1.0, 52.0));
  }

  bool is_exact() const noexcept { return absolute_ <= 0 && dropped_bits_ == 0; }

  Cell cell(double value) const {
    if (std::isnan(value)) return {~std::uint64_t{0}, false};
    if (value == 0) value = 0;  // both zeros are equal
    if (absolute_ > 0 && std::abs(value) * relative_ <= absolute_) {
      // A cell is a little narrower than the tolerance, since the quotient is rounded.
      const double cell = std::floor(value / (absolute_ * (1 - 0x1p-40)));
      if (std::abs(cell) < 0x1p40) return {std::bit_cast<std::uint64_t>(cell + 0.0), true};
    }
    const unsigned dropped = std::isnormal(value) ? dropped_bits_ : 0;
    return {std::bit_cast<std::uint64_t>(value) >> dropped << dropped, false};
  }

 private:
  double absolute_;
  double relative_;
  unsigned dropped_bits_ = 0;
};

}  // namespace sabath::compare
