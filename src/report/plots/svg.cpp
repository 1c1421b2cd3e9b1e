#include "svg.hpp"

#include "escape.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

constexpr double letter_width = 7.3;

}  // namespace

std::string coordinate(double value) {
  const long tenths = std::lround(std::clamp(value, -1e6, 1e6) * 10);
  if (tenths % 10 == 0) return std::to_string(tenths / 10);
  return fmt::format(
      "{}{}.{}", tenths < 0 ? "-" : "", std::labs(tenths) / 10, std::labs(tenths) % 10);
}

std::string move_to(double x, double y) {
  return "M" + coordinate(x) + " " + coordinate(y);
}

std::string line_to(double x, double y) {
  return "L" + coordinate(x) + " " + coordinate(y);
}

void extend(std::string& data, double x, double y) {
  data += data.empty() ? move_to(x, y) : line_to(x, y);
}

double text_width(std::string_view text) {
  return letter_width * static_cast<double>(base::code_points(plain_text(text)));
}

std::string fitting_text(std::string_view text, double width) {
  const std::string plain = plain_text(text);
  const auto most = static_cast<std::size_t>(std::max(width / letter_width, 2.0));
  return base::code_points(plain) <= most ? plain : plain_text(plain, most - 1);
}

Svg::Svg(std::string_view id,
         double width,
         double height,
         std::string_view title,
         std::string_view description)
    : text_(fmt::format("<svg viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\" role=\"img\" "
                        "aria-labelledby=\"{}-t {}-d\">\n<title id=\"{}-t\">{}</title>\n<desc "
                        "id=\"{}-d\">{}</desc>\n",
                        coordinate(width),
                        coordinate(height),
                        coordinate(width),
                        coordinate(height),
                        id,
                        id,
                        id,
                        markup_text(title),
                        id,
                        markup_text(description, 2000))) {}

void Svg::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  text_ += fmt::format("<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\" class=\"{}\"/>\n",
                       coordinate(x1),
                       coordinate(y1),
                       coordinate(x2),
                       coordinate(y2),
                       classes);
}

void Svg::text(
    double x, double y, std::string_view anchor, std::string_view text, std::string_view classes) {
  text_ += fmt::format("<text x=\"{}\" y=\"{}\"", coordinate(x), coordinate(y));
  if (anchor != "start") text_ += fmt::format(" text-anchor=\"{}\"", anchor);
  if (!classes.empty()) text_ += fmt::format(" class=\"{}\"", classes);
  text_ += ">" + markup_text(text) + "</text>\n";
}

void Svg::turned_text(double x, double y, double degrees, std::string_view text) {
  text_ += fmt::format(
      "<text x=\"{0}\" y=\"{1}\" text-anchor=\"middle\" transform=\"rotate({2} {0} "
      "{1})\">{3}</text>\n",
      coordinate(x),
      coordinate(y),
      coordinate(degrees),
      markup_text(text));
}

void Svg::rectangle(double x,
                    double y,
                    double width,
                    double height,
                    std::string_view classes,
                    std::string_view tip) {
  text_ += fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" class=\"{}\"",
                       coordinate(x),
                       coordinate(y),
                       coordinate(width),
                       coordinate(height),
                       classes);
  text_ += tip.empty() ? "/>\n" : "><title>" + markup_text(tip) + "</title></rect>\n";
}

void Svg::dot(double x, double y, double radius, std::string_view classes) {
  text_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\" class=\"{}\"/>\n",
                       coordinate(x),
                       coordinate(y),
                       coordinate(radius),
                       classes);
}

void Svg::path(std::string_view data, std::string_view classes) {
  if (!data.empty()) text_ += fmt::format("<path d=\"{}\" class=\"{}\"/>\n", data, classes);
}

void Svg::open_group(std::string_view classes) {
  text_ += fmt::format("<g class=\"{}\">\n", classes);
}

std::string Svg::finish() {
  return std::move(text_) + "</svg>\n";
}

}  // namespace sabath::report
