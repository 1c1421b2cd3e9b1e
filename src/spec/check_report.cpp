#include <sabath/spec/check_report.hpp>

#include <algorithm>
#include <array>

namespace sabath::spec {
namespace {

int rank(Verdict verdict) {
  switch (verdict) {
    case Verdict::fail:
      return 3;
    case Verdict::not_comparable:
      return 2;
    case Verdict::inconclusive:
      return 1;
    case Verdict::pass:
      break;
  }
  return 0;
}

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

std::string_view to_string(CaseKind kind) {
  static constexpr std::array<std::string_view, 3> words{"run", "result", "performance"};
  return words.at(static_cast<std::size_t>(kind));
}

std::string_view to_string(Expectation expectation) {
  static constexpr std::array<std::string_view, 4> words{
      "none", "expected failure", "unexpected pass", "expired"};
  return words.at(static_cast<std::size_t>(expectation));
}

bool is_worse(Verdict a, Verdict b) {
  return rank(a) > rank(b);
}

std::uint64_t CheckReport::count(Verdict wanted) const {
  return count_cases(*this, [&](const CheckCase& one) { return one.counts_as() == wanted; });
}

std::uint64_t CheckReport::count(Expectation wanted) const {
  return count_cases(*this, [&](const CheckCase& one) { return one.expectation == wanted; });
}

}  // namespace sabath::spec
