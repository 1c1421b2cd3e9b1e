#include "baseline_json.hpp"

#include "documents/document_json.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/text_table.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

namespace sabath::spec {
namespace {

using base::JsonReader;

/// All digits of a whole number; else empty.
std::string text_of(const BaselineMetric& metric, std::size_t i) {
  const double value = metric.values[i];
  if (i < metric.whole->size() && !(*metric.whole)[i].empty()) return (*metric.whole)[i];
  const bool is_whole = std::trunc(value) == value && std::abs(value) < 0x1p64;
  return is_whole ? base::text_of({value}) : std::string();
}

void check_bounds(const BaselineMetric& metric, JsonReader reader) {
  if (!metric.bounds) return;
  const Bounds& bounds = *metric.bounds;
  if (std::isnan(bounds.low) || std::isnan(bounds.high) || bounds.low > bounds.high)
    reader.problem("'low' is not below 'high'");
  if (bounds.rule != reviewed) return;
  for (const auto& [name, bound] : {std::pair{"low", bounds.low}, std::pair{"high", bounds.high}}) {
    JsonReader place = reader.optional(name);
    const std::string held = base::text_of({bound});
    if (place.is_integer() && place.json().dump() != held)
      place.problem("is a whole number that no double holds; the nearest is " + held);
  }
}

/// Without `whole` a value counts as the double nearest to it.
void check_digits(const BaselineMetric& metric, JsonReader reader) {
  auto values = reader.items();
  for (std::size_t i = 0; i < values.size() && i < metric.values.size(); ++i) {
    const bool has_digits = metric.whole && i < metric.whole->size() && !(*metric.whole)[i].empty();
    const std::string known = has_digits ? (*metric.whole)[i] : base::text_of({metric.values[i]});
    if (values[i].is_integer() && values[i].json().dump() != known)
      values[i].problem("is not " + known + ", as 'whole' or the nearest double has it");
  }
}

void check_metric(const BaselineMetric& metric, std::size_t runs, JsonReader reader) {
  if (metric.values.size() != runs) {
    reader.optional("values").problem("has " + std::to_string(metric.values.size()) +
                                      " value(s), and there are " + std::to_string(runs) +
                                      " run(s)");
  }
  if (metric.whole && metric.whole->size() != runs) {
    reader.optional("whole").problem("has " + std::to_string(metric.whole->size()) +
                                     " text(s), and there are " + std::to_string(runs) + " run(s)");
  }
  const auto finite = static_cast<std::uint64_t>(
      std::count_if(metric.values.begin(), metric.values.end(), [](double value) {
        return std::isfinite(value);
      }));
  if (metric.n != finite) {
    reader.optional("n").problem("is " + std::to_string(metric.n) + ", and " +
                                 std::to_string(finite) + " value(s) are finite");
  }
  check_digits(metric, reader.optional("values"));
  check_bounds(metric, reader.optional("bounds"));
  if (metric.margin && !(*metric.margin >= 0 && std::isfinite(*metric.margin)))
    reader.optional("margin").problem("is not a number of zero or more");
}

void check_entry(const BaselineEntry& entry, JsonReader reader) {
  if (entry.runs.empty()) reader.optional("runs").problem("must not be empty");
  if (entry.accepted && !base::parse_rfc3339(entry.accepted->at))
    reader.optional("accepted").optional("at").problem("is not a time");
  std::set<std::string> names;
  auto readers = reader.optional("metrics").items();
  for (std::size_t i = 0; i < entry.metrics.size(); ++i) {
    const BaselineMetric& metric = entry.metrics[i];
    check_metric(metric, entry.runs.size(), readers[i]);
    if (!names.insert(metric.name).second)
      readers[i].optional("name").problem("'" + metric.name + "' is there twice");
  }
}

void check_failure(const Baseline& baseline, const ExpectedFailure& failure, JsonReader reader) {
  std::set<std::string> names;
  for (const BaselineEntry& entry : baseline.entries) {
    for (const BaselineMetric& metric : entry.metrics)
      names.insert(metric.name);
  }
  if (!names.contains(failure.metric)) {
    reader.optional("metric").problem(
        "no entry has a metric '" + failure.metric + "'",
        base::did_you_mean(failure.metric, {names.begin(), names.end()}));
  }
  if (failure.reason.empty()) reader.optional("reason").problem("must not be empty");
  if (!is_date(failure.until)) {
    reader.optional("until").problem("'" + failure.until + "' is not a day",
                                     "a day is written as 2026-12-31");
  }
}

/// As a JSON integer where 64 bits hold it.
void set_integer(nlohmann::ordered_json& place, const std::string& digits) {
  if (const auto natural = base::number_in<std::uint64_t>(digits)) {
    place = *natural;
  } else if (const auto negative = base::number_in<std::int64_t>(digits)) {
    place = *negative;
  }
}

void set_integers(nlohmann::ordered_json& json, const BaselineMetric& metric) {
  if (!metric.whole) return;
  for (std::size_t i = 0; i < metric.values.size(); ++i)
    set_integer(json["values"][i], text_of(metric, i));
  const BaselineDigits digits = digits_of(metric);
  set_integer(json["min"], digits.min);
  set_integer(json["max"], digits.max);
  if (!digits.is_one()) return;
  set_integer(json["mean"], digits.min);
  set_integer(json["median"], digits.min);
  if (!metric.bounds || metric.bounds->low != metric.bounds->high) return;
  if (metric.bounds->rule == reviewed) return;
  set_integer(json["bounds"]["low"], digits.min);
  set_integer(json["bounds"]["high"], digits.min);
}

}  // namespace

BaselineDigits digits_of(const BaselineMetric& metric) {
  if (!metric.whole) return {};
  std::optional<base::ExactNumber> least;
  std::optional<base::ExactNumber> most;
  for (std::size_t i = 0; i < metric.values.size(); ++i) {
    const base::ExactNumber nearest{metric.values[i]};
    if (!std::isfinite(nearest.value)) continue;
    const base::ExactNumber number =
        base::exact_decimal(text_of(metric, i), nearest.value).value_or(nearest);
    if (!least || number < *least) least = number;
    if (!most || *most < number) most = number;
  }
  const auto text = [](const std::optional<base::ExactNumber>& number) {
    const bool is_whole = number && std::trunc(number->value) == number->value;
    return is_whole ? base::text_of(*number) : std::string();
  };
  return {text(least), text(most)};
}

bool is_date(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return false;
  int parts[3] = {0, 0, 0};
  const std::size_t begins[3] = {0, 5, 8};
  const std::size_t lengths[3] = {4, 2, 2};
  for (std::size_t part = 0; part < 3; ++part) {
    for (const char digit : text.substr(begins[part], lengths[part])) {
      if (digit < '0' || digit > '9') return false;
      parts[part] = parts[part] * 10 + (digit - '0');
    }
  }
  return std::chrono::year_month_day{std::chrono::year(parts[0]),
                                     std::chrono::month(static_cast<unsigned>(parts[1])),
                                     std::chrono::day(static_cast<unsigned>(parts[2]))}
      .ok();
}

nlohmann::ordered_json to_json(const Baseline& baseline) {
  nlohmann::ordered_json document = document_of(baseline);
  for (std::size_t e = 0; e < baseline.entries.size(); ++e) {
    const std::vector<BaselineMetric>& metrics = baseline.entries[e].metrics;
    for (std::size_t m = 0; m < metrics.size(); ++m)
      set_integers(document["entries"][e]["metrics"][m], metrics[m]);
  }
  return document;
}

Baseline parse_baseline(std::string_view text, const std::string& origin) {
  base::JsonDocument document = open_document(text, origin);
  base::JsonReader root = document.root();
  root.required("schema", schema_hint);
  Baseline baseline;
  FieldReader io(root);
  describe(io, baseline);
  auto entries = root.optional("entries").items();
  for (std::size_t i = 0; i < baseline.entries.size(); ++i)
    check_entry(baseline.entries[i], entries[i]);
  auto failures = root.optional("expected_failures").items();
  for (std::size_t i = 0; i < baseline.expected_failures.size(); ++i)
    check_failure(baseline, baseline.expected_failures[i], failures[i]);
  root.finish();
  document.finish();
  return baseline;
}

}  // namespace sabath::spec
