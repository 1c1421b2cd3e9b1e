#include <sabath/base/text/exact_number.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/value_order.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <tuple>

namespace sabath::base {

std::optional<ExactNumber> number_of(std::string_view text) {
  const auto number = number_in<double>(text);
  if (!number || std::isnan(*number)) return std::nullopt;
  return exact_decimal(text, *number).value_or(ExactNumber{*number});
}

bool value_before(std::string_view a, std::string_view b) {
  const std::optional<ExactNumber> number_a = number_of(a);
  const std::optional<ExactNumber> number_b = number_of(b);
  const auto key = [](std::string_view text, const std::optional<ExactNumber>& number) {
    const int kind = number ? 0 : text.empty() ? 2 : 1;
    const ExactNumber exact = number.value_or(ExactNumber{});
    return std::tuple(kind, exact.value, exact.rest, text);
  };
  return key(a, number_a) < key(b, number_b);
}

bool ValuesOrder::operator()(const std::vector<std::string>& a,
                             const std::vector<std::string>& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(), value_before);
}

}  // namespace sabath::base
