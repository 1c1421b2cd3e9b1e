#pragma once

#include <sabath/base/array_source.hpp>
#include <sabath/spec/metric.hpp>

#include <optional>

namespace sabath::compare {

/// What the recipes of both sides say, or one that speaks for both.
struct SaidTolerance {
  SaidTolerance() = default;
  SaidTolerance(spec::Tolerance of_one, std::optional<spec::Tolerance> of_other = {})  // NOLINT
      : one(of_one), other(of_other) {}

  spec::Tolerance one{};
  std::optional<spec::Tolerance> other{};  ///< B's, where that is another

  const spec::Tolerance& of_b() const { return other ? *other : one; }
};

/// The tolerance that is applied to values of `type`, with every part filled in: what was asked,
/// else what the recipe says, else the default of the type. Where only an absolute one is given,
/// the relative one is 0. Integers are exact unless told otherwise. The default number of ULP is 4,
/// but 1 for float16 and 2 for bfloat16, where 4 ULP would be a weaker claim than the tolerance.
/// Of two recipes' each is filled in, and of each part the smaller is applied.
spec::Tolerance applied_tolerance(base::ArrayType type,
                                  const SaidTolerance& recipe,
                                  const spec::Tolerance& asked);

}  // namespace sabath::compare
