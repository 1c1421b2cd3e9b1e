#pragma once

#include <string>
#include <vector>

namespace sabath::report {

enum class Scale { linear, logarithmic };

struct Tick {
  double value = 0;
  std::string text{};
};

/// An axis that contains all values, with ticks at round numbers.
struct Axis {
  double low = 0;
  double high = 1;
  Scale scale = Scale::linear;
  std::vector<Tick> ticks{};

  /// 0 at the lower end, 1 at the upper.
  double share(double value) const;
};

/// Axis from `low` to `high` (finite), extended to round numbers if `widen`. An empty range is
/// widened. Marks are at least `least_step` apart.
Axis linear_axis(double low, double high, int marks = 5, bool widen = true, double least_step = 0);
/// Logarithmic for positive values over at least two orders of magnitude, else linear.
Axis fitting_axis(double low, double high, int marks = 5);

/// Texts like number_text, with additional digits to distinguish different values.
std::vector<std::string> texts_apart(const std::vector<double>& values);

/// As texts_apart, for numbers without known digits. A whole number from 2^53 on is "about
/// 1.152921504606847e+18", since the run may have reported another one.
std::vector<std::string> nearest_texts(const std::vector<double>& values);

}  // namespace sabath::report
