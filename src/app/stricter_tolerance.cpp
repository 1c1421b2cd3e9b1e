#include "stricter_tolerance.hpp"

#include <algorithm>

namespace sabath::app {
namespace {

template <class T>
std::optional<T> stricter(const std::optional<T>& a, const std::optional<T>& b) {
  return a && b ? std::min(*a, *b) : (a ? a : b);
}

}  // namespace

spec::Tolerance stricter_of(const spec::Tolerance& a, const spec::Tolerance& b) {
  return {
      stricter(a.absolute, b.absolute), stricter(a.relative, b.relative), stricter(a.ulp, b.ulp)};
}

spec::Tolerance as_applied(const spec::Tolerance& said) {
  return {said.absolute.value_or(0),
          said.relative.value_or(said.absolute ? 0 : 1e-7),
          said.ulp.value_or(4)};
}

}  // namespace sabath::app
