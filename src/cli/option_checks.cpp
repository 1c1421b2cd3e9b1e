#include "option_checks.hpp"

#include <sabath/base/clock.hpp>
#include <sabath/base/text/text_table.hpp>
#include <sabath/collect/number_text.hpp>

#include <cmath>

namespace sabath::cli {

base::Error usage_error(const std::string& problem, const std::string& hint) {
  return {base::ErrorKind::usage, problem, hint};
}

std::chrono::seconds duration_of(const std::string& option,
                                 const std::string& text,
                                 const std::string& examples) {
  if (const auto duration = base::parse_duration(text)) return *duration;
  throw usage_error("'" + option + "': invalid duration '" + base::printable(text) + "'",
                    "such as " + examples + "; at most 100 years");
}

void add_rung(OptionParser& command, std::string& rung) {
  command.add_option("--require", rung, "the rung that must hold: bitwise, ulp or tolerance")
      ->one_of({"bitwise", "ulp", "tolerance"});
}

void add_tolerances(OptionParser& command, spec::Tolerance& tolerance) {
  command.add_option("--rtol", tolerance.relative, "relative tolerance, instead of the recipe's")
      ->check(why_no_amount);
  command.add_option("--atol", tolerance.absolute, "absolute tolerance, instead of the recipe's")
      ->check(why_no_amount);
}

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
