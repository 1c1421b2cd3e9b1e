#include "plots/labelled_lines.hpp"
#include "provenance_text.hpp"
#include "usage_text.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/again.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/session_variables.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace sabath::report {
namespace {

using base::Align;
using base::TextTable;
using spec::RunRecord;

std::string duration_text(double seconds) {
  return base::format_duration(std::chrono::nanoseconds(static_cast<std::int64_t>(seconds * 1e9)));
}

std::string indented(const std::string& text) {
  std::string result = "    ";
  for (const char c : text) {
    result += c;
    if (c == '\n') result += "    ";
  }
  return result;
}

std::string name_of(const spec::MetricSummary& metric) {
  return metric.stream + "/" + metric.name;
}

/// The lines of a table of metrics, each with the course of its metric behind it, if that leaves
/// enough room for one.
std::string with_courses(const std::string& table,
                         const std::vector<spec::MetricSummary>& metrics,
                         const RecordView& view) {
  constexpr std::size_t least = 8;
  constexpr std::size_t most = 32;
  const auto columns_in = [](std::string_view line) {
    return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) {
      return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
    }));
  };
  std::vector<std::string> lines;
  std::size_t widest = 0;
  for (std::size_t at = 0; at < table.size();) {
    const std::size_t end = table.find('\n', at);
    lines.push_back(table.substr(at, end - at));
    widest = std::max(widest, columns_in(lines.back()));
    at = end + 1;
  }
  if (view.columns < widest + 2 + least) return table;
  const std::size_t room = std::min(view.columns - widest - 2, most);
  std::string text = lines.front() + "\n";
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto found = view.courses.find(name_of(metrics[i]));
    std::string& line = lines[i + 1];
    if (found != view.courses.end()) {
      line.resize(line.size() + widest + 2 - columns_in(line), ' ');
      line += sparkline(found->second, room, view.letters);
      line.erase(line.find_last_not_of(' ') + 1);
    }
    text += line + "\n";
  }
  return text;
}

/// With all digits where these are known: rounded ones would look equal.
std::string value_text(const std::optional<std::string>& digits, double value) {
  return digits ? *digits : number_text(value);
}

std::string metrics_text(const std::vector<spec::MetricSummary>& metrics,
                         const RecordView& view = {}) {
  const bool has_medians = std::any_of(
      metrics.begin(), metrics.end(), [](const auto& metric) { return metric.performance; });
  std::vector<TextTable::Column> columns{{"metric", Align::left},
                                         {"first", Align::right},
                                         {"last", Align::right},
                                         {"min", Align::right},
                                         {"max", Align::right},
                                         {"points", Align::right},
                                         {"unit", Align::left}};
  if (has_medians) columns.insert(columns.begin() + 3, {"median", Align::right});
  TextTable table(columns);
  for (const spec::MetricSummary& metric : metrics) {
    const auto found = view.whole.find(name_of(metric));
    const spec::WholeValues whole = found == view.whole.end() ? spec::WholeValues{} : found->second;
    std::vector<std::string> cells{
        name_of(metric),
        value_text(whole.first, metric.first),
        value_text(whole.last, metric.last),
        value_text(whole.min, metric.min),
        value_text(whole.max, metric.max),
        std::to_string(metric.points) +
            (metric.not_finite > 0 ? fmt::format(" ({} not finite)", metric.not_finite) : ""),
        metric.unit};
    const auto median = metric.performance ? spec::shown_value(metric) : std::nullopt;
    if (has_medians) cells.insert(cells.begin() + 3, median ? number_text(*median) : "");
    table.add(std::move(cells));
  }
  return table.empty() ? "" : with_courses(table.text(), metrics, view);
}

bool did_run(const spec::StageRecord& stage) {
  return stage.state != "skipped" && stage.state != "reused" && stage.state != "not_due";
}

/// Of one that was lost, or could not be started, nothing was measured.
bool is_measured(const spec::StageRecord& stage) {
  return did_run(stage) && stage.wall_s > 0;
}

/// Where its outputs are from, why it did not run, or how it was run.
std::string remark_on(const spec::StageRecord& stage) {
  if (!stage.made_by_run.empty()) return "from " + stage.made_by_run;
  if (!did_run(stage)) return base::printable(stage.message);
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (stage.tries) add("try " + std::to_string(stage.tries->size() + 1));
  if (stage.earlier_attempts) add(fmt::format("joins {} attempts", *stage.earlier_attempts + 1));
  if (stage.variant) add("variant " + *stage.variant);
  if (stage.cpus) add(fmt::format("CPUs {}", fmt::join(*stage.cpus, ",")));
  if (stage.gpus) add(fmt::format("GPUs {}", fmt::join(*stage.gpus, ",")));
  return base::printable(text);
}

