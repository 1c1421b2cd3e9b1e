#include <sabath/spec/check_report.hpp>

#include <algorithm>
#include <array>

namespace sabath::spec {
namespace {

/// Of pass, fail, inconclusive and not_comparable.
constexpr std::array<int, 4> severities{0, 3, 1, 2};

template <class Counts>
std::uint64_t count_cases(const CheckReport& report, Counts counts) {
  std::uint64_t count = 0;
  for (const CheckGroup& group : report.groups) {
    count +=
        static_cast<std::uint64_t>(std::count_if(group.cases.begin(), group.cases.end(), counts));
  }
  return count;
}

}  // namespace

bool is_worse(Verdict a, Verdict b) {
  return severities.at(static_cast<std::size_t>(a)) > severities.at(static_cast<std::size_t>(b));
}

std::uint64_t CheckReport::count(Verdict wanted) const {
  return count_cases(*this, [&](const CheckCase& one) { return one.counts_as() == wanted; });
}

std::uint64_t CheckReport::count(Expectation wanted) const {
  return count_cases(*this, [&](const CheckCase& one) { return one.expectation == wanted; });
}

}  // namespace sabath::spec
