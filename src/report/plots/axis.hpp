#pragma once

#include <string>
#include <vector>

namespace sabath::report {

enum class Scale { linear, logarithmic };

struct Tick {
  double value = 0;
  std::string text{};
};

/// An axis that holds all of its values, with marks at round numbers.
struct Axis {
  double low = 0;
  double high = 1;
  Scale scale = Scale::linear;
  std::vector<Tick> ticks{};

  /// 0 at the lower end, 1 at the upper.
  double share(double value) const;
};

/// From `low` to `high` (finite), widened to round numbers where `widen` says so; a range of
/// nothing gets some room.
Axis linear_axis(double low, double high, int marks = 5, bool widen = true);
/// Of positive values over at least two orders of magnitude logarithmic, else linear.
Axis fitting_axis(double low, double high, int marks = 5);

/// As number_text, with as many digits more as tell different values apart.
std::vector<std::string> texts_apart(const std::vector<double>& values);

/// As texts_apart, for numbers whose digits are not at hand. A whole number from 2^53 on is "about
/// 1.152921504606847e+18", since the number that a run reported may be another one.
std::vector<std::string> nearest_texts(const std::vector<double>& values);

}  // namespace sabath::report
