#include "axis.hpp"
#include "drawing.hpp"
#include "plots.hpp"
#include "value_range.hpp"

#include <sabath/base/moments.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

constexpr double body = 250;  ///< height between the axes
constexpr double usual_margin = 70;
constexpr double legend_line = 20;
constexpr std::size_t few_points = 24;  ///< that are marked

bool is_over_time(const Chart& chart) {
  return chart.x.ends_with("[s]");
}

ValueRange values_of(const Chart& chart, bool second) {
  ValueRange range;
  for (const Curve& curve : chart.curves) {
    if (curve.on_second_axis != second) continue;
    for (const Spread& spread : curve.spread) {
      range.take(spread.lowest);
      range.take(spread.highest);
    }
  }
  return range;
}

ValueRange places_of(const Chart& chart) {
  ValueRange range;
  for (const Curve& curve : chart.curves) {
    for (const Spread& spread : curve.spread)
      range.take(spread.x);
  }
  return range;
}

std::string curve_class(std::size_t number) {
  return fmt::format("c{}{}", number % curve_colours, number < curve_colours ? "" : " again");
}

struct Frame {
  Axis x{};
  Axis y{};
  Axis second{};
  double top = 0;
  double left = usual_margin;
  double right = 0;

  double place_x(double value) const { return left + x.share(value) * (right - left); }
  double place_y(double value, bool on_second) const {
    return top + body * (1 - (on_second ? second : y).share(value));
  }
};

std::string area(const Frame& frame,
                 const Curve& curve,
                 double Spread::*lower,
                 double Spread::*upper) {
  std::string data;
  for (const Spread& one : curve.spread)
    extend(data, frame.place_x(one.x), frame.place_y(one.*upper, curve.on_second_axis));
  for (auto one = curve.spread.rbegin(); one != curve.spread.rend(); ++one)
    data += line_to(frame.place_x(one->x), frame.place_y((*one).*lower, curve.on_second_axis));
  return data.empty() ? data : data + "Z";
}

void draw_run(Drawing& drawing, const Frame& frame, const Course& course, bool second) {
  std::string line;
  std::string extremes;
  bool is_down = false;
  std::size_t drawn = 0;
  for (const Bucket& bucket : course.buckets()) {
    if (bucket.finite == 0) {
      is_down = false;  // a gap, where nothing is finite
      continue;
    }
    const double x = frame.place_x(bucket.x);
    const double y = frame.place_y(bucket.mean, second);
    line += is_down ? line_to(x, y) : move_to(x, y);
    is_down = true;
    ++drawn;
    if (bucket.low < bucket.high) {
      extremes += move_to(x, frame.place_y(bucket.low, second)) +
                  line_to(x, frame.place_y(bucket.high, second));
    }
  }
  drawing.path(extremes, "extremes");
  drawing.path(line, "curve");
  if (drawn > few_points) return;
  for (const Bucket& bucket : course.buckets()) {
    if (bucket.finite > 0)
      drawing.dot(frame.place_x(bucket.x), frame.place_y(bucket.mean, second), 2.5, "dot");
  }
}

void draw_spread(Drawing& drawing, const Frame& frame, const Curve& curve) {
  const bool second = curve.on_second_axis;
  // What lies upon the other axis's curves must not cover them.
  if (!second) {
    drawing.path(area(frame, curve, &Spread::lowest, &Spread::highest), "range");
    drawing.path(area(frame, curve, &Spread::low, &Spread::high), "band");
  }
  std::string line;
  for (const Spread& one : curve.spread)
    extend(line, frame.place_x(one.x), frame.place_y(one.middle, second));
  drawing.path(line, "curve");
  if (curve.spread.size() > (second ? few_points : 1)) return;
  for (const Spread& one : curve.spread) {
    const double x = frame.place_x(one.x);
    const double low = frame.place_y(one.lowest, second);
    drawing.line(x, low, x, frame.place_y(one.highest, second), "extremes");
    drawing.dot(x, frame.place_y(one.middle, second), 2.5, "dot");
  }
}

