#pragma once

#include "statistics/number_format.hpp"

#include <sabath/base/array_source.hpp>
#include <sabath/base/text/exact_number.hpp>
#include <sabath/spec/metric.hpp>

#include <optional>

namespace sabath::compare {

/// Tolerances of both recipes, or of one that counts for both.
struct SaidTolerance {
  SaidTolerance() = default;
  SaidTolerance(spec::Tolerance of_one, std::optional<spec::Tolerance> of_other = {})  // NOLINT
      : one(of_one), other(of_other) {}

  spec::Tolerance one{};
  std::optional<spec::Tolerance> other{};  ///< B's, where it differs

  const spec::Tolerance& of_b() const { return other ? *other : one; }
};

/// Tolerance for values of `type`, with every part set: `asked`, else the recipe's, else the
/// default of the type. If only an absolute one is given, the relative one is 0. Integers are exact
/// unless a tolerance is given. The default number of ULP is 4, but 1 for float16 and 2 for
/// bfloat16, where 4 ULP would be weaker than the tolerance. With two recipes the smaller of each
/// part counts.
spec::Tolerance applied_tolerance(base::ArrayType type,
                                  const SaidTolerance& recipe,
                                  const spec::Tolerance& asked);

/// Whether two numbers of a metric hold a rung. All parts of `tolerance` are set.
bool holds_rung(const base::ExactNumber& a,
                const base::ExactNumber& b,
                spec::Rung rung,
                const spec::Tolerance& tolerance);

/// abs(a-b) <= absolute + relative * max(abs a, abs b), also where the difference overflows. All
/// parts of `tolerance` are set.
bool is_within(const Difference& difference, const spec::Tolerance& tolerance);

/// abs(a-b) / max(abs a, abs b), with the digits that no double holds.
double relative_distance(const base::ExactNumber& a, const base::ExactNumber& b);

}  // namespace sabath::compare
