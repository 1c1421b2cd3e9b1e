#include "axis.hpp"
#include "drawing.hpp"
#include "escape.hpp"
#include "plots.hpp"
#include "value_range.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <set>
#include <tuple>

namespace sabath::report {
namespace {

constexpr double cell_height = 24;
constexpr std::size_t shades = 7;

/// Order with NaN behind all numbers.
std::pair<int, std::uint64_t> order_of(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  if (std::isnan(value)) return {1, bits};
  constexpr std::uint64_t sign = 1ULL << 63U;
  return {0, (bits & sign) != 0 ? ~bits : bits | sign};
}

std::string letter_of(const std::vector<double>& classes, double value) {
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (order_of(classes[i]) == order_of(value)) return std::string(1, static_cast<char>('A' + i));
  }
  return {};
}

ValueRange value_range(const Groups& groups) {
  ValueRange extremes;
  for (const Groups::Row& row : groups.rows) {
    for (const double value : sorted_finite(row.values))
      extremes.take(value);
  }
  return extremes;
}

std::string text_at(const Groups::Row& row, std::size_t i) {
  const bool is_whole = i < row.whole.size() && !row.whole[i].empty();
  return is_whole ? row.whole[i] : fmt::format("{}", *row.values[i]);
}

/// Replaces whole numbers that no double holds by their distance from the first.
Groups coloured_by(const Groups& groups) {
  if (count_distinct(groups) == classes_of(groups).size()) return groups;
  Groups result = groups;
  std::optional<base::ExactNumber> first;
  for (std::size_t r = 0; r < groups.rows.size(); ++r) {
    const Groups::Row& row = groups.rows[r];
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i] || !std::isfinite(*row.values[i])) continue;
      const base::ExactNumber number = exact_at(row, i);
      if (!first) first = number;
      result.rows[r].values[i] = (number.value - first->value) + (number.rest - first->rest);
    }
  }
  return result;
}

std::vector<std::string> end_texts(const Groups& groups,
                                   const Groups& coloured,
                                   const ValueRange& extremes) {
  if (count_distinct(groups) == classes_of(groups).size())
    return texts_apart({extremes.low, extremes.high});
  std::vector<std::string> texts(2);
  for (std::size_t r = 0; r < groups.rows.size(); ++r) {
    for (std::size_t i = 0; i < groups.rows[r].values.size(); ++i) {
      if (coloured.rows[r].values[i] == extremes.low) texts[0] = text_at(groups.rows[r], i);
      if (coloured.rows[r].values[i] == extremes.high) texts[1] = text_at(groups.rows[r], i);
    }
  }
  return texts;
}

/// Empty where the classes have no letters.
std::vector<double> lettered_classes(const Groups& groups) {
  return has_letters(groups) ? classes_of(groups) : std::vector<double>{};
}

struct Layout {
  std::size_t rows = 0;
  std::size_t columns = 0;
  double left = 0;
  double cell = 0;
};

Layout layout_of(const Groups& groups) {
  Layout layout;
  layout.rows = std::min(groups.rows.size(), most_rows);
  for (std::size_t i = 0; i < layout.rows; ++i)
    layout.columns = std::max(layout.columns, groups.rows[i].values.size());
  layout.columns = std::clamp<std::size_t>(layout.columns, 1, most_cells);
  layout.left = label_width(groups) + 16;
  const double room = plot_width - layout.left - 50;
  layout.cell = std::min(34.0, room / static_cast<double>(layout.columns));
  return layout;
}

struct Cell {
  double x = 0;
  double y = 0;
  double width = 0;
};

