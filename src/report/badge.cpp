#include "escape.hpp"

#include <sabath/report/check.hpp>

#include <fmt/format.h>

#include <string_view>

namespace sabath::report {
namespace {

constexpr std::string_view label = "reproducible";
constexpr std::string_view label_colour = "#24292f";
/// Visible on white and on black pages: the page of a badge is not known.
constexpr std::string_view edge_colour = "#8b949e";

/// White text has a contrast of 5 or more on each of them.
std::string_view colour_of(spec::Verdict verdict) {
  switch (verdict) {
    case spec::Verdict::pass:
      return "#1a6e34";
    case spec::Verdict::fail:
      return "#b3261e";
    case spec::Verdict::inconclusive:
      return "#7a4f00";
    case spec::Verdict::not_comparable:
      return "#4f5a65";
  }
  return label_colour;
}

/// Width of a text with the margins of its field. The font of a reader is not known, so that the
/// letters are stretched to this width.
int width_of(std::string_view text) {
  constexpr int margins = 14;
  constexpr double letter = 6.6;
  constexpr double capital = 7.6;
  double width = margins;
  for (const char c : text)
    width += c >= 'A' && c <= 'Z' ? capital : letter;
  return static_cast<int>(width);
}

std::string field_text(std::string_view text, int left, int width) {
  constexpr int margin = 7;
  return fmt::format(
      "<text x=\"{}\" y=\"14\" textLength=\"{}\" lengthAdjust=\"spacingAndGlyphs\">{}"
      "</text>\n",
      left + margin,
      width - 2 * margin,
      markup_text(text));
}

}  // namespace

std::string badge_svg(const spec::CheckReport& report) {
  std::string value(to_string(report.verdict));
  const std::string test = judged_by(report);
  if (!test.empty()) value += ", " + test;
  const int left = width_of(label);
  const int right = width_of(value);
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"20\" viewBox=\"0 0 {0} "
      "20\" role=\"img\" aria-labelledby=\"title\">\n<title id=\"title\">{1}: {2}</title>\n",
      left + right,
      label,
      markup_text(value));
  svg += fmt::format("<rect width=\"{}\" height=\"20\" rx=\"3\" fill=\"{}\"/>\n",
                     left + right,
                     colour_of(report.verdict));
  svg += fmt::format("<path d=\"M3 0H{0}V20H3A3 3 0 0 1 0 17V3A3 3 0 0 1 3 0Z\" fill=\"{1}\"/>\n",
                     left,
                     label_colour);
  svg += fmt::format(
      "<rect x=\".5\" y=\".5\" width=\"{}\" height=\"19\" rx=\"2.5\" fill=\"none\" "
      "stroke=\"{}\"/>\n",
      left + right - 1,
      edge_colour);
  svg += "<g fill=\"#ffffff\" font-family=\"system-ui, sans-serif\" font-size=\"11\">\n";
  svg += field_text(label, 0, left) + field_text(value, left, right);
  return svg + "</g>\n</svg>\n";
}

}  // namespace sabath::report
