#include "first_signs.hpp"

#include <sabath/base/series_sink.hpp>
#include <sabath/base/text/pieces.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace sabath::compare {
namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t unplaced = last - 2;   ///< of another clock than the others
constexpr std::int64_t by_record = last - 1;  ///< neither step nor epoch is known

template <std::size_t n>
bool has_any(const std::string& name, const std::array<std::string_view, n>& words) {
  return std::ranges::any_of(
      words, [&](std::string_view word) { return name.find(word) != std::string::npos; });
}

std::string own_name(const Finding& finding) {
  const std::string& name = finding.item.name;
  const bool has_stage = name.starts_with(finding.stage + "/");
  return base::lower_case(has_stage ? name.substr(finding.stage.size() + 1) : name);
}

bool is_initial_weights(const Finding& finding) {
  constexpr std::array<std::string_view, 6> of_models{
      "weight", "param", "state", "model", "checkpoint", "checksum"};
  const std::string name = own_name(finding);
  return name.find("init") != std::string::npos && has_any(name, of_models);
}

bool is_loss(const Finding& finding) {
  constexpr std::array<std::string_view, 3> of_others{"val", "test", "eval"};
  const std::string name = own_name(finding);
  return name.find("loss") != std::string::npos && !has_any(name, of_others);
}

bool is_gradient(const Finding& finding) {
  constexpr std::array<std::string_view, 2> words{"grad", "gnorm"};
  return has_any(own_name(finding), words);
}

bool tells_of_speed(const Finding& finding) {
  constexpr std::array<std::string_view, 12> words{"time",
                                                   "second",
                                                   "elapsed",
                                                   "duration",
                                                   "throughput",
                                                   "per_s",
                                                   "memory",
                                                   "bytes",
                                                   "power",
                                                   "energy",
                                                   "watt",
                                                   "temperature"};
  return has_any(own_name(finding), words);
}

bool differs(const Finding& finding) {
  return finding.item.different > 0 || !finding.item.structure.empty();
}

std::string title_of(const Finding& finding) {
  return finding.item.name + (finding.item.judged || finding.in_conflict ? "" : ", not declared");
}

/// A sign that differs has priority over an equal one.
void take(std::optional<FirstSigns::Sign>& sign, const Finding& finding, bool is_different) {
  if (sign && (sign->differs || !is_different)) return;
  sign = FirstSigns::Sign{is_different, title_of(finding)};
}

}  // namespace

FirstSigns first_signs_of(const std::vector<Finding>& metrics,
                          const std::vector<Finding>& outputs) {
  FirstSigns first_signs;
  for (const auto* findings : {&metrics, &outputs}) {
    for (const Finding& finding : *findings) {
      if (is_initial_weights(finding)) take(first_signs.initial_weights, finding, differs(finding));
    }
  }
  for (const Finding& metric : metrics) {
    if (metric.item.compared == 0 || is_initial_weights(metric)) continue;
    if (is_gradient(metric)) {
      take(first_signs.first_gradient, metric, metric.from_start);
    } else if (is_loss(metric)) {
      take(first_signs.first_loss, metric, metric.from_start);
    }
  }
  return first_signs;
}

std::string FirstSigns::text() const {
  const auto is_equal = [](const std::optional<Sign>& sign) { return sign && !sign->differs; };
  if (initial_weights && initial_weights->differs)
    return fmt::format("the initial weights ({}) differ already", initial_weights->name);
  const char* const weights = is_equal(initial_weights) ? ", the initial weights are equal" : "";
  if (first_loss && first_loss->differs) {
    const bool says_more = is_equal(initial_weights) || first_loss->name.ends_with("not declared");
    if (!says_more) return {};
    return fmt::format("the first loss ({}) differs{}", first_loss->name, weights);
  }
  if (first_gradient && first_gradient->differs) {
    return fmt::format("the first gradient norm ({}) differs{}{}",
                       first_gradient->name,
                       is_equal(first_loss) ? ", the first loss is equal" : "",
                       weights);
  }
  return {};
}

const Finding* earlier_sign(const std::vector<Finding>& metrics,
                            const Finding* first,
                            const StageOrder& stages) {
  std::map<std::string, StepClock> clocks;
  const auto when = [&](const Finding& finding) {
    const auto clock = clocks.try_emplace(finding.stage, finding.stage, metrics).first;
    return clock->second.when(finding);
  };
  const auto place = [&](const Finding& finding) {
    return std::pair(stages.place(finding.stage), when(finding));
  };
  const Finding* earliest = nullptr;
  for (const Finding& metric : metrics) {
    if (metric.item.judged || metric.in_conflict) continue;
    if (!metric.item.first_bitwise || tells_of_speed(metric)) continue;
    if (earliest == nullptr || place(metric) < place(*earliest)) earliest = &metric;
  }
  if (earliest == nullptr || first == nullptr) return earliest;
  const bool is_metric =
      std::ranges::any_of(metrics, [&](const Finding& metric) { return &metric == first; });
  const std::size_t stage = stages.place(first->stage);
  const bool is_earlier =
      stages.place(earliest->stage) < stage ||
      (stages.place(earliest->stage) == stage &&
       (!is_metric || !first->item.first_bitwise || when(*earliest) < when(*first)));
  return is_earlier ? earliest : nullptr;
}

StepClock::StepClock(const std::string& stage, const std::vector<Finding>& metrics) {
  for (const Finding& metric : metrics) {
    if (metric.stage != stage) continue;
    counts_anew_ = counts_anew_ || metric.counts_anew;
    for (const auto& [epoch, step] : metric.epoch_ends) {
      const auto [known, is_new] = last_steps_.emplace(epoch, step);
      if (!is_new) known->second = std::max(known->second, step);
    }
  }
}

StepClock::When StepClock::when(const Finding& metric) const {
  if (!metric.item.first_bitwise) return {last, last};
  return when(metric.diverges_at);
}

StepClock::When StepClock::when(const SeriesPlace& at) const {
  const bool has_step = at.step != base::no_step;
  const bool has_epoch = at.epoch != base::no_step;
  if (!has_step && !has_epoch) return {by_record, at.record};
  if (counts_anew_) {
    if (!has_epoch) return {unplaced, at.step};
    return {at.epoch, has_step ? at.step : last};
  }
  if (has_step) return {at.step, 0};
  const auto end = last_steps_.find(at.epoch);
  return end == last_steps_.end() ? When{unplaced, at.epoch} : When{end->second, 1};
}

}  // namespace sabath::compare