void draw_cell(Drawing& drawing,
               const Cell& cell,
               const std::optional<double>& value,
               const std::string& text,
               const std::string& title,
               const ValueRange& extremes) {
  const double middle = cell.y + cell_height / 2 + 3;
  if (!value) {
    drawing.rectangle(cell.x, cell.y, cell.width - 2, cell_height - 4, "missing", "not there");
    return;
  }
  const bool finite = std::isfinite(*value);
  const std::string shade =
      finite ? fmt::format("q{}", extremes.level(*value, shades)) : std::string("wrong");
  drawing.rectangle(cell.x, cell.y, cell.width - 2, cell_height - 4, shade, title);
  constexpr double least_for_text = 11;
  const std::string shown = finite ? text : "!";
  if (!shown.empty() && cell.width >= least_for_text)
    drawing.text(cell.x + cell.width / 2 - 1, middle, "middle", shown, "t-" + shade);
}

void draw_legend(Drawing& drawing,
                 const Layout& layout,
                 const std::vector<std::string>& ends,
                 double y) {
  constexpr double box = 26;
  drawing.text(layout.left, y + 14, "start", ends[0]);
  double x = layout.left + text_width(ends[0]) + 8;
  for (std::size_t i = 0; i < shades; ++i, x += box)
    drawing.rectangle(x, y + 2, box, 14, fmt::format("q{}", i));
  drawing.text(x + 8, y + 14, "start", ends[1]);
}

/// All runs have one value; without agreement where runs lack it.
std::string one_value_text(const Presence& presence, const std::string& value) {
  if (presence.all()) return fmt::format("All runs have one value, to the bit: {}", value);
  return fmt::format("Only {} of {} runs {} a finite value; what there is: {}",
                     presence.finite,
                     presence.runs,
                     presence.finite == 1 ? "has" : "have",
                     value);
}

char letter_of_cell(const std::vector<double>& classes,
                    const std::optional<double>& value,
                    const ValueRange& extremes) {
  if (!value) return '.';
  if (!std::isfinite(*value)) return '!';
  if (!classes.empty()) return letter_of(classes, *value).front();
  return static_cast<char>('0' + static_cast<int>(extremes.level(*value, 10)));
}

}  // namespace

base::ExactNumber exact_at(const Groups::Row& row, std::size_t i) {
  const base::ExactNumber nearest{*row.values[i]};
  if (i >= row.whole.size() || row.whole[i].empty()) return nearest;
  return base::exact_decimal(row.whole[i], nearest.value).value_or(nearest);
}

Presence presence_of(const Groups& groups) {
  Presence presence;
  for (const Groups::Row& row : groups.rows) {
    presence.runs += row.values.size();
    for (const auto& value : row.values)
      presence.finite += value && std::isfinite(*value) ? 1 : 0;
  }
  return presence;
}

std::vector<double> classes_of(const Groups& groups) {
  const auto less = [](double a, double b) { return order_of(a) < order_of(b); };
  std::set<double, decltype(less)> classes(less);
  for (const Groups::Row& row : groups.rows) {
    for (const auto& value : row.values) {
      if (value) classes.insert(*value);
    }
  }
  return {classes.begin(), classes.end()};
}

std::size_t count_distinct(const Groups& groups) {
  std::set<std::tuple<int, std::uint64_t, std::string>> distinct;
  for (const Groups::Row& row : groups.rows) {
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (!row.values[i]) continue;
      const auto [kind, bits] = order_of(*row.values[i]);
      distinct.emplace(kind, bits, i < row.whole.size() ? row.whole[i] : std::string());
    }
  }
  return distinct.size();
}

bool has_letters(const Groups& groups) {
  const std::size_t classes = classes_of(groups).size();
  return classes <= most_letters && count_distinct(groups) == classes;
}

/// With all digits where no double holds them.
std::string text_of_only_value(const Groups& groups, double value) {
  for (const Groups::Row& row : groups.rows) {
    for (const std::string& whole : row.whole) {
      if (!whole.empty()) return whole;
    }
  }
  return fmt::format("{}", value);
}

