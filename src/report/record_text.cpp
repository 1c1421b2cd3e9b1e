#include "escape.hpp"
#include "plots/labelled_lines.hpp"
#include "provenance_text.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/pieces.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/run_record.hpp>
#include <sabath/spec/session_variables.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace sabath::report {
namespace {

using base::TextTable;
using spec::RunRecord;

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

spec::WholeValues digits_of(const spec::WholeSummaries& whole, const spec::MetricSummary& metric) {
  const auto found = whole.find(name_of(metric));
  return found == whole.end() ? spec::WholeValues{} : found->second;
}

/// The lines of a table of metrics, each with the course of its metric behind it, if that leaves
/// enough room for one.
std::string with_courses(const std::string& table,
                         const std::vector<spec::MetricSummary>& metrics,
                         const RecordView& view) {
  constexpr std::size_t least = 8;
  constexpr std::size_t most = 32;
  std::vector<std::string> lines = base::text_lines(table);
  std::size_t widest = 0;
  for (const std::string& line : lines)
    widest = std::max(widest, base::code_points(line));
  if (view.columns < widest + 2 + least) return table;
  const std::size_t room = std::min(view.columns - widest - 2, most);
  std::string text = lines.front() + "\n";
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const auto found = view.courses.find(name_of(metrics[i]));
    std::string& line = lines[i + 1];
    if (found != view.courses.end()) {
      line.resize(line.size() + widest + 2 - base::code_points(line), ' ');
      line += sparkline(found->second, room, view.letters);
      line.erase(line.find_last_not_of(' ') + 1);
    }
    text += line + "\n";
  }
  return text;
}

/// Uses all digits where these are known, as rounded ones would look equal.
std::string value_text(const std::optional<std::string>& digits, double value) {
  return digits ? *digits : number_text(value);
}

/// "best 0.25"; empty for the last value.
std::string judged_text(const spec::MetricSummary& metric, const spec::WholeSummaries& whole) {
  if (!metric.judge) return {};
  const std::string digits = spec::whole_judged(whole, metric);
  return *metric.judge + " " + (digits.empty() ? number_text(spec::judged_value(metric)) : digits);
}

std::string metrics_text(const std::vector<spec::MetricSummary>& metrics,
                         const RecordView& view = {}) {
  const bool has_medians =
      std::ranges::any_of(metrics, [](const auto& metric) { return metric.performance; });
  std::vector<TextTable::Column> columns{
      "metric", ">first", ">last", ">min", ">max", ">points", "unit"};
  if (has_medians) columns.insert(columns.begin() + 3, ">median");
  const bool has_judge =
      std::ranges::any_of(metrics, [](const auto& one) { return one.judge.has_value(); });
  if (has_judge) columns.emplace_back("judged by");
  TextTable table(columns);
  for (const spec::MetricSummary& metric : metrics) {
    const spec::WholeValues whole = digits_of(view.whole, metric);
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
    if (has_judge) cells.push_back(judged_text(metric, view.whole));
    table.add(std::move(cells));
  }
  return table.empty() ? "" : with_courses(table.text(), metrics, view);
}

bool did_run(const spec::StageRecord& stage) {
  return stage.state != "skipped" && stage.state != "reused" && stage.state != "not_due";
}

/// Whether the stage was measured: not if it was lost or could not start.
bool is_measured(const spec::StageRecord& stage) {
  return did_run(stage) && stage.wall_s > 0;
}

/// Source of its outputs, why it did not run, or how it ran.
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
  TextTable table({"stage", "state", ">time", ">CPU time", ">memory", ""});
  for (const spec::StageRecord& stage : record.stages) {
    const bool ran = is_measured(stage);
    table.add({stage.name,
               stage.state,
               ran ? base::seconds_text(stage.wall_s) : "",
               ran ? base::seconds_text(stage.user_s + stage.system_s) : "",
               ran ? base::format_bytes(stage.max_rss_bytes) : "",
               remark_on(stage)});
  }
  return table.text();
}

