#pragma once

#include <sabath/report/course.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace sabath::report {

enum class PlotLetters { blocks, ascii };

/// Blocks where the locale of this process (LC_ALL, LC_CTYPE, LANG) is UTF-8, else ASCII.
PlotLetters letters_of_locale();

/// A row of at most `columns` characters: "▇▅▃▂▁▁". Each is as high as the mean of its share of the
/// axis, between the lowest and the highest. Blank where no value is finite; empty for fewer than
/// two places.
std::string sparkline(const Course& course, std::size_t columns, PlotLetters letters);

/// Distance of two runs along a metric.
struct DifferenceCourse {
  std::string metric{};
  std::string along{};  ///< "step"
  Course course{};      ///< base-10 logarithms; no value: equal
};

/// A line for each of the first ten metrics: where values diverge, and how the distance grows.
/// Empty for none.
std::string difference_text(std::span<const DifferenceCourse> courses, PlotLetters letters);

/// A plot of so many rows and columns, framed by its extremes, of the middle of the runs' values:
///
///      0.53 |▖
///           | ▚▖
///     0.012 |   ▀▀▀▄▄▄
///            0         1806 step
std::string block_plot(std::span<const Spread> spread,
                       const std::string& axis,
                       std::size_t columns,
                       std::size_t rows);

}  // namespace sabath::report
