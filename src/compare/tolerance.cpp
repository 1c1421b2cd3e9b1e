#include "tolerance.hpp"

#include <algorithm>

namespace sabath::compare {
namespace {

struct Defaults {
  double relative = 0;
  std::uint64_t ulp = 0;
};

// The relative ones are those of torch.testing.assert_close.
Defaults defaults_of(base::ArrayType type) {
  switch (type) {
    case base::ArrayType::float64:
      return {1e-7, 4};
    case base::ArrayType::float32:
      return {1.3e-6, 4};
    case base::ArrayType::float16:
      return {1e-3, 1};
    case base::ArrayType::bfloat16:
      return {1.6e-2, 2};
    default:
      return {};
  }
}

template <class T>
std::optional<T> first_of(const std::optional<T>& asked, const std::optional<T>& recipe) {
  return asked ? asked : recipe;
}

spec::Tolerance filled_in(base::ArrayType type,
                          const spec::Tolerance& recipe,
                          const spec::Tolerance& asked) {
  const Defaults defaults = defaults_of(type);
  const auto absolute = first_of(asked.absolute, recipe.absolute);
  const auto relative = first_of(asked.relative, recipe.relative);
  spec::Tolerance applied;
  applied.absolute = absolute.value_or(0);
  applied.relative = relative.value_or(absolute ? 0 : defaults.relative);
  applied.ulp = first_of(asked.ulp, recipe.ulp).value_or(defaults.ulp);
  return applied;
}

}  // namespace

spec::Tolerance applied_tolerance(base::ArrayType type,
                                  const SaidTolerance& recipe,
                                  const spec::Tolerance& asked) {
  const spec::Tolerance one = filled_in(type, recipe.one, asked);
  if (!recipe.other) return one;
  const spec::Tolerance other = filled_in(type, *recipe.other, asked);
  return {std::min(one.absolute, other.absolute),
          std::min(one.relative, other.relative),
          std::min(one.ulp, other.ulp)};
}

}  // namespace sabath::compare
