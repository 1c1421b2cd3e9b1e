#include "metric_json.hpp"

#include "documents/checked_read.hpp"

#include <sabath/base/text/regex.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <cmath>

namespace sabath::spec {
namespace {

constexpr std::size_t longest_metric_name = 128;
constexpr int most_judged_values = 1'000'000;  ///< collecting keeps as many in memory

/// Programs that exist choose the names of their metrics ("val/Loss"), so that these are freer than
/// names elsewhere.
bool is_metric_name(const std::string& name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  return !name.empty() && name.size() <= longest_metric_name &&
         std::none_of(name.begin(), name.end(), is_control);
}

std::optional<double> read_amount(base::JsonReader reader) {
  if (!reader.exists()) return std::nullopt;
  const double amount = reader.number();
  if (!std::isfinite(amount) || amount < 0) {
    reader.problem("must be a finite number that is not negative");
  }
  return amount;
}

void check_pattern(const MetricSpec& metric, const base::JsonReader& reader) {
  if (!reader.is_string()) return;
  if (const auto problem = base::Regex::problem_of(metric.from.pattern)) {
    reader.problem(*problem, "the syntax is Perl's; in JSON a backslash is written twice");
  } else if (value_groups(base::Regex(metric.from.pattern), metric.key()).empty()) {
    reader.problem("no group is called 'value' or '" + base::printable(metric.key()) + "'",
                   "write (?<value>...) around the number");
  }
}

/// Either the word alone, or an object with the word as its "kind".
MetricSource read_source(base::JsonReader reader) {
  MetricSource source;
  const bool is_word = !reader.is_object();
  base::JsonReader kind = is_word ? reader : reader.required("kind");
  source.kind = parse_enum<SourceKind>(kind.one_of(enum_words<SourceKind>())).value();
  if (source.kind == SourceKind::regex && is_word) {
    reader.problem("a regular expression needs its pattern",
                   R"x(write {"kind": "regex", "pattern": "loss (?<value>\\S+)"})x");
  }
  if (source.kind == SourceKind::csv && is_word) {
    reader.problem("a table needs its file", R"(write {"kind": "csv", "file": "log.csv"})");
  }
  if (is_word) return source;
  if (source.kind == SourceKind::regex) source.pattern = reader.required("pattern").string();
  const bool is_table = source.kind == SourceKind::csv;
  source.file = (is_table ? reader.required("file") : reader.optional("file")).relative_path();
  base::JsonReader key = reader.optional("key");
  source.key = key.string();
  if (key.exists() && source.kind == SourceKind::jsonl && source.file.empty()) {
    key.problem("without 'file' the metric is read from $SABATH_METRICS, under its own name",
                "name the 'file' that has this key, or leave it out");
  }
  source.stage = reader.optional("stage").string();
  reader.finish();
  return source;
}

/// "last", "best", or {"mean_of_last": N}.
Judge read_judge(base::JsonReader reader) {
  if (!reader.exists()) return {};
  if (!reader.is_object() && !reader.is_string()) {
    reader.problem("must be \"last\", \"best\" or {\"mean_of_last\": N}, not " +
                   reader.json().dump());
    return {};
  }
  if (reader.is_string()) {
    const auto kind = parse_enum<JudgeKind>(reader.one_of(enum_words<JudgeKind>())).value();
    if (kind != JudgeKind::mean_of_last) return {kind};
    reader.problem("'mean_of_last' needs a number of values", R"(write {"mean_of_last": 5})");
    return {};
  }
  base::JsonReader count = reader.required("mean_of_last");
  Judge judge{JudgeKind::mean_of_last, read_count(count, 1, 1)};
  if (judge.values > most_judged_values) {
    count.problem(std::to_string(judge.values) + " values are too many",
                  "at most " + std::to_string(most_judged_values));
  }
  reader.finish();
  return judge;
}

void check_judge(const MetricSpec& metric, const base::JsonReader& reader) {
  if (metric.performance && reader.exists()) {
    reader.problem("a run stands for a performance metric with the median after the warm-up",
                   "leave 'judge' out, or give the metric the kind 'result'");
  } else if (metric.judge.kind == JudgeKind::best && metric.better == Better::none) {
    reader.problem("'best' needs \"better\": lower or higher");
  }
}

}  // namespace

Tolerance read_tolerance(base::JsonReader reader) {
  Tolerance tolerance;
  if (reader.exists() && !reader.is_object()) {
    reader.problem("must be an object, not " + std::string(reader.json().type_name()),
                   R"(such as {"relative": 1e-6})");
    return tolerance;
  }
  tolerance.absolute = read_amount(reader.optional("absolute"));
  tolerance.relative = read_amount(reader.optional("relative"));
  base::JsonReader ulp = reader.optional("ulp");
  if (ulp.exists()) tolerance.ulp = ulp.unsigned_integer();
  reader.finish();
  return tolerance;
}

MetricSpec read_metric(const std::string& name, base::JsonReader reader) {
  MetricSpec metric;
  metric.name = name;
  if (!is_metric_name(name)) {
    reader.problem("'" + base::printable(name) + "' is not the name of a metric",
                   "1 to 128 bytes without control characters");
  }
  base::JsonReader from = reader.optional("from");
  metric.from = read_source(from);
  if (from.is_object()) check_pattern(metric, from.optional("pattern"));
  metric.unit = reader.optional("unit").string();
  metric.better =
      parse_enum<Better>(
          reader.optional("better").one_of(
              enum_words<Better>(), R"("lower" where a smaller value is better, as of a loss)"))
          .value();
  metric.performance = reader.optional("kind").one_of({"result", "performance"}) != "result";
  metric.tolerance = read_tolerance(reader.optional("tolerance"));
  metric.margin = read_amount(reader.optional("margin"));
  base::JsonReader judge = reader.optional("judge");
  metric.judge = read_judge(judge);
  check_judge(metric, judge);
  metric.warmup = read_count(reader.optional("warmup"), 0, 0);
  base::JsonReader target = reader.optional("target");
  if (target.exists()) metric.target = target.number();
  if (metric.target && metric.better == Better::none) {
    target.problem("a target needs \"better\": lower or higher");
  }
  metric.description = reader.optional("description").string();
  reader.finish();
  return metric;
}

}  // namespace sabath::spec
