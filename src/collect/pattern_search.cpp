#include "pattern_search.hpp"

#include "printed_unit.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace sabath::collect {
namespace {

/// After so many lines on which a pattern ran out of steps it is given up: a log has millions.
constexpr std::uint64_t too_hard_limit = 10;
constexpr std::size_t shown_bytes = 60;

/// What `from` says and `to` does not.
void fill(base::SeriesPoint& to, const base::SeriesPoint& from) {
  if (to.step == base::no_step) to.step = from.step;
  if (to.epoch == base::no_step) to.epoch = from.epoch;
  if (std::isnan(to.time_s)) to.time_s = from.time_s;
}

std::optional<std::int32_t> rank_of(std::string_view text) {
  const auto whole = whole_number_of(text);
  if (!whole || *whole < 0 || !std::in_range<std::int32_t>(*whole)) return std::nullopt;
  return static_cast<std::int32_t>(*whole);
}

}  // namespace

PatternSearch::PatternSearch(const std::string& pattern, bool suffix)
    : regex_(pattern),
      suffix_(suffix),
      step_(regex_.groups_named("step")),
      epoch_(regex_.groups_named("epoch")),
      time_(regex_.groups_named("time")),
      rank_(regex_.groups_named("rank")) {}

void PatternSearch::add(const spec::MetricSpec& metric) {
  metrics_.push_back({metric.name, metric.unit, spec::value_groups(regex_, metric.key()), {}});
}

void PatternSearch::begin(std::int32_t rank) {
  sticky_ = {};
  sticky_.rank = rank;
}

void PatternSearch::search(std::string_view line, const BadLine& place, const PointTarget& target) {
  if (too_hard_.count >= too_hard_limit) return;
  values_.clear();
  on_line_ = {};
  for (std::size_t from = 0; from <= line.size();) {
    const auto outcome = regex_.search(line, from);
    if (outcome == base::Regex::Outcome::too_hard) note(too_hard_, place, {});
    if (outcome != base::Regex::Outcome::found) break;
    const std::string_view whole = regex_.group(0).value_or(std::string_view());
    take_match(line, place);
    const std::size_t end =
        whole.data() == nullptr
            ? from
            : static_cast<std::size_t>(whole.data() - line.data()) + whole.size();
    from = end > from ? end : from + 1;
  }
  for (Value& value : values_) {
    fill(value.point, on_line_);
    fill(value.point, sticky_);
    target.add(value.metric->name, value.point, value.number);
  }
}

template <class Parse, class T>
void PatternSearch::take_place(const std::vector<int>& groups,
                               const BadLine& place,
                               Parse parse,
                               T base::SeriesPoint::*member,
                               base::SeriesPoint& where) {
  const std::string_view text = text_of(groups);
  if (text.empty()) return;
  if (const auto value = parse(text)) {
    where.*member = *value;
    return;
  }
  note(not_places_, place, text);
  // Nor is it what a line before said.
  sticky_.*member = base::SeriesPoint().*member;
}

/// Takes what the groups of one match say.
void PatternSearch::take_match(std::string_view line, const BadLine& place) {
  base::SeriesPoint where;
  where.rank = sticky_.rank;
  take_place(step_, place, whole_number_of, &base::SeriesPoint::step, where);
  take_place(epoch_, place, whole_number_of, &base::SeriesPoint::epoch, where);
  take_place(time_, place, seconds_of, &base::SeriesPoint::time_s, where);
  if (const std::string_view text = text_of(rank_); !text.empty()) {
    const auto rank = rank_of(text);
    // Else its values would be taken for another rank's.
    if (!rank) return note(not_numbers_, place, text);
    where.rank = *rank;
  }
  fill(on_line_, where);
  bool has_value = false;
  for (Metric& metric : metrics_) {
    const std::string_view text = text_of(metric.groups);
    if (text.empty()) continue;
    has_value = true;
    if (const auto value = take_value(metric, line, text, place)) {
      values_.push_back({&metric, where, *value});
    }
  }
  if (has_value) return;
  if (where.step != base::no_step) sticky_.step = where.step;
  if (where.epoch != base::no_step) sticky_.epoch = where.epoch;
}

std::optional<base::ExactNumber> PatternSearch::take_value(Metric& metric,
                                                           std::string_view line,
                                                           std::string_view text,
                                                           const BadLine& place) {
  const auto number = exact_number_of(text, suffix_ ? Suffix::unit : Suffix::none);
  if (!number) note(not_numbers_, place, text);
  if (!number || !suffix_) return number;
  const std::string_view printed = line.substr(static_cast<std::size_t>(text.data() - line.data()));
  const auto value = in_unit(number->value, printed, metric.unit);
  if (!value) note(other_units_, place, with_unit(printed));
  if (value && metric.unit.empty()) {
    const std::string_view unit = known_unit(printed);
    if (!metric.first_unit) metric.first_unit = unit;
    if (*metric.first_unit != unit) note(mixed_units_, place, with_unit(printed));
  }
  if (!value) return std::nullopt;
  return *value == number->value ? *number : base::ExactNumber{*value};
}

std::string_view PatternSearch::text_of(const std::vector<int>& groups) const {
  for (const int group : groups) {
    const auto text = regex_.group(group);
    if (text && !text->empty()) return *text;
  }
  return {};
}

void PatternSearch::note(Trouble& trouble, const BadLine& place, std::string_view text) const {
  if (++trouble.count > 1) return;
  trouble.first = place.file.filename().string() + ":" + std::to_string(place.line);
  if (!text.empty()) trouble.first += ": '" + base::printable(text.substr(0, shown_bytes)) + "'";
}

std::string PatternSearch::metric_names() const {
  std::string names;
  for (const Metric& metric : metrics_)
    names += (names.empty() ? "'" : ", '") + base::printable(metric.name) + "'";
  return "metric " + names;
}

void PatternSearch::tell(std::vector<std::string>& notes) const {
  if (not_numbers_.count > 0) {
    notes.push_back(
        metric_names() + ": " + std::to_string(not_numbers_.count) +
        " match(es) hold what is no number, or one out of range or with too many digits, and were "
        "left out; the first is " +
        not_numbers_.first);
  }
  if (other_units_.count > 0) {
    notes.push_back(metric_names() + ": " + std::to_string(other_units_.count) +
                    " match(es) have another unit than the recipe says, and were left out; the "
                    "first is " +
                    other_units_.first);
  }
  if (mixed_units_.count > 0) {
    notes.push_back(metric_names() + ": " + std::to_string(mixed_units_.count) +
                    " match(es) have another unit than the first, and the recipe says none: they "
                    "were taken as they are printed; the first is " +
                    mixed_units_.first);
  }
  if (not_places_.count > 0) {
    // The same for each pattern that knows the same words.
    const std::string note = std::to_string(not_places_.count) +
                             " match(es) have an epoch or step that is not whole, or a time that "
                             "is none; their values are kept without it; the first is " +
                             not_places_.first;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }
  if (too_hard_.count > 0) {
    notes.push_back(metric_names() + ": the pattern needs too many steps on " +
                    std::to_string(too_hard_.count) + " line(s), the first is " + too_hard_.first +
                    (too_hard_.count >= too_hard_limit ? "; it was given up there" : ""));
  }
}

}  // namespace sabath::collect
