#pragma once

#include "verdict.hpp"

#include <sabath/base/text/exact_number.hpp>
#include <sabath/compare/group_input.hpp>
#include <sabath/spec/baseline.hpp>
#include <sabath/spec/group_comparison.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::compare {

/// Bits of a double; all NaN have the same.
std::uint64_t bits_of(double value);

/// Bits with the digits that a double has no room for.
using Identity = std::pair<std::uint64_t, std::string>;
Identity identity_of(const RunValues& metric, std::size_t run);

/// A value with its digits: `whole` is empty where the double has all.
base::ExactNumber exact_value(double value, const std::string& whole);

std::vector<base::ExactNumber> exact_values(const RunValues& metric);

/// The values of a baseline, one for each run.
RunValues values_of(const spec::BaselineMetric& reference);

/// All digits of a whole number below 10^21, else the shortest text of the same double.
std::string value_text(double value, const std::string& whole);

struct Ends {
  base::ExactNumber least{};
  base::ExactNumber most{};
  std::string least_text{};
  std::string most_text{};

  std::string text() const;  ///< "lie between 3 and 4"
};
/// Returns nothing where no value is finite.
std::optional<Ends> ends_of(const RunValues& metric);

/// Judges values that differ in digits alone; returns nothing for others. PASS within the margin,
/// else FAIL where `is_uniform` (each group has one value), else INCONCLUSIVE.
std::optional<Judgement> judge_digits(const RunValues& metric,
                                      std::optional<double> margin,
                                      bool is_uniform);

/// Adds the digits of each group's smallest and largest value where doubles lack them, and the
/// standard deviation of the exact numbers.
void add_digits(const std::vector<std::size_t>& group_of_run,
                const RunValues& metric,
                std::vector<spec::GroupRow>& rows);

}  // namespace sabath::compare
