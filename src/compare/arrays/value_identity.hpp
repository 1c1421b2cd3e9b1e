#pragma once

#include <sabath/base/text/exact_number.hpp>
#include <sabath/compare/compare_groups.hpp>
#include <sabath/spec/baseline.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace sabath::compare {

/// What makes two doubles the same: their bits, but all NaN are one.
std::uint64_t bits_of(double value);

/// The same with the digits that a double has no room for.
using Identity = std::pair<std::uint64_t, std::string>;
Identity identity_of(const RunValues& metric, std::size_t run);

/// Are its values different whole numbers that one double is nearest to? No test tells these apart.
bool differ_in_digits_alone(const RunValues& metric);

/// A value with the digits that belong to it: `whole` is empty where the double has all.
base::ExactNumber exact_value(double value, const std::string& whole);

/// Those that are finite.
std::vector<base::ExactNumber> exact_values(const RunValues& metric);

/// As if each value were that of a run.
RunValues values_of(const spec::BaselineMetric& reference);

/// All digits of a whole number below 10^21, else the shortest text that gives the same double.
std::string value_text(double value, const std::string& whole);

/// The least and the largest of the finite values.
struct Ends {
  base::ExactNumber least{};
  base::ExactNumber most{};
  std::string least_text{};
  std::string most_text{};

  std::string text() const;  ///< "lie between 3 and 4"
};
/// Nothing where no value is finite.
std::optional<Ends> ends_of(const RunValues& metric);

/// What is to say of values that differ in digits alone; nothing for all others. PASS within the
/// margin; else FAIL where `is_uniform`: each group has one value; else INCONCLUSIVE.
struct DigitsVerdict {
  spec::Verdict verdict = spec::Verdict::inconclusive;
  std::string reason{};
};
std::optional<DigitsVerdict> judge_digits(const RunValues& metric,
                                          std::optional<double> margin,
                                          bool is_uniform);

/// The digits of each group's least and largest value where doubles have them not, and the standard
/// deviation of the numbers themselves.
void add_digits(const std::vector<std::size_t>& group_of_run,
                const RunValues& metric,
                std::vector<spec::GroupRow>& rows);

}  // namespace sabath::compare
