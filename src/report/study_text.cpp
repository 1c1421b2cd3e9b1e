#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>

#include <chrono>

namespace sabath::report {

std::string study_text(const StudyTable& study) {
  using base::Align;
  std::vector<base::TextTable::Column> columns;
  for (const std::string& name : study.parameters)
    columns.push_back({name, Align::right});
  columns.insert(columns.end(), {{"seed", Align::right}, {"state"}, {"time", Align::right}});
  for (const std::string& name : study.metrics)
    columns.push_back({name, Align::right});
  columns.push_back({"run"});
  base::TextTable table(columns);
  for (const StudyTable::Row& row : study.rows) {
    std::vector<std::string> cells = row.values;
    const auto wall =
        std::chrono::nanoseconds(static_cast<std::int64_t>(row.wall_s.value_or(0) * 1e9));
    cells.insert(cells.end(),
                 {row.seed,
                  row.state.empty() ? "not run" : row.state,
                  row.wall_s ? base::format_duration(wall) : ""});
    cells.insert(cells.end(), row.metrics.begin(), row.metrics.end());
    cells.push_back(row.run_id);
    table.add(std::move(cells));
  }
  return table.text();
}

}  // namespace sabath::report