std::string heat_description(const Groups& groups) {
  const std::vector<double> classes = classes_of(groups);
  const Presence presence = presence_of(groups);
  const std::size_t distinct = count_distinct(groups);
  std::string text = fmt::format("{} different values", distinct);
  if (distinct != classes.size()) {
    text += ", some of them whole numbers that one double is nearest to";
  } else if (classes.size() == 1) {
    text = one_value_text(presence, text_of_only_value(groups, classes.front()));
  } else if (classes.size() <= most_letters) {
    text += ", equal letters are equal to the bit: ";
    for (std::size_t i = 0; i < classes.size(); ++i) {
      text += fmt::format("{}{} = {}", i == 0 ? "" : ", ", static_cast<char>('A' + i), classes[i]);
    }
  }
  if (classes.size() > 1 && presence.finite < presence.runs)
    text += fmt::format("; {} of {} runs have a finite value", presence.finite, presence.runs);
  const bool is_cut = std::ranges::any_of(
      groups.rows, [](const auto& row) { return row.values.size() > most_cells; });
  if (is_cut) text += fmt::format("; of a group the first {} runs", most_cells);
  if (groups.rows.size() > most_rows)
    text += fmt::format("; the first {} of {} groups", most_rows, groups.rows.size());
  return text + ".";
}

std::string heat_text(const Groups& groups) {
  const Groups coloured = coloured_by(groups);
  const ValueRange extremes = value_range(coloured);
  const std::vector<double> classes = lettered_classes(groups);
  const std::size_t rows = std::min(groups.rows.size(), most_rows);
  const PaddedLabels labels = padded_labels(groups);
  std::string text = classes.empty() ? "a run to a column, from 0 (lowest) to 9 (highest)"
                                     : "a run to a column, a letter to a value";
  text += "; ! is not finite, . not there\n";
  for (std::size_t r = 0; r < rows; ++r) {
    const auto& values = coloured.rows[r].values;
    text += labels.texts[r] + "  ";
    for (std::size_t i = 0; i < std::min(values.size(), most_cells); ++i)
      text += letter_of_cell(classes, values[i], extremes);
    if (values.size() > most_cells) text += fmt::format(" +{}", values.size() - most_cells);
    text += "\n";
  }
  const std::size_t more = groups.rows.size() - rows;
  if (more > 0) text += "... and " + base::counted(more, "more group") + "\n";
  return text;
}

Drawing heat_map(const Groups& groups, const std::string& id) {
  const Layout layout = layout_of(groups);
  const Groups coloured = coloured_by(groups);
  const ValueRange extremes = value_range(coloured);
  const std::vector<double> classes = lettered_classes(groups);
  const double bottom = cell_height * static_cast<double>(layout.rows) + 6;
  const bool has_scale = extremes.low < extremes.high;
  Drawing drawing(id,
                  plot_width,
                  bottom + (has_scale ? 24 : 0),
                  groups.metric + ", heat map",
                  heat_description(groups));
  for (std::size_t r = 0; r < layout.rows; ++r) {
    const Groups::Row& row = groups.rows[r];
    const double y = cell_height * static_cast<double>(r) + 4;
    drawing.text(layout.left - 10, y + cell_height / 2 + 3, "end", fitting_text(row.label, 200));
    const std::size_t cells = std::min(row.values.size(), layout.columns);
    for (std::size_t i = 0; i < cells; ++i) {
      const std::string letter = row.values[i] ? letter_of(classes, *row.values[i]) : "";
      const double x = layout.left + layout.cell * static_cast<double>(i);
      const std::string title = row.values[i] ? text_at(row, i) : "";
      draw_cell(drawing, {x, y, layout.cell}, coloured.rows[r].values[i], letter, title, extremes);
    }
    if (row.values.size() > cells) {
      drawing.text(layout.left + layout.cell * static_cast<double>(cells) + 4,
                   y + cell_height / 2 + 3,
                   "start",
                   fmt::format("+{}", row.values.size() - cells),
                   "faint");
    }
  }
  if (has_scale) draw_legend(drawing, layout, end_texts(groups, coloured, extremes), bottom);
  return drawing;
}

}  // namespace sabath::report
