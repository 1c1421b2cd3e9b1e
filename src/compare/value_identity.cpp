#include "value_identity.hpp"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <set>

namespace sabath::compare {

std::uint64_t bits_of(double value) {
  return std::isnan(value) ? ~std::uint64_t{0} : std::bit_cast<std::uint64_t>(value);
}

Identity identity_of(const RunValues& metric, std::size_t run) {
  return {bits_of(*metric.values[run]), metric.whole.empty() ? std::string() : metric.whole[run]};
}

bool differ_in_digits_alone(const RunValues& metric) {
  if (metric.whole.empty()) return false;
  std::set<std::uint64_t> doubles;
  std::set<Identity> numbers;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run]) continue;
    doubles.insert(bits_of(*metric.values[run]));
    numbers.insert(identity_of(metric, run));
  }
  return doubles.size() == 1 && numbers.size() > 1;
}

base::ExactNumber exact_value(double value, const std::string& whole) {
  const base::ExactNumber nearest{value};
  return whole.empty() ? nearest : base::exact_decimal(whole, value).value_or(nearest);
}

std::string value_text(double value, const std::string& whole) {
  if (!whole.empty()) return whole;
  return std::abs(value) < 0x1p64 ? base::text_of({value}) : fmt::format("{}", value);
}

std::optional<Ends> ends_of(const RunValues& metric) {
  const auto is_less = [](const base::ExactNumber& a, const base::ExactNumber& b) {
    return a.value < b.value || (a.value == b.value && a.rest < b.rest);
  };
  std::optional<Ends> ends;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run] || !std::isfinite(*metric.values[run])) continue;
    const std::string whole = metric.whole.empty() ? std::string() : metric.whole[run];
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

}  // namespace sabath::compare
