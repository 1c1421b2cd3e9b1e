#include "document.hpp"

#include <algorithm>

namespace sabath::report {

std::span<const ReportFormat> builtin_formats() {
  static constexpr std::array<ReportFormat, 4> formats{{
      {"html", {".html", ".htm"}, write_html},
      {"markdown", {".md", ".markdown"}, write_markdown},
      {"csv", {".csv", ""}, write_csv},
      {"json", {".json", ""}, write_json},
  }};
  return formats;
}

const ReportFormat* format_of(std::string_view file_name) {
  for (const ReportFormat& format : builtin_formats()) {
    const bool fits = std::ranges::any_of(format.extensions, [&](std::string_view extension) {
      return !extension.empty() && file_name.size() > extension.size() &&
             file_name.ends_with(extension);
    });
    if (fits) return &format;
  }
  return nullptr;
}

}  // namespace sabath::report
