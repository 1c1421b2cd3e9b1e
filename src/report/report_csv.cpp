#include "document.hpp"
#include "escape.hpp"

#include <set>

namespace sabath::report {
namespace {

std::string number_cell(const std::optional<double>& value) {
  return value ? exact_number(*value) : "";
}

void add_line(std::string& text, const std::vector<std::string>& cells) {
  for (std::size_t i = 0; i < cells.size(); ++i)
    text += (i == 0 ? "" : ",") + cells[i];
  text += "\r\n";
}

}  // namespace

std::string write_csv(const Report& report) {
  std::set<std::string> parameters;
  for (const ReportRun& run : report.runs) {
    for (const auto& [name, value] : run.parameters)
      parameters.insert(name);
  }
  std::vector<std::string> cells{
      "run", "recipe", "state", "message", "started", "host", "device", "user", "sabath", "seed"};
  for (const std::string& by : report.by)
    cells.push_back(csv_text("by " + by));
  for (const std::string& name : parameters)
    cells.push_back(csv_text("parameter " + name));
  cells.insert(cells.end(), {"total [s]", "energy [J]", "energy"});
  for (const ReportMetric& metric : report.metrics)
    cells.push_back(csv_text(heading_of(metric)));
  cells.insert(cells.end(), {"counts", "left out"});
  std::string text;
  add_line(text, cells);
  for (const ReportRun& run : report.runs) {
    cells.clear();
    for (const std::string* one : {&run.id,
                                   &run.recipe,
                                   &run.state,
                                   &run.message,
                                   &run.started,
                                   &run.host,
                                   &run.device,
                                   &run.user,
                                   &run.sabath_version,
                                   &run.seed})
      cells.push_back(csv_text(*one));
    for (const std::string& level : run.levels)
      cells.push_back(csv_text(level));
    for (const std::string& name : parameters) {
      const auto found = run.parameters.find(name);
      cells.push_back(found == run.parameters.end() ? "" : csv_text(found->second));
    }
    cells.push_back(number_cell(run.wall_s));
    cells.push_back(number_cell(run.joules));
    cells.push_back(csv_text(run.energy));
    for (std::size_t m = 0; m < run.values.size(); ++m) {
      const bool is_whole = !run.whole.empty() && !run.whole[m].empty();
      cells.push_back(is_whole ? run.whole[m] : number_cell(run.values[m]));
    }
    cells.insert(cells.end(), {run.counts() ? "yes" : "no", csv_text(run.left_out)});
    add_line(text, cells);
  }
  return text;
}

}  // namespace sabath::report