std::string failure_text(const RunRecord& record) {
  if (record.state == spec::RunState::ok) return "";
  std::string text = base::printable(record.message) + "\n";
  const auto with_tail = std::ranges::count_if(
      record.stages, [](const auto& stage) { return !stage.log_tail.empty(); });
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

void add_outputs(LabelledLines& lines, const RunRecord& record) {
  std::map<std::string, std::map<std::string, std::pair<std::uint64_t, std::string>>> groups;
  for (const spec::OutputRecord& output : record.outputs) {
    if (output.part_of)
      groups[output.stage + "/" + *output.part_of][output.path] = {output.size_bytes,
                                                                   output.digest.text()};
  }
  for (const auto& [name, files] : groups) {
    std::uint64_t size_bytes = 0;
    std::string lines_of_tree;
    for (const auto& [path, file] : files) {
      size_bytes += file.first;
      lines_of_tree += file.second + "  " + path + "\n";
    }
    lines.add("output",
              "{}, {}, {}  tree {}",
              name,
              base::counted(files.size(), "file"),
              base::format_bytes(size_bytes),
              base::sha256_of(lines_of_tree).text());
  }
  for (const spec::OutputRecord& output : record.outputs) {
    const bool is_as_made = !output.as_made && (!output.kept || *output.kept == "cache");
    if (output.part_of && is_as_made) continue;
    lines.add("output",
              "{}/{}, {}  {}",
              output.stage,
              output.path,
              base::format_bytes(output.size_bytes),
              output.digest.text());
    if (output.kept && *output.kept != "cache") lines.add("", *output.kept);
    if (output.as_made) lines.add("", "made as " + output.as_made->text());
  }
}

std::string leftovers_text(const RunRecord& record) {
  std::string text;
  for (const spec::StageRecord& stage : record.stages) {
    if (stage.leftovers == 0) continue;
    text += "  stage " + base::printable(stage.name) + " left " + std::to_string(stage.leftovers) +
            " process(es) behind, which were ended\n";
  }
  return text;
}

std::string note_line(const std::string& note) {
  return "  note: " + base::printable(note) + "\n";
}

std::string notes_text(const std::optional<spec::Collected>& collected) {
  std::string text;
  for (const std::string& note : collected ? collected->notes : std::vector<std::string>{})
    text += note_line(note);
  return text;
}

std::string edits_text(const RunRecord& record) {
  std::string text;
  const auto add = [&](const std::string& note) { text += note_line(note); };
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
  return base::joined(record.stages, ", ", [](const spec::StageRecord& stage) {
    const std::string state = stage.state == "not_due" ? "not due" : stage.state;
    return stage.name + " " + (is_measured(stage) ? base::seconds_text(stage.wall_s) : state) +
           (stage.tries ? fmt::format(" (try {})", stage.tries->size() + 1) : "");
  });
}

void add_head(LabelledLines& lines, const RunRecord& record) {
  lines.add("run", record.run_id);
  lines.add("state", std::string(spec::to_string(record.state)));
  lines.add("task", record.task.value_or(""));
  lines.add("model", record.model);
  if (record.repeats) lines.add("repeats", *record.repeats);
  lines.add("study", record.study_id);
  // When one that was lost ended nobody knows.
  const bool is_known = record.state != spec::RunState::lost;
  lines.add("started",
            record.started + (is_known ? ", took " + base::seconds_text(record.wall_s) : "") +
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
}

using AddLines = void (*)(LabelledLines&, const RunRecord&);

std::string part_text(AddLines add, const RunRecord& record, std::size_t columns) {
  LabelledLines lines(14, columns);
  add(lines, record);
  return lines.text();
}

template <class T>
void add_part(std::vector<std::string>& parts, const char* form, const std::optional<T>& value) {
  if (value) parts.push_back(fmt::format(fmt::runtime(form), *value));
}

/// "93 % busy, 71.2 GiB at most, 312.4 W, up to 64 C, 1410 to 1980 MHz, power_cap in 12 sample(s)"
std::string gpu_text(const spec::GpuUsage& gpu) {
  std::vector<std::string> parts;
  if (gpu.mean_utilisation) {
    parts.push_back(fmt::format("{:.0f} % busy", *gpu.mean_utilisation * 100));
  }
  if (gpu.max_memory_bytes) {
    parts.push_back(base::format_bytes(*gpu.max_memory_bytes) + " at most");
  }
  add_part(parts, "{:.1f} W", gpu.mean_power_w);
  add_part(parts, "up to {:g} C", gpu.max_temperature_c);
  if (gpu.min_clock_mhz && gpu.max_clock_mhz) {
    parts.push_back(fmt::format("{} to {} MHz", *gpu.min_clock_mhz, *gpu.max_clock_mhz));
  }
  for (const auto& [reason, samples] : gpu.throttled)
    parts.push_back(fmt::format("slowed by {} in {} sample(s)", reason, samples));
  return fmt::format("{}: {}", gpu.uuid, fmt::join(parts, ", "));
}

/// Processes that lived between two samples are missing.
std::string traffic_text(const spec::UsageSummary& usage) {
  if (!usage.scope || !usage.read_bytes || !usage.write_bytes) return {};
  std::string text = fmt::format("read {}, wrote {}",
                                 base::format_bytes(*usage.read_bytes),
                                 base::format_bytes(*usage.write_bytes));
  if (usage.max_processes.value_or(0) > 0) {
    text += fmt::format(", up to {} process(es) and {} thread(s)",
                        *usage.max_processes,
                        usage.max_threads.value_or(0));
  }
  return text + ", by " + *usage.scope;
}

void add_usage(LabelledLines& lines, const spec::RunRecord& record) {
  const spec::UsageSummary& usage = record.usage;
  lines.add("busy CPUs",
            "{:.2f} on average, {}",
            usage.mean_cpus,
            base::counted(usage.samples, "sample"));
  if (usage.max_rss_bytes > 0)
    lines.add("peak memory", base::format_bytes(usage.max_rss_bytes) + " at most");
  lines.add("", traffic_text(usage));
  for (const auto& gpu : usage.gpus.value_or(std::vector<spec::GpuUsage>{}))
    lines.add("GPU", gpu_text(gpu));
  lines.add("energy", record.energy);
}

void add_tail(LabelledLines& lines, const RunRecord& record) {
  add_usage(lines, record);
  std::vector<std::string> facets;
  for (const spec::Facet& facet : record.facets)
    facets.push_back(facet.name + " " + facet.digest().hex.substr(0, 12));
  lines.add_list("facets", facets);
  lines.add("sabath", record.sabath_version);
  lines.add_whole("again", record.reproduce);
  lines.add("", why_not_again(record));
}

void append_part(std::string& text, const std::string& part) {
  if (!part.empty()) text += "\n" + part;
}

}  // namespace

std::string record_text(const RunRecord& record, const RecordView& view) {
  const std::size_t columns = view.columns;
  std::string text = part_text(add_head, record, columns);
  for (const AddLines add : {add_code, add_knobs, add_software})
    append_part(text, part_text(add, record, columns));
  append_part(text, failure_text(record));
  append_part(text, stages_text(record) + leftovers_text(record));
  append_part(
      text, metrics_text(record.metrics, view) + notes_text(record.collected) + edits_text(record));
  append_part(text, reported_text(record.collected));
  append_part(text, part_text(add_outputs, record, columns));
  for (const spec::HostFacts& host : record.hosts)
    append_part(text, host_text(host));
  if (view.libraries && record.software) append_part(text, libraries_text(*record.software));
  if (const spec::Facet* opened = record.facet(spec::opened_facet); view.libraries && opened)
    append_part(text, opened_text(*opened));
  append_part(text, part_text(add_tail, record, columns));
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

/// "0.5 -> 0.25 m"; for performance "1.5 s, median", as in tables; "0.5 -> 0.3 m, best 0.25".
std::string outcome_value(const spec::MetricSummary& metric, const spec::WholeSummaries& whole) {
  const spec::WholeValues digits = digits_of(whole, metric);
  const std::string unit = metric.unit.empty() || metric.unit == "1" ? "" : " " + metric.unit;
  if (metric.points < 2) return value_text(digits.last, metric.last) + unit;
  if (metric.performance && spec::shown_value(metric))
    return number_text(*spec::shown_value(metric)) + unit + ", median";
  const std::string judged = judged_text(metric, whole);
  return value_text(digits.first, metric.first) + " -> " + value_text(digits.last, metric.last) +
         unit + (judged.empty() ? "" : ", " + judged);
}

}  // namespace

std::string outcome_text(const RunRecord& record, const spec::WholeSummaries& whole) {
  std::string text =
      fmt::format("{}  {}", base::printable(record.run_id), spec::to_string(record.state));
  if (record.state != spec::RunState::lost) text += "  " + base::seconds_text(record.wall_s);
  text += "\n";
  text += failure_text(record);
  if (record.state != spec::RunState::ok) return text;
  text += "  stages: " + base::printable(stages_line(record)) + "\n" + leftovers_text(record);
  std::size_t width = 0;
  for (const auto& metric : record.metrics)
    width = std::max(width, name_of(metric).size());
  for (const spec::MetricSummary& metric : record.metrics) {
    const std::string value = outcome_value(metric, whole);
    text += base::printable(fmt::format("  {:<{}}  {}", name_of(metric), width, value)) + "\n";
  }
  text += notes_text(record.collected) + edits_text(record);
  for (const spec::HostFacts& host : record.hosts) {
    if (const auto noise = noise_text(host); !noise.empty()) text += note_line(noise);
  }
  return text;
}

}  // namespace sabath::report
