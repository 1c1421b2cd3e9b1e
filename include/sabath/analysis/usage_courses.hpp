#pragma once

#include <sabath/report/course.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sabath::analysis {

struct UsageCourse {
  std::string what{};  ///< one of usage_kinds()
  report::Course course{};
};

struct UsageKind {
  std::string what{};   ///< "busy CPUs"
  std::string title{};  ///< with its unit
};
const std::vector<UsageKind>& usage_kinds();

/// Reads the samples of an attempt, of all nodes and steps. Other lines are skipped. Throws
/// Error{storage}.
std::vector<UsageCourse> usage_courses(const std::filesystem::path& attempt);

}  // namespace sabath::analysis