void draw_axes(Drawing& drawing, const Frame& frame, const Chart& chart) {
  for (const Tick& tick : frame.y.ticks) {
    const double y = frame.place_y(tick.value, false);
    drawing.line(frame.left, y, frame.right, y, "grid");
    drawing.text(frame.left - 6, y + 4, "end", tick.text);
  }
  if (!chart.second_y.empty()) {
    for (const Tick& tick : frame.second.ticks) {
      const double y = frame.place_y(tick.value, true);
      drawing.line(frame.right, y, frame.right + 4, y, "axis");
      drawing.text(frame.right + 7, y + 4, "start", tick.text);
    }
    drawing.line(frame.right, frame.top, frame.right, frame.top + body, "axis");
    drawing.turned_text(
        plot_width - 8, frame.top + body / 2, 90, fitting_text(chart.second_y, body));
  }
  for (const Tick& tick : frame.x.ticks) {
    const double x = frame.place_x(tick.value);
    drawing.line(x, frame.top + body, x, frame.top + body + 4, "axis");
    drawing.text(x, frame.top + body + 18, "middle", tick.text);
  }
  drawing.line(frame.left, frame.top + body, frame.right, frame.top + body, "axis");
  drawing.text((frame.left + frame.right) / 2, frame.top + body + 36, "middle", chart.x);
  drawing.turned_text(14, frame.top + body / 2, -90, fitting_text(chart.y, body));
}

struct LegendEntry {
  double x = 0;
  double y = 0;
  std::string text{};
};

/// Entries side by side, as many as fit into the width.
std::vector<LegendEntry> legend_of(const Chart& chart) {
  constexpr double sample = 30;
  constexpr double longest = 320;
  std::vector<LegendEntry> entries;
  // A curve alone is what the title says.
  if (chart.curves.size() == 1 && chart.curves.front().name == chart.title) return entries;
  double x = usual_margin;
  double y = 14;
  for (const Curve& curve : chart.curves) {
    const std::string text = fitting_text(curve.name, longest);
    const double needed = sample + text_width(text) + 18;
    if (x > usual_margin && x + needed > plot_width) {
      x = usual_margin;
      y += legend_line;
    }
    entries.push_back({x, y, text});
    x += needed;
  }
  return entries;
}

double margin_of(const Axis& axis) {
  double widest = 0;
  for (const Tick& tick : axis.ticks)
    widest = std::max(widest, text_width(tick.text));
  return std::max(usual_margin, widest + 28);
}

Frame frame_of(const Chart& chart, double top) {
  Frame frame;
  frame.top = top;
  const ValueRange x = places_of(chart);
  frame.x = linear_axis(x.low, x.high, 7, false, chart.x == "step" ? 1 : 0);
  const ValueRange y = values_of(chart, false);
  const ValueRange second = values_of(chart, true);
  // What is used over time is seen from zero on.
  const bool is_usage = is_over_time(chart);
  if (!y.is_empty())
    frame.y = is_usage ? linear_axis(std::min(y.low, 0.0), y.high) : fitting_axis(y.low, y.high);
  // Times are seen from zero on: else a change of a percent looks like a doubling.
  if (!second.is_empty()) frame.second = linear_axis(std::min(second.low, 0.0), second.high);
  frame.left = margin_of(frame.y);
  frame.right = plot_width - (chart.second_y.empty() ? 16 : margin_of(frame.second) + 6);
  return frame;
}

/// "step 40", with the number of runs that reach it where not all do.
std::string place_text(const Chart& chart, const Curve& curve, const Spread& place) {
  const std::string number = number_text(place.x);
  const std::string text = is_over_time(chart) ? number + " s" : chart.x + " " + number;
  return place.runs == curve.runs ? text : text + " (" + base::counted(place.runs, "run") + ")";
}

std::string end_text(const Chart& chart, const Curve& curve) {
  const auto& [first, last] =
      curve.ends ? *curve.ends : std::pair{curve.spread.front(), curve.spread.back()};
  const auto values = nearest_texts({first.middle, last.middle, last.lowest, last.highest});
  std::string text = curve.name + ": ";
  if (curve.runs > 1) text += fmt::format("median of {} runs ", curve.runs);
  text += fmt::format("from {} at {} to {} at {}",
                      values[0],
                      place_text(chart, curve, first),
                      values[1],
                      place_text(chart, curve, last));
  if (last.lowest < last.highest)
    text += fmt::format(", there between {} and {}", values[2], values[3]);
  return text;
}

/// The points of a scatter at one place.
struct Column {
  double x = 0;
  std::vector<double> values{};  ///< in order

  double mean() const { return base::moments(values).mean; }
};

