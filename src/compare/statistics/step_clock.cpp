#include "step_clock.hpp"

#include <sabath/base/series_sink.hpp>

#include <algorithm>
#include <limits>

namespace sabath::compare {
namespace {

constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t unplaced = last - 2;   ///< of another clock than the others
constexpr std::int64_t by_record = last - 1;  ///< neither step nor epoch is known

}  // namespace

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
  return when(metric.parts_at);
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
