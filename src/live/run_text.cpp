#include <sabath/arrays/series_file.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/redact.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/live/run_text.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace sabath::live {

/// What the scheduler that executed a run accounts for it.
std::string accounting_text(const std::optional<batch::RunAccounting>& accounting) {
  if (!accounting) return "";
  const launch::JobUse& use = accounting->use;
  std::string text = accounting->scheduler + " job " + accounting->job;
  if (use.elapsed_s) text += fmt::format(", {:.0f} s", *use.elapsed_s);
  if (use.max_rss_bytes) text += ", " + base::format_bytes(*use.max_rss_bytes) + " at most";
  if (use.energy_j) text += fmt::format(", {:.0f} J", *use.energy_j);
  return use.nodes.empty() ? text : text + ", on " + use.nodes;
}

/// Of the metrics that have a course. What cannot be read is not drawn: `compare` tells it. Neither
/// is what would take longer to read than anybody wants to wait.
std::map<std::string, report::Course> courses_of(const execution::CurrentRecord& current) {
  constexpr std::uint64_t most_points = 2'000'000;
  std::map<std::string, report::Course> courses;
  std::uint64_t points = 0;
  for (const spec::MetricSummary& metric : current.record.metrics)
    points += metric.points;
  std::error_code code;
  if (points > most_points || !std::filesystem::exists(current.series, code)) return courses;
  try {
    for (const spec::Series& series : arrays::read_series(current.series)) {
      report::Course& course = courses[series.stream + "/" + series.name];
      const bool has_steps = std::ranges::find(series.step, base::no_step) == series.step.end();
      for (std::size_t i = 0; i < series.size(); ++i)
        course.add(static_cast<double>(has_steps ? series.step[i] : static_cast<std::int64_t>(i)),
                   series.value[i]);
    }
  } catch (const base::Error&) {
    courses.clear();
  }
  return courses;
}

/// What was said of a run after its end: who and when.
std::string said_text(const std::vector<home::RunStatement>& said) {
  std::string text;
  for (const home::RunStatement& one : said) {
    const bool is_note = one.kind == home::RunStatement::Kind::note;
    const bool is_tag = one.kind == home::RunStatement::Kind::tag;
    const std::string label = is_note ? "note" : is_tag ? "tagged" : "untagged";
    std::string shown = base::redact(one.text);
    // Further lines of a note stand beneath its first one.
    for (std::size_t at = shown.find('\n'); at != std::string::npos; at = shown.find('\n', at + 1))
      shown.insert(at + 1, std::string(14, ' '));
    text += label + std::string(14 - label.size(), ' ') + base::printable(shown, true) + "  (" +
            base::printable(one.by) + ", " + base::printable(one.at) + ")\n";
  }
  return text;
}

}  // namespace sabath::live
