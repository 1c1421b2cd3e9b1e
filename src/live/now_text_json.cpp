#include <sabath/base/text/display_width.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/live/now_text.hpp>
#include <sabath/report/course.hpp>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>

namespace sabath::live {
namespace {

using nlohmann::json;

constexpr std::size_t spark_columns = 16;

std::string text_in(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? base::printable(found->get<std::string>())
                                                     : std::string();
}

std::string age_of(const json& run, const char* key, base::WallTime now) {
  const auto then = base::parse_rfc3339(text_in(run, key));
  if (!then) return {};
  const auto age = std::max<std::chrono::nanoseconds>(now - *then, std::chrono::nanoseconds(0));
  return base::format_duration(std::chrono::duration_cast<std::chrono::seconds>(age));
}

std::string spark_of(const json& run, report::PlotLetters letters) {
  report::Course course;
  double place = 0;
  for (const json& value : run.value("spark", json::array())) {
    if (value.is_number()) course.add(place, value.get<double>());
    place += 1;
  }
  return report::sparkline(course, spark_columns, letters);
}

std::string running_text(const json& runs, report::PlotLetters letters, base::WallTime now) {
  base::TextTable table({"running", "stage", "course", ">alive", "last line"});
  for (const json& run : runs) {
    if (text_in(run, "state") != "running") continue;
    const bool is_gone = run.value("gone", false);
    table.add({text_in(run, "id"),
               is_gone ? "gone" : text_in(run, "stage"),
               spark_of(run, letters),
               age_of(run, "alive", now),
               is_gone ? text_in(run, "detail") : text_in(run, "last_line")});
  }
  return table.empty() ? "" : table.text() + "\n";
}

/// How old the reasons are; empty: new.
std::string age_of_reasons(const json& page) {
  const std::string from = text_in(page, "reasons_from");
  return from.empty() ? ""
                      : "the scheduler has not answered since " + from.substr(11, 8) + " UTC\n\n";
}

std::string waiting_text(const json& runs) {
  base::TextTable table({"waiting", "state", "waits for"});
  for (const json& run : runs) {
    if (text_in(run, "state") == "running" || !run.value("goes_on", false)) continue;
    std::string reason = text_in(run, "waits_for");
    if (run.value("stuck", false)) reason += ", which as a rule does not pass by itself";
    table.add({text_in(run, "id"),
               text_in(run, "state"),
               reason.empty() ? text_in(run, "detail") : std::move(reason)});
  }
  return table.empty() ? "" : table.text() + "\n";
}

std::string ended_text(const json& ended) {
  base::TextTable table({"ended badly in the last day", "state", "reason"});
  for (const json& run : ended)
    table.add({text_in(run, "id"), text_in(run, "state"), text_in(run, "detail")});
  return table.empty() ? "" : table.text() + "\n";
}

}  // namespace

std::string now_text(const std::string& now,
                     TerminalSize size,
                     report::PlotLetters letters,
                     base::WallTime time) {
  const json page = json::parse(now);
  const std::string counts = base::joined(page["counts"].items(), ", ", [](const auto& one) {
    return fmt::format("{} {}", one.value().template get<std::uint64_t>(), one.key());
  });
  std::string text = base::format_rfc3339(time).substr(11, 8) + " UTC  " +
                     (counts.empty() ? "nothing is under way" : counts) + "  (q leaves)\n\n";
  if (const std::string problem = text_in(page, "problem"); !problem.empty())
    text += problem + "\n\n";
  text += running_text(page["runs"], letters, time) + waiting_text(page["runs"]) +
          age_of_reasons(page) + ended_text(page["ended_badly"]);
  std::vector<std::string> lines = base::text_lines(text);
  if (lines.size() > size.rows) {
    const std::size_t left = lines.size() - size.rows + 1;
    lines.resize(size.rows - 1);
    lines.push_back(fmt::format("... {} more lines; 'sabath status' has all", left));
  }
  return base::joined(
      lines, "\n", [&](const std::string& line) { return base::cut_to_width(line, size.columns); });
}

}  // namespace sabath::live
