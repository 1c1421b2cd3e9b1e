#pragma once

#include <sabath/report/course.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::analysis {

/// What a run used over time, of one kind.
struct UsageCourse {
  std::string what{};  ///< one of usage_kinds()
  report::Course course{};
};

struct UsageKind {
  std::string what{};   ///< "busy CPUs"
  std::string title{};  ///< with its unit
};
/// In the order in which they are shown.
const std::vector<UsageKind>& usage_kinds();

/// Of an attempt's samples, of all nodes and steps. A line that is no sample is passed by. Throws
/// Error{storage}.
std::vector<UsageCourse> usage_courses(const std::filesystem::path& attempt);

}  // namespace sabath::analysis