std::vector<Column> columns_of(const Scatter& scatter) {
  std::vector<Column> columns;
  for (const Point& point : scatter.points) {
    if (columns.empty() || columns.back().x < point.x) columns.push_back({point.x, {}});
    columns.back().values.push_back(point.y);
  }
  return columns;
}

void draw_column(Drawing& drawing, const Frame& frame, const Column& column) {
  constexpr std::size_t most_points = 300;
  const std::size_t every = (column.values.size() + most_points - 1) / most_points;
  const double x = frame.place_x(column.x);
  for (std::size_t i = 0; i < column.values.size(); i += every)
    drawing.dot(x, frame.place_y(column.values[i], false), 3, "point");
  const double mean = frame.place_y(column.mean(), false);
  drawing.line(x - 9, mean, x + 9, mean, "median");
}

}  // namespace

std::string scatter_description(const Scatter& scatter) {
  constexpr std::size_t most = 12;
  const std::vector<Column> columns = columns_of(scatter);
  std::string text = "Each run a point, a bar at each mean. ";
  for (std::size_t i = 0; i < std::min(columns.size(), most); ++i) {
    const std::vector<double>& values = columns[i].values;
    const auto texts = nearest_texts({columns[i].mean(), values.front(), values.back()});
    text += fmt::format("{}{} {}: n = {}, mean {}",
                        i == 0 ? "" : "; ",
                        scatter.x,
                        number_text(columns[i].x),
                        values.size(),
                        texts[0]);
    if (values.front() < values.back()) text += fmt::format(", from {} to {}", texts[1], texts[2]);
  }
  if (columns.size() > most) text += fmt::format("; and {} more values", columns.size() - most);
  return text + ".";
}

Drawing scatter_plot(const Scatter& scatter, const std::string& id) {
  const std::vector<Column> columns = columns_of(scatter);
  ValueRange x;
  ValueRange y;
  for (const Point& point : scatter.points) {
    x.take(point.x);
    y.take(point.y);
  }
  constexpr double top = 16;
  Drawing drawing(id, plot_width, top + body + 46, scatter.title, scatter_description(scatter));
  Frame frame;
  frame.top = top;
  frame.x = fitting_axis(x.low, x.high, 7);
  frame.y = fitting_axis(y.low, y.high);
  frame.left = margin_of(frame.y);
  frame.right = plot_width - 24;
  draw_axes(drawing, frame, {scatter.title, scatter.x, scatter.y, "", {}});
  drawing.open_group(curve_class(0));
  std::string means;
  for (const Column& column : columns)
    extend(means, frame.place_x(column.x), frame.place_y(column.mean(), false));
  drawing.path(means, "curve");
  for (const Column& column : columns)
    draw_column(drawing, frame, column);
  drawing.close_group();
  return drawing;
}

std::string description_of(const Chart& chart) {
  std::string text;
  for (const Curve& curve : chart.curves) {
    if (!text.empty()) text += "; ";
    text += curve.spread.empty() ? curve.name + ": nothing is finite" : end_text(chart, curve);
    if (curve.not_finite > 0)
      text += fmt::format("; {} points are not finite and not drawn", curve.not_finite);
  }
  return text + ".";
}

Drawing line_plot(const Chart& chart, const std::string& id) {
  const std::vector<LegendEntry> legend = legend_of(chart);
  const double top = (legend.empty() ? 0 : legend.back().y) + 16;
  Drawing drawing(id, plot_width, top + body + 46, chart.title, description_of(chart));
  const Frame frame = frame_of(chart, top);
  draw_axes(drawing, frame, chart);
  for (std::size_t i = 0; i < chart.curves.size(); ++i) {
    const Curve& curve = chart.curves[i];
    drawing.open_group(curve_class(i));
    if (!legend.empty())
      drawing.line(legend[i].x, legend[i].y - 4, legend[i].x + 24, legend[i].y - 4, "curve");
    if (curve.lines.empty()) {
      draw_spread(drawing, frame, curve);
    } else {
      for (const Course& course : curve.lines)
        draw_run(drawing, frame, course, curve.on_second_axis);
    }
    drawing.close_group();
    if (!legend.empty()) drawing.text(legend[i].x + 30, legend[i].y, "start", legend[i].text);
  }
  return drawing;
}

}  // namespace sabath::report
