#include "drawing.hpp"
#include "plots.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/report/text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::report {
namespace {

constexpr double box_width = 224;
constexpr double box_height = 50;
constexpr double gap_x = 48;
constexpr double gap_y = 18;

struct Box {
  std::size_t column = 0;
  std::size_t row = 0;

  double x() const { return 4 + static_cast<double>(column) * (box_width + gap_x); }
  double y() const { return 4 + static_cast<double>(row) * (box_height + gap_y); }
};

/// Stages come in an order that respects their needs.
std::map<std::string, Box> boxes_of(const std::vector<ReportStage>& stages) {
  std::map<std::string, Box> boxes;
  std::map<std::size_t, std::size_t> used;
  for (const ReportStage& stage : stages) {
    Box box;
    for (const std::string& need : stage.needs) {
      const auto found = boxes.find(need);
      if (found != boxes.end()) box.column = std::max(box.column, found->second.column + 1);
    }
    box.row = used[box.column]++;
    boxes[stage.name] = box;
  }
  return boxes;
}

std::string class_of(const ReportStage& stage) {
  for (const char* state : {"failed",
                            "stopped",
                            "interrupted",
                            "running",
                            "skipped",
                            "ok",
                            "reused",
                            "not_due",
                            "planned"}) {
    if (stage.states.contains(state)) return std::string("stage ") + state;
  }
  return "stage";
}

void draw_need(Drawing& drawing, const Box& from, const Box& to) {
  const double x1 = from.x() + box_width;
  const double y1 = from.y() + box_height / 2;
  const double x2 = to.x();
  const double y2 = to.y() + box_height / 2;
  const double bend = std::max(gap_x / 2, (x2 - x1) / 2);
  drawing.path(fmt::format("{}C{} {} {} {} {} {}",
                           move_to(x1, y1),
                           coordinate(x1 + bend),
                           coordinate(y1),
                           coordinate(x2 - bend),
                           coordinate(y2),
                           coordinate(x2),
                           coordinate(y2)),
               "need");
  drawing.path(move_to(x2 - 7, y2 - 4) + line_to(x2, y2) + line_to(x2 - 7, y2 + 4), "need");
}

}  // namespace

std::string stage_text(const ReportStage& stage) {
  std::uint64_t runs = 0;
  for (const auto& [state, count] : stage.states)
    runs += count;
  std::string text = base::joined(stage.states, ", ", [&](const auto& one) {
    const std::string word = one.first == "not_due" ? "not due" : one.first;
    return word + (runs > 1 ? fmt::format(" in {}", one.second) : "");
  });
  if (stage.wall_s.empty()) return text;
  std::vector<double> times = stage.wall_s;
  std::ranges::sort(times);
  return text + "; " + base::seconds_text(quantile(times, 0.5));
}

std::string stage_lines(const std::vector<ReportStage>& stages) {
  const std::map<std::string, Box> boxes = boxes_of(stages);
  std::string text;
  for (const ReportStage& stage : stages) {
    text += std::string(2 * boxes.at(stage.name).column, ' ') + stage.name;
    if (!stage.needs.empty()) text += fmt::format(" <- {}", fmt::join(stage.needs, ", "));
    text += " (" + stage_text(stage) + ")\n";
  }
  return text;
}

Drawing stage_graph(const std::vector<ReportStage>& stages,
                    const std::string& recipe,
                    const std::string& id) {
  const std::map<std::string, Box> boxes = boxes_of(stages);
  double width = 0;
  double height = 0;
  std::string description;
  for (const ReportStage& stage : stages) {
    const Box& box = boxes.at(stage.name);
    width = std::max(width, box.x() + box_width + 4);
    height = std::max(height, box.y() + box_height + 4);
    description += fmt::format("{}{} ({}){}{}",
                               description.empty() ? "" : "; ",
                               stage.name,
                               stage_text(stage),
                               stage.needs.empty() ? "" : " needs ",
                               fmt::join(stage.needs, ", "));
  }
  Drawing drawing(id, width, height, "stages of " + recipe, description + ".");
  for (const ReportStage& stage : stages) {
    for (const std::string& need : stage.needs) {
      if (boxes.contains(need)) draw_need(drawing, boxes.at(need), boxes.at(stage.name));
    }
  }
  for (const ReportStage& stage : stages) {
    const Box& box = boxes.at(stage.name);
    drawing.rectangle(box.x(), box.y(), box_width, box_height, class_of(stage));
    drawing.text(
        box.x() + 10, box.y() + 21, "start", fitting_text(stage.name, box_width - 20), "strong");
    drawing.text(box.x() + 10,
                 box.y() + 39,
                 "start",
                 fitting_text(stage_text(stage), box_width - 16),
                 "small");
  }
  return drawing;
}

}  // namespace sabath::report
