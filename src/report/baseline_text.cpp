#include "plots/labelled_lines.hpp"

#include <sabath/base/text/pieces.hpp>
#include <sabath/report/check.hpp>
#include <sabath/report/text.hpp>
#include <sabath/spec/shown_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

namespace sabath::report {
namespace {

using base::printable;
using base::TextTable;
using spec::Baseline;
using spec::BaselineEntry;
using spec::BaselineKey;
using spec::BaselineMetric;

constexpr std::size_t baseline_label_width = 12;
constexpr std::size_t baseline_columns = 100;

std::string place_text(const BaselineKey& key) {
  const auto shown = [](const std::string& text, const char* any) {
    return text == spec::any_of_all ? std::string(any) : text;
  };
  return shown(key.site, "any site") + ", " + shown(key.device, "any device");
}

std::string parameters_text(const BaselineKey& key) {
  return base::joined(key.parameters, ", ", [](const auto& one) {
    return one.first + "=" + spec::shown_text(spec::to_string(one.second));
  });
}

std::string state_text(const BaselineEntry& entry) {
  if (!entry.accepted) return "proposed: without effect until it is accepted";
  std::string text = "accepted by " + entry.accepted->by + " at " + entry.accepted->at;
  if (!entry.accepted->note.empty()) text += ": " + entry.accepted->note;
  return text;
}

std::string seeds_text(const BaselineEntry& entry) {
  std::map<std::string, int> seeds;
  for (const spec::BaselineRun& run : entry.runs)
    ++seeds[run.seed ? std::to_string(*run.seed) : "(none)"];
  if (seeds.size() == 1) return ", all of seed " + seeds.begin()->first;
  return fmt::format(", {} seeds", seeds.size());
}

/// A statistic of the values, rounded where doubles do not hold their digits.
std::string about_text(const BaselineMetric& metric, double value) {
  const spec::BaselineDigits digits = spec::digits_of(metric);
  if (digits.min.empty() && digits.max.empty()) return number_text(value);
  return digits.is_one() ? digits.min : fmt::format("{:.6g}", value);
}

std::string bounds_text(const BaselineMetric& metric) {
  if (!metric.bounds) return "";
  const auto& [low, high, rule] = *metric.bounds;
  if (rule == spec::reviewed)
    return fmt::format("[{}, {}] reviewed", number_text(low), number_text(high));
  return fmt::format("[{}, {}]", about_text(metric, low), about_text(metric, high));
}

std::string metrics_table(const BaselineEntry& entry) {
  TextTable table({"metric", ">n", ">mean", ">sd", ">median", ">min", ">max", "bounds", ">margin"});
  for (const BaselineMetric& metric : entry.metrics) {
    const auto shown = [&](const std::string& text) { return metric.n == 0 ? "-" : text; };
    const spec::BaselineDigits digits = spec::digits_of(metric);
    table.add({printable(spec::shown_title(metric.name, "", false, metric.judge)),
               std::to_string(metric.n),
               shown(mean_text(metric)),
               shown(number_text(metric.sd)),
               shown(about_text(metric, metric.median)),
               shown(digits.min.empty() ? number_text(metric.min) : digits.min),
               shown(digits.max.empty() ? number_text(metric.max) : digits.max),
               metric.performance ? "performance" : bounds_text(metric),
               metric.margin ? number_text(*metric.margin) : ""});
  }
  return table.empty() ? "" : table.text();
}

std::string entry_text(const BaselineEntry& entry) {
  LabelledLines lines(baseline_label_width, baseline_columns);
  lines.add("holds for", place_text(entry.holds_for));
  lines.add("recipe", entry.holds_for.recipe_definition.text());
  lines.add("task", entry.holds_for.task);
  lines.add("parameters", parameters_text(entry.holds_for));
  lines.add("state", state_text(entry));
  lines.add("runs",
            "{} of '{}'{}, {} to {}",
            entry.runs.size(),
            entry.selection,
            seeds_text(entry),
            entry.runs.front().run_id,
            entry.runs.back().run_id);
  lines.add_list("without", entry.without);
  for (const std::string& note : entry.notes)
    lines.add("note", note);
  for (const BaselineMetric& metric : entry.metrics) {
    // Baselines that were proposed earlier have no such note of their own.
    const std::string note = metric.name + ": no finite value";
    const bool is_told = std::ranges::find(entry.notes, note) != entry.notes.end();
    if (metric.n == 0 && !is_told) lines.add("note", note);
  }
  return "\n" + lines.text() + metrics_table(entry);
}

/// Replaced entries have the same key as the later one except for the recipe, which drifts too.
bool is_same_place(const BaselineKey& a, const BaselineKey& b) {
  BaselineKey same = a;
  same.recipe_definition = b.recipe_definition;
  return same == b;
}

/// Whether no later entry is accepted for the same key.
bool counts(const Baseline& baseline, std::size_t index) {
  const auto later = std::span(baseline.entries).subspan(index + 1);
  return std::ranges::none_of(later, [&](const BaselineEntry& other) {
    return other.accepted && other.holds_for == baseline.entries[index].holds_for;
  });
}

std::string shift_text(const BaselineMetric& now, const BaselineMetric& before) {
  if (now.n == 0 || before.n == 0) return "-";
  const double shift = now.mean - before.mean;
  std::string text = fmt::format("{}{}", shift > 0 ? "+" : "", number_text(shift));
  if (shift != 0 && before.sd > 0) text += fmt::format(" ({:+.2g} sd)", shift / before.sd);
  return text;
}

/// Of the entries that have the judge of `now`.
std::string drift_of(const std::vector<const BaselineEntry*>& entries, const BaselineMetric& now) {
  TextTable table(
      {"accepted", "by", "recipe", ">n", ">mean", ">sd", ">since the last", ">since the first"});
  const BaselineMetric* first = nullptr;
  const BaselineMetric* last = nullptr;
  for (const BaselineEntry* entry : entries) {
    const auto metric = std::ranges::find(entry->metrics, now.name, &BaselineMetric::name);
    if (metric == entry->metrics.end() || metric->judge != now.judge) continue;
    if (first == nullptr) first = &*metric;
    table.add({entry->accepted->at.substr(0, 10),
               printable(entry->accepted->by),
               entry->holds_for.recipe_definition.hex.substr(0, 8),
               std::to_string(metric->n),
               metric->n == 0 ? "-" : mean_text(*metric),
               metric->n == 0 ? "-" : number_text(metric->sd),
               last == nullptr ? "" : shift_text(*metric, *last),
               last == nullptr ? "" : shift_text(*metric, *first)});
    last = &*metric;
  }
  const std::string title = spec::shown_title(now.name, "", false, now.judge);
  std::string text = "\n" + printable(title) + "\n" + table.text();
  if (last == first || !last->margin || last->n == 0 || first->n == 0) return text;
  const double moved = std::abs(last->mean - first->mean);
  if (moved > *last->margin) {
    text += fmt::format("it moved by {} in all, which is more than the margin of {}\n",
                        number_text(moved),
                        number_text(*last->margin));
  }
  return text;
}

std::string drift_text(const Baseline& baseline) {
  std::vector<std::vector<const BaselineEntry*>> places;
  for (const BaselineEntry& entry : baseline.entries) {
    if (!entry.accepted) continue;
    const auto same = std::ranges::find_if(places, [&](const auto& place) {
      return is_same_place(place.front()->holds_for, entry.holds_for);
    });
    if (same == places.end()) {
      places.push_back({&entry});
    } else {
      same->push_back(&entry);
    }
  }
  std::string text;
  for (const auto& place : places) {
    LabelledLines lines(baseline_label_width, baseline_columns);
    lines.add("drift", place_text(place.front()->holds_for));
    lines.add("parameters", parameters_text(place.front()->holds_for));
    lines.add("accepted", "{} time(s)", place.size());
    text += "\n" + lines.text();
    for (const BaselineMetric& metric : place.back()->metrics)
      text += drift_of(place, metric);
  }
  return text.empty() ? "\nnothing was accepted yet\n" : text;
}

}  // namespace

std::string mean_text(const BaselineMetric& metric) {
  return about_text(metric, metric.mean);
}

std::string baseline_text(const Baseline& baseline, bool drift) {
  LabelledLines lines(baseline_label_width, baseline_columns);
  lines.add("baseline", "of " + baseline.recipe);
  for (const spec::ExpectedFailure& known : baseline.expected_failures) {
    lines.add("expected", "{} fails until {}: {}", known.metric, known.until, known.reason);
  }
  std::string text = lines.text();
  if (drift) return text + drift_text(baseline);
  std::size_t history = 0;
  for (std::size_t i = 0; i < baseline.entries.size(); ++i) {
    if (counts(baseline, i)) {
      text += entry_text(baseline.entries[i]);
    } else {
      ++history;
    }
  }
  if (history > 0)
    text +=
        fmt::format("\n{} accepted before, as history: --drift shows how they moved\n", history);
  return text;
}

}  // namespace sabath::report
