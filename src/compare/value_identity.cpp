#include "value_identity.hpp"

#include <sabath/base/exact_number.hpp>

#include <algorithm>
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

std::pair<std::string, std::string> digits_apart(const RunValues& metric) {
  const auto is_less = [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  };
  std::set<std::string, decltype(is_less)> texts;
  for (std::size_t run = 0; run < metric.values.size(); ++run) {
    if (!metric.values[run]) continue;
    const std::string& whole = metric.whole[run];
    texts.insert(whole.empty() ? base::text_of({*metric.values[run]}) : whole);
  }
  return {*texts.begin(), *texts.rbegin()};
}

}  // namespace sabath::compare