std::string stages_text(const RunRecord& record) {
  TextTable table({{"stage", Align::left},
                   {"state", Align::left},
                   {"time", Align::right},
                   {"CPU time", Align::right},
                   {"memory", Align::right},
                   {"", Align::left}});
  for (const spec::StageRecord& stage : record.stages) {
    const bool ran = is_measured(stage);
    table.add({stage.name,
               stage.state,
               ran ? duration_text(stage.wall_s) : "",
               ran ? duration_text(stage.user_s + stage.system_s) : "",
               ran ? base::format_bytes(stage.max_rss_bytes) : "",
               remark_on(stage)});
  }
  return table.text();
}

/// What went wrong, with the end of the log.
std::string failure_text(const RunRecord& record) {
  if (record.state == spec::RunState::ok) return "";
  std::string text = base::printable(record.message) + "\n";
  const auto with_tail = std::count_if(record.stages.begin(),
                                       record.stages.end(),
                                       [](const auto& stage) { return !stage.log_tail.empty(); });
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.log_tail.empty()) continue;
    if (with_tail > 1) {
      text += "stage " + base::printable(stage.name) +
              (stage.message.empty() ? "" : ": " + base::printable(stage.message)) + "\n";
    }
    text += indented(base::printable(stage.log_tail, true)) + "\n";
  }
  return text;
}

std::string outputs_text(const RunRecord& record, std::size_t columns) {
  LabelledLines lines(14, columns);
  for (const spec::OutputRecord& output : record.outputs) {
    lines.add("output",
              fmt::format("{}/{}, {}  {}",
                          output.stage,
                          output.path,
                          base::format_bytes(output.size_bytes),
                          output.digest.text()));
    if (output.kept && *output.kept != "cache") lines.add("", *output.kept);
    if (output.as_made) lines.add("", "made as " + output.as_made->text());
  }
  return lines.text();
}

/// Processes that stages left behind: a person should know that they were ended.
std::string leftovers_text(const RunRecord& record) {
  std::string text;
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.leftovers == 0) continue;
    text += "  stage " + base::printable(stage.name) + " left " + std::to_string(stage.leftovers) +
            " process(es) behind, which were ended\n";
  }
  return text;
}

/// What a person should know of the search for metrics.
std::string notes_text(const std::optional<spec::Collected>& collected) {
  std::string text;
  if (!collected) return text;
  for (const std::string& note : collected->notes)
    text += "  note: " + base::printable(note) + "\n";
  return text;
}

/// What somebody changed while it ran.
std::string edits_text(const RunRecord& record) {
  std::string text;
  const auto add = [&](const std::string& note) {
    text += "  note: " + base::printable(note) + "\n";
  };
  if (record.code_state && record.code_state->changed) {
    for (const spec::CodeChange& change : *record.code_state->changed) {
      const std::string files = fmt::format("{}", fmt::join(change.files, ", "));
      add("the recipe's folder was changed " + change.seen + (files.empty() ? "" : ": ") + files);
    }
  }
  for (const spec::OutputRecord& output : record.outputs) {
    if (output.as_made)
      add("output " + output.stage + "/" + output.path + ": a later stage changed it");
  }
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.not_reusable)
      add("stage " + stage.name + ": cannot be reused: " + *stage.not_reusable);
  }
  return text;
}

/// What the code itself said of its run.
std::string reported_text(const std::optional<spec::Collected>& collected) {
  if (!collected) return "";
  LabelledLines lines(14);
  for (const std::string& seed : collected->seeds)
    lines.add("reported", "seed = " + seed);
  for (const auto& [name, value] : collected->parameters)
    lines.add("reported", name + " = " + value);
  return lines.text();
}

/// "simulate reused, train 12.1 s (try 2)"
std::string stages_line(const RunRecord& record) {
  std::string text;
  for (const spec::StageRecord& stage : record.stages) {
    text += (text.empty() ? "" : ", ") + stage.name + " ";
    if (is_measured(stage)) {
      text += duration_text(stage.wall_s);
    } else {
      text += stage.state == "not_due" ? "not due" : stage.state;
    }
    if (stage.tries) text += fmt::format(" (try {})", stage.tries->size() + 1);
  }
  return text;
}

