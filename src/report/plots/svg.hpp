#pragma once

#include <string>
#include <string_view>

namespace sabath::report {

/// Text of one SVG element within HTML. Colours and strokes come from the style sheet of the page,
/// by class.
class Svg {
 public:
  /// `id` is unique in the page. Title and description serve screen readers.
  Svg(std::string_view id,
      double width,
      double height,
      std::string_view title,
      std::string_view description);

  void line(double x1, double y1, double x2, double y2, std::string_view classes);
  /// `anchor`: "start", "middle" or "end".
  void text(double x,
            double y,
            std::string_view anchor,
            std::string_view text,
            std::string_view classes = "");
  void turned_text(double x, double y, double degrees, std::string_view text);
  void rectangle(double x,
                 double y,
                 double width,
                 double height,
                 std::string_view classes,
                 std::string_view tip = "");
  void dot(double x, double y, double radius, std::string_view classes);
  /// Path data made with `move`, `draw` and `close`.
  void path(std::string_view data, std::string_view classes);
  void open_group(std::string_view classes);
  void close_group() { text_ += "</g>\n"; }
  std::string finish();

 private:
  std::string text_;
};

/// A coordinate with at most one decimal: a tenth of a pixel is invisible.
std::string coordinate(double value);
std::string move_to(double x, double y);
std::string line_to(double x, double y);
/// Appends a point to the data of a path, which it begins where that is empty.
void extend(std::string& data, double x, double y);

/// Approximate width of a text in the font size of plots.
double text_width(std::string_view text);
/// Cuts a text to this width.
std::string fitting_text(std::string_view text, double width);

}  // namespace sabath::report
