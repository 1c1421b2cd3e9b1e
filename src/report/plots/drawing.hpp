#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace sabath::report {

/// One shape or text of a drawing. Its kind says which numbers it has. A line: x1, y1, x2, y2. A
/// text: x, y, and degrees by which it is turned around that point. A rectangle: x, y, width,
/// height. A dot: x, y, radius. Others: none.
struct Mark {
  enum class Kind { line, text, rectangle, dot, path, open, close };
  Kind kind = Kind::line;
  std::array<double, 4> at{};
  std::string classes{};  ///< its colours and strokes, by the style sheet of the page
  std::string text{};     ///< of a text, the tip of a rectangle, or the data of a path
  std::string anchor{};   ///< of a text: "start", "middle" or "end"
};

/// A figure as laid-out values. HTML pages write it as SVG, and the live view makes nodes of it.
class Drawing {
 public:
  Drawing() = default;
  /// `id` is unique in the page. Title and description serve screen readers.
  Drawing(std::string id, double width, double height, std::string title, std::string description);

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
  void close_group() { marks_.push_back({Mark::Kind::close, {}, {}, {}, {}}); }

  const std::string& id() const { return id_; }
  double width() const { return width_; }
  double height() const { return height_; }
  const std::string& title() const { return title_; }
  const std::string& description() const { return description_; }
  const std::vector<Mark>& marks() const { return marks_; }
  bool empty() const { return marks_.empty(); }

 private:
  std::string id_{};
  double width_ = 0;
  double height_ = 0;
  std::string title_{};
  std::string description_{};
  std::vector<Mark> marks_{};
};

/// The drawing as one SVG element within HTML.
std::string svg_text(const Drawing& drawing);

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