std::string head_text(const RunRecord& record, std::size_t columns) {
  LabelledLines lines(14, columns);
  lines.add("run", record.run_id);
  lines.add("state", std::string(spec::to_string(record.state)));
  lines.add("task", record.task.value_or(""));
  lines.add("model", record.model);
  if (record.repeats) lines.add("repeats", *record.repeats);
  lines.add("study", record.study_id);
  // When one that was lost ended nobody knows.
  const bool is_known = record.state != spec::RunState::lost;
  lines.add("started",
            record.started + (is_known ? ", took " + duration_text(record.wall_s) : "") +
                (record.user.empty() ? "" : ", by " + record.user));
  for (const spec::AttemptRecord& attempt :
       record.attempts.value_or(std::vector<spec::AttemptRecord>{})) {
    lines.add("attempt " + std::to_string(attempt.number),
              attempt.state + (attempt.stage.empty() ? "" : " in stage " + attempt.stage) +
                  (attempt.node.empty() ? "" : " on " + attempt.node) +
                  (attempt.message.empty() ? "" : ": " + attempt.message));
  }
  for (const std::string& tag : record.tags)
    lines.add("tag", tag);
  return lines.text();
}

using AddLines = void (*)(LabelledLines&, const RunRecord&);

std::string part_text(AddLines add, const RunRecord& record, std::size_t columns) {
  LabelledLines lines(14, columns);
  add(lines, record);
  return lines.text();
}

std::string tail_text(const RunRecord& record, std::size_t columns) {
  LabelledLines lines(14, columns);
  add_usage(lines, record);
  std::vector<std::string> facets;
  for (const spec::Facet& facet : record.facets)
    facets.push_back(facet.name + " " + facet.digest().hex.substr(0, 12));
  lines.add_list("facets", facets);
  lines.add("sabath", record.sabath_version);
  lines.add_whole("again", record.reproduce);
  lines.add("", why_not_again(record));
  return lines.text();
}

void append_part(std::string& text, const std::string& part) {
  if (!part.empty()) text += "\n" + part;
}

}  // namespace

std::string record_text(const RunRecord& record, const RecordView& view) {
  const std::size_t columns = view.columns;
  std::string text = head_text(record, columns);
  for (const AddLines add : {add_code, add_knobs, add_software})
    append_part(text, part_text(add, record, columns));
  append_part(text, failure_text(record));
  append_part(text, stages_text(record) + leftovers_text(record));
  append_part(
      text, metrics_text(record.metrics, view) + notes_text(record.collected) + edits_text(record));
  append_part(text, reported_text(record.collected));
  append_part(text, outputs_text(record, columns));
  for (const spec::HostFacts& host : record.hosts)
    append_part(text, host_text(host));
  if (view.libraries && record.software) append_part(text, libraries_text(*record.software));
  if (const spec::Facet* opened = record.facet(spec::opened_facet); view.libraries && opened)
    append_part(text, opened_text(*opened));
  append_part(text, tail_text(record, columns));
  return text;
}

std::string collection_text(const spec::Collection& collection) {
  LabelledLines lines(14);
  lines.add("run", collection.run_id);
  lines.add("collection", std::to_string(collection.number) + ", made " + collection.created);
  std::string text = lines.text();
  append_part(text, metrics_text(collection.metrics) + notes_text(collection.collected));
  append_part(text, reported_text(collection.collected));
  return text + "\n";
}

namespace {

/// "0.5 -> 0.25 m", or of performance "1.5 s, median", as every table shows it.
std::string outcome_value(const spec::MetricSummary& metric, const spec::WholeValues& digits) {
  const std::string unit = metric.unit.empty() || metric.unit == "1" ? "" : " " + metric.unit;
  if (metric.points < 2) return value_text(digits.last, metric.last) + unit;
  if (metric.performance && spec::shown_value(metric))
    return number_text(*spec::shown_value(metric)) + unit + ", median";
  return value_text(digits.first, metric.first) + " -> " + value_text(digits.last, metric.last) +
         unit;
}

}  // namespace

std::string outcome_text(const RunRecord& record, const spec::WholeSummaries& whole) {
  std::string text =
      fmt::format("{}  {}", base::printable(record.run_id), spec::to_string(record.state));
  if (record.state != spec::RunState::lost) text += "  " + duration_text(record.wall_s);
  text += "\n";
  text += failure_text(record);
  if (record.state != spec::RunState::ok) return text;
  text += "  stages: " + base::printable(stages_line(record)) + "\n" + leftovers_text(record);
  std::size_t width = 0;
  for (const auto& metric : record.metrics) {
    width = std::max(width, metric.stream.size() + metric.name.size() + 1);
  }
  for (const spec::MetricSummary& metric : record.metrics) {
    const std::string name = metric.stream + "/" + metric.name;
    const auto found = whole.find(name);
    const spec::WholeValues digits = found == whole.end() ? spec::WholeValues{} : found->second;
    text +=
        base::printable(fmt::format("  {:<{}}  {}", name, width, outcome_value(metric, digits))) +
        "\n";
  }
  text += notes_text(record.collected) + edits_text(record);
  for (const spec::HostFacts& host : record.hosts) {
    if (const auto noise = noise_text(host); !noise.empty()) {
      text += "  note: " + base::printable(noise) + "\n";
    }
  }
  return text;
}

}  // namespace sabath::report
