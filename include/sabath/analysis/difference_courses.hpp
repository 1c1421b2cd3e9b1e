#pragma once

#include <sabath/report/text_plot.hpp>

#include <filesystem>
#include <vector>

namespace sabath::analysis {

/// How far two finished runs are apart along each metric of results in which they differ, as
/// logarithms to base 10. Nothing of runs with more than 200,000 points, or whose series cannot be
/// read: it is an illustration.
std::vector<report::DifferenceCourse> difference_courses(const std::filesystem::path& run_a,
                                                         const std::filesystem::path& run_b);

}  // namespace sabath::analysis
