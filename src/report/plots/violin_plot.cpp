#include "axis.hpp"
#include "drawing.hpp"
#include "escape.hpp"
#include "plots.hpp"
#include "value_range.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sabath::report {
namespace {

constexpr double row_height = 46;
constexpr double top = 8;
constexpr double half = 18;  ///< of the widest violin
constexpr std::size_t least_for_density = 5;
constexpr std::size_t most_points = 300;  ///< of a group; more are a cloud anyway

/// A Gaussian kernel density of values that lie between 0 and 1, with Silverman's rule of thumb for
/// its width; nothing where the values do not spread.
class Density {
 public:
  explicit Density(const std::vector<double>& shares) : shares_(shares) {
    const auto n = static_cast<double>(shares.size());
    double mean = 0;
    for (const double share : shares)
      mean += share / n;
    double squares = 0;
    for (const double share : shares)
      squares += (share - mean) * (share - mean);
    const double sd = std::sqrt(squares / std::max(n - 1, 1.0));
    const double quartiles = (quantile(shares, 0.75) - quantile(shares, 0.25)) / 1.34;
    const double spread = quartiles > 0 ? std::min(sd, quartiles) : sd;
    width_ = 0.9 * spread * std::pow(n, -0.2);
  }

  bool exists() const { return shares_.size() >= least_for_density && width_ > 1e-6; }
  double at(double place) const {
    double sum = 0;
    for (const double share : shares_) {
      const double z = (place - share) / width_;
      if (std::abs(z) < 6) sum += std::exp(-z * z / 2);
    }
    return sum;
  }

 private:
  const std::vector<double>& shares_;
  double width_ = 0;
};

/// Share of the axis, and 0 to 1 of the half.
using Outline = std::vector<std::pair<double, double>>;

Outline outline_of(const Density& density, double low, double high) {
  constexpr int steps = 60;
  Outline outline;
  double most = 0;
  for (int i = 0; i <= steps; ++i) {
    const double place = low + (high - low) * i / steps;
    outline.emplace_back(place, density.at(place));
    most = std::max(most, outline.back().second);
  }
  for (auto& point : outline)
    point.second /= most;
  return outline;
}

struct Place {
  double left = 0;
  double right = 0;
  double x(double share) const { return left + share * (right - left); }
};

void draw_outline(Drawing& drawing, const Place& place, double middle, const Outline& outline) {
  std::string data;
  for (const auto& [share, part] : outline)
    extend(data, place.x(share), middle - part * half);
  for (auto point = outline.rbegin(); point != outline.rend(); ++point)
    data += line_to(place.x(point->first), middle + point->second * half);
  drawing.path(data + "Z", "violin");
}

/// Beside one another where they would cover one another, within the half; else more of them in a
/// place.
void draw_points(Drawing& drawing,
                 const Place& place,
                 double middle,
                 const std::vector<double>& shares) {
  constexpr double radius = 3;
  const std::size_t every = (shares.size() + most_points - 1) / most_points;
  double before = -1e9;
  int stacked = 0;
  for (std::size_t i = 0; i < shares.size(); i += every) {
    const double x = place.x(shares[i]);
    stacked = x - before < 2 * radius ? stacked + 1 : 0;
    if (stacked == 0) before = x;
    const int row = (stacked + 1) / 2;
    const double away = row * radius * 1.6;
    const double wrapped = std::fmod(away, half - radius);
    drawing.dot(x, middle + (stacked % 2 == 0 ? wrapped : -wrapped), radius, "point");
  }
}

void draw_row(Drawing& drawing,
              const Place& place,
              double middle,
              const std::vector<double>& shares) {
  if (shares.empty()) return;
  if (shares.front() == shares.back()) {
    drawing.dot(place.x(shares.front()), middle, 4, "point");
    if (shares.size() > 1) {
      const bool at_end = place.x(shares.front()) > place.right - 60;
      drawing.text(place.x(shares.front()) + (at_end ? -9 : 9),
                   middle + 4,
                   at_end ? "end" : "start",
                   fmt::format("{} times", shares.size()));
    }
    return;
  }
  const Density density(shares);
  if (density.exists())
    draw_outline(drawing, place, middle, outline_of(density, shares.front(), shares.back()));
  draw_points(drawing, place, middle, shares);
  const double median = place.x(quantile(shares, 0.5));
  drawing.line(median, middle - half, median, middle + half, "median");
}

std::string row_text(const Groups::Row& row, const std::vector<double>& values) {
  std::string text = fmt::format("{}: n = {}", row.label, values.size());
  if (values.empty()) return text;
  const bool is_one =
      std::ranges::adjacent_find(row.whole, std::not_equal_to<>()) == row.whole.end();
  if (values.front() == values.back() && !is_one)
    return text + ", whole numbers " + nearest_texts({values.front()})[0];
  const auto texts = nearest_texts({quantile(values, 0.5), values.front(), values.back()});
  if (values.front() == values.back()) {
    const bool has_digits = !row.whole.empty() && !row.whole.front().empty();
    return text + (values.size() > 1 ? ", all " : ", ") +
           (has_digits ? row.whole.front() : texts[0]);
  }
  return text + fmt::format(", median {}, from {} to {}", texts[0], texts[1], texts[2]);
}

std::string count_text(const std::vector<double>& values) {
  return fmt::format("n = {}", values.size());
}

/// Sorted values of the groups that are shown, and their extremes.
struct ShownValues {
  std::vector<std::vector<double>> rows{};
  ValueRange range{};
};

ShownValues shown_values(const Groups& groups) {
  ShownValues shown;
  for (std::size_t i = 0; i < std::min(groups.rows.size(), most_rows); ++i) {
    const auto& values = shown.rows.emplace_back(sorted_finite(groups.rows[i].values));
    if (values.empty()) continue;
    shown.range.take(values.front());
    shown.range.take(values.back());
  }
  return shown;
}

}  // namespace

