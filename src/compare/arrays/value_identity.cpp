#include "value_identity.hpp"

#include <sabath/base/moments.hpp>

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

namespace sabath::compare {

static std::string whole_at(const RunValues& metric, std::size_t run) {
  return metric.whole.empty() ? std::string() : metric.whole[run];
}

std::uint64_t bits_of(double value) {
  return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
}

Identity identity_of(const RunValues& metric, std::size_t run) {
  return {bits_of(*metric.values[run]), whole_at(metric, run)};
}

base::ExactNumber exact_value(double value, const std::string& whole) {
  const base::ExactNumber nearest{value};
  return whole.empty() ? nearest : base::exact_decimal(whole, value).value_or(nearest);
}

std::vector<base::ExactNumber> exact_values(const RunValues& metric) {
  std::vector<base::ExactNumber> numbers;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run] || !std::isfinite(*metric.values[run])) continue;
    numbers.push_back(exact_value(*metric.values[run], whole_at(metric, run)));
  }
  return numbers;
}

RunValues values_of(const spec::BaselineMetric& reference) {
  RunValues values;
  values.values.assign(reference.values.begin(), reference.values.end());
  values.whole = reference.whole.value_or(std::vector<std::string>{});
  values.whole.resize(values.values.size());
  return values;
}

std::string value_text(double value, const std::string& whole) {
  if (!whole.empty()) return whole;
  return std::abs(value) < base::first_shortened_whole ? base::text_of({value})
                                                       : fmt::format("{}", value);
}

std::optional<Ends> ends_of(const RunValues& metric) {
  const auto is_less = [](const base::ExactNumber& a, const base::ExactNumber& b) {
    return a.value < b.value || (a.value == b.value && a.rest < b.rest);
  };
  std::optional<Ends> ends;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run] || !std::isfinite(*metric.values[run])) continue;
    const std::string whole = whole_at(metric, run);
    const base::ExactNumber number = exact_value(*metric.values[run], whole);
    const std::string text = value_text(*metric.values[run], whole);
    if (!ends) ends = Ends{number, number, text, text};
    if (is_less(number, ends->least)) {
      ends->least = number;
      ends->least_text = text;
    }
    if (is_less(ends->most, number)) {
      ends->most = number;
      ends->most_text = text;
    }
  }
  return ends;
}

std::string Ends::text() const {
  return fmt::format("lie between {} and {}", least_text, most_text);
}

namespace {

/// Number of different whole numbers, where all have one nearest double. No test distinguishes
/// these.
std::optional<std::size_t> count_of_one_double(const RunValues& metric) {
  if (metric.whole.empty()) return std::nullopt;
  std::set<std::uint64_t> doubles;
  std::set<Identity> numbers;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run]) continue;
    doubles.insert(bits_of(*metric.values[run]));
    numbers.insert(identity_of(metric, run));
  }
  if (doubles.size() != 1 || numbers.size() < 2) return std::nullopt;
  return numbers.size();
}

}  // namespace

std::optional<Judgement> judge_digits(const RunValues& metric,
                                      std::optional<double> margin,
                                      bool is_uniform) {
  const auto count = count_of_one_double(metric);
  if (!count) return std::nullopt;
  const Ends ends = ends_of(metric).value_or(Ends{});
  if (margin && ends.most.rest - ends.least.rest <= *margin) {
    return Judgement{spec::Verdict::pass,
                     ends.text() + fmt::format(", within the margin {}", *margin)};
  }
  return Judgement{
      is_uniform ? spec::Verdict::fail : spec::Verdict::inconclusive,
      fmt::format("{} different whole numbers are nearest to one double, so that no test tells "
                  "them apart",
                  *count)};
}

void add_digits(const std::vector<std::size_t>& group_of_run,
                const RunValues& metric,
                std::vector<spec::GroupRow>& rows) {
  if (metric.whole.empty()) return;
  std::vector<RunValues> groups(rows.size());
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    groups[group_of_run[run]].values.push_back(metric.values[run]);
    groups[group_of_run[run]].whole.push_back(metric.whole[run]);
  }
  for (std::size_t g = 0; g < rows.size(); ++g) {
    const auto ends = ends_of(groups[g]);
    if (rows[g].sd) rows[g].sd = base::exact_moments(exact_values(groups[g])).sd;
    if (ends && ends->least.rest != 0) rows[g].min_digits = ends->least_text;
    if (ends && ends->most.rest != 0) rows[g].max_digits = ends->most_text;
  }
}

}  // namespace sabath::compare
