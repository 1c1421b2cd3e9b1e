#include "drawing.hpp"

#include "escape.hpp"

#include <sabath/base/text/text_table.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

constexpr double letter_width = 7.3;

std::string class_attribute(const std::string& classes) {
  return classes.empty() ? std::string() : fmt::format(" class=\"{}\"", classes);
}

std::string svg_words(const Mark& mark) {
  const std::string x = coordinate(mark.at[0]);
  const std::string y = coordinate(mark.at[1]);
  std::string text = fmt::format("<text x=\"{}\" y=\"{}\"", x, y);
  if (mark.anchor != "start") text += fmt::format(" text-anchor=\"{}\"", mark.anchor);
  if (mark.at[2] != 0)
    text += fmt::format(" transform=\"rotate({} {} {})\"", coordinate(mark.at[2]), x, y);
  return text + class_attribute(mark.classes) + ">" + markup_text(mark.text) + "</text>\n";
}

std::string svg_mark(const Mark& mark) {
  std::array<std::string, 4> at;
  std::ranges::transform(mark.at, at.begin(), coordinate);
  const std::string kind = class_attribute(mark.classes);
  switch (mark.kind) {
    case Mark::Kind::line:
      return fmt::format(
          "<line x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"{}/>\n", at[0], at[1], at[2], at[3], kind);
    case Mark::Kind::text:
      return svg_words(mark);
    case Mark::Kind::rectangle:
      return fmt::format("<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{}",
                         at[0],
                         at[1],
                         at[2],
                         at[3],
                         kind) +
             (mark.text.empty() ? "/>\n"
                                : "><title>" + markup_text(mark.text) + "</title></rect>\n");
    case Mark::Kind::dot:
      return fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"{}\"{}/>\n", at[0], at[1], at[2], kind);
    case Mark::Kind::path:
      return fmt::format("<path d=\"{}\"{}/>\n", mark.text, kind);
    case Mark::Kind::open:
      return fmt::format("<g{}>\n", kind);
    case Mark::Kind::close:
      return "</g>\n";
  }
  return {};
}

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

Drawing::Drawing(
    std::string id, double width, double height, std::string title, std::string description)
    : id_(std::move(id)),
      width_(width),
      height_(height),
      title_(std::move(title)),
      description_(std::move(description)) {}

void Drawing::line(double x1, double y1, double x2, double y2, std::string_view classes) {
  marks_.push_back({Mark::Kind::line, {x1, y1, x2, y2}, std::string(classes), {}, {}});
}

void Drawing::text(
    double x, double y, std::string_view anchor, std::string_view text, std::string_view classes) {
  marks_.push_back(
      {Mark::Kind::text, {x, y}, std::string(classes), std::string(text), std::string(anchor)});
}

void Drawing::turned_text(double x, double y, double degrees, std::string_view text) {
  marks_.push_back({Mark::Kind::text, {x, y, degrees}, {}, std::string(text), "middle"});
}

void Drawing::rectangle(double x,
                        double y,
                        double width,
                        double height,
                        std::string_view classes,
                        std::string_view tip) {
  marks_.push_back(
      {Mark::Kind::rectangle, {x, y, width, height}, std::string(classes), std::string(tip), {}});
}

void Drawing::dot(double x, double y, double radius, std::string_view classes) {
  marks_.push_back({Mark::Kind::dot, {x, y, radius}, std::string(classes), {}, {}});
}

void Drawing::path(std::string_view data, std::string_view classes) {
  if (data.empty()) return;
  marks_.push_back({Mark::Kind::path, {}, std::string(classes), std::string(data), {}});
}

void Drawing::open_group(std::string_view classes) {
  marks_.push_back({Mark::Kind::open, {}, std::string(classes), {}, {}});
}

std::string svg_text(const Drawing& drawing) {
  std::string text = fmt::format(
      "<svg viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "aria-labelledby=\"{2}-t {2}-d\">\n<title id=\"{2}-t\">{3}</title>\n<desc "
      "id=\"{2}-d\">{4}</desc>\n",
      coordinate(drawing.width()),
      coordinate(drawing.height()),
      drawing.id(),
      markup_text(drawing.title()),
      markup_text(drawing.description(), 2000));
  for (const Mark& mark : drawing.marks())
    text += svg_mark(mark);
  return text + "</svg>\n";
}

}  // namespace sabath::report