double label_width(const Groups& groups) {
  double widest = 40;
  for (std::size_t i = 0; i < std::min(groups.rows.size(), most_rows); ++i)
    widest = std::max(widest, text_width(groups.rows[i].label));
  return std::min(widest, 200.0);
}

PaddedLabels padded_labels(const Groups& groups) {
  constexpr std::size_t longest = 32;
  PaddedLabels labels;
  for (std::size_t i = 0; i < std::min(groups.rows.size(), most_rows); ++i) {
    labels.texts.push_back(plain_text(groups.rows[i].label, longest));
    labels.width = std::max(labels.width, labels.texts.back().size());
  }
  for (std::string& text : labels.texts)
    text = fmt::format("{:<{}}", text, labels.width);
  return labels;
}

std::vector<double> sorted_finite(const std::vector<std::optional<double>>& values) {
  std::vector<double> finite;
  for (const auto& value : values) {
    if (value && std::isfinite(*value)) finite.push_back(*value);
  }
  std::ranges::sort(finite);
  return finite;
}

std::string violin_description(const Groups& groups) {
  std::string text;
  for (std::size_t i = 0; i < std::min(groups.rows.size(), most_rows); ++i)
    text +=
        (text.empty() ? "" : "; ") + row_text(groups.rows[i], sorted_finite(groups.rows[i].values));
  if (groups.rows.size() > most_rows)
    text += "; and " + base::counted(groups.rows.size() - most_rows, "more group");
  return text + ".";
}

std::string violin_text(const Groups& groups) {
  constexpr std::size_t places = 48;
  const auto [values, range] = shown_values(groups);
  if (!(range.low < range.high)) return {};  // one value needs no picture
  const PaddedLabels labels = padded_labels(groups);
  const auto ends = texts_apart({range.low, range.high});
  std::string text =
      fmt::format("{}  {:<{}}{}\n",
                  std::string(labels.width, ' '),
                  ends[0],
                  std::max(ends[0].size() + 1, places - std::min(places, ends[1].size())),
                  ends[1]);
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::vector<std::size_t> counts(places, 0);
    for (const double value : values[i])
      ++counts[range.level(value, places)];
    std::string line;
    for (const std::size_t count : counts)
      line += count == 0 ? '.' : count > 9 ? '#' : static_cast<char>('0' + static_cast<int>(count));
    text += labels.texts[i] + "  " + line + "  " + count_text(values[i]) + "\n";
  }
  return text + "a digit is so many runs in a place, # more than 9\n";
}

Drawing violin_plot(const Groups& groups, const std::string& id) {
  const auto [values, range] = shown_values(groups);
  if (range.is_empty()) return {};
  const Axis axis = linear_axis(range.low, range.high, 6);
  const double bottom = top + row_height * static_cast<double>(values.size());
  Drawing drawing(
      id, plot_width, bottom + 24, groups.metric + " by group", violin_description(groups));
  double count_width = 0;
  for (const auto& row : values)
    count_width = std::max(count_width, text_width(count_text(row)));
  const double last_mark = text_width(axis.ticks.empty() ? "" : axis.ticks.back().text);
  const Place place{label_width(groups) + count_width + 26,
                    plot_width - std::max(24.0, last_mark / 2 + 4)};
  for (const Tick& tick : axis.ticks) {
    const double x = place.x(axis.share(tick.value));
    drawing.line(x, top, x, bottom, "grid");
    drawing.text(x, bottom + 16, "middle", tick.text);
  }
  drawing.line(place.left, bottom, place.right, bottom, "axis");
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double middle = top + row_height * (static_cast<double>(i) + 0.5);
    drawing.open_group(fmt::format("c{}", i % curve_colours));
    std::vector<double> shares;
    for (const double value : values[i])
      shares.push_back(axis.share(value));
    draw_row(drawing, place, middle, shares);
    drawing.close_group();
    const double label_end = place.left - count_width - 18;
    drawing.text(label_end, middle + 4, "end", fitting_text(groups.rows[i].label, 200));
    drawing.text(place.left - 8, middle + 4, "end", count_text(values[i]), "faint");
  }
  return drawing;
}

}  // namespace sabath::report
