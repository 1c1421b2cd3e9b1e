#pragma once

#include <sabath/report/report.hpp>

#include <string>

namespace sabath::report {

// The formats that sabath has: one file each, and a row in builtin_formats().
std::string write_html(const Report& report);
std::string write_markdown(const Report& report);
std::string write_csv(const Report& report);
std::string write_json(const Report& report);

}  // namespace sabath::report
