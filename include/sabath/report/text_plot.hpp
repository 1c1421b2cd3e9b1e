#pragma once

#include <sabath/report/course.hpp>

#include <cstddef>
#include <span>
#include <string>

namespace sabath::report {

enum class PlotLetters { blocks, ascii };

/// The blocks where the locale of this process (LC_ALL, LC_CTYPE, LANG) is one of UTF-8.
PlotLetters letters_of_locale();

/// A row of `columns` characters at most, each as high as the last value in its share of the axis,
/// between the lowest and the highest of all: "▇▅▃▂▁▁". Blank where nothing is finite, and empty
/// for fewer than two places.
std::string sparkline(const Course& course, std::size_t columns, PlotLetters letters);

/// How far two runs are apart along a metric.
struct DifferenceCourse {
  std::string metric{};
  std::string along{};  ///< "step"
  Course course{};      ///< of logarithms to base 10; places without a value are equal
};

/// A line for each metric, of the first ten: when its values part, and how the distance grows.
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
