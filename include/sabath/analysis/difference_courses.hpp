#pragma once

#include <sabath/report/text_plot.hpp>
#include <sabath/spec/metric.hpp>

#include <cstddef>
#include <filesystem>
#include <functional>
#include <vector>

namespace sabath::analysis {

/// Base-10 logarithms of the distance of two finished runs along each metric of results that
/// differs. Empty for runs with more than 200,000 points, or with unreadable series: it is an
/// illustration.
std::vector<report::DifferenceCourse> difference_courses(const std::filesystem::path& run_a,
                                                         const std::filesystem::path& run_b);

/// Axis of a series: the first of these that all of its points have.
enum class Along { step, epoch, point };
const char* name_of(Along along);
Along along_of(const spec::Series& series);
double place_of(const spec::Series& series, Along along, std::size_t i);

/// Calls `take` for each common point of two series (by rank, step and epoch) that differs.
/// Arguments are its place and the distance abs(a-b) / max(abs a, abs b). The distance is infinite
/// where only one of them is a number. NaN equals NaN.
void for_each_difference(const spec::Series& a,
                         const spec::Series& b,
                         Along along,
                         const std::function<void(double place, double apart)>& take);

}  // namespace sabath::analysis
