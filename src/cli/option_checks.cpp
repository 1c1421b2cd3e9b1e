#include "option_checks.hpp"

#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <cmath>

namespace sabath::cli {

std::string why_no_amount(const std::string& text) {
  const auto number = collect::number_of(text);
  if (number && std::isfinite(*number) && *number >= 0) return {};
  return "must be a number of zero or more, not '" + base::printable(text) + "'";
}

std::string why_no_count(const std::string& text) {
  const auto number = collect::whole_number_of(text);
  if (number && *number >= 1) return {};
  return "must be a whole number of one or more, not '" + base::printable(text) + "'";
}

}  // namespace sabath::cli
