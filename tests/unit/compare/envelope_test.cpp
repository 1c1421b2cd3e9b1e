#include "support/errors.hpp"
#include "vectors.hpp"

#include <sabath/compare/envelope.hpp>

#include <algorithm>
#include <limits>
#include <optional>
#include <span>

using namespace sabath::compare;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

Envelope growing() {
  return make_envelope(std::vector<double>{1, 1, 1}, {{1, 1.001, 1.1}, {1, 0.998, 1}, {1, 1, 0.9}});
}

/// The first step that does not hold, in either way.
std::optional<std::size_t> first_outside(const Envelope& envelope,
                                         std::span<const double> values,
                                         double factor = 10,
                                         double floor = 0) {
  const Leaving found =
      find_leaving(envelope, values, factor, std::vector<double>(envelope.reference.size(), floor));
  if (!found.outside || !found.unbounded) return found.outside ? found.outside : found.unbounded;
  return std::min(*found.outside, *found.unbounded);
}

}  // namespace

TEST_CASE("envelope: as wide as the widest rerun, times a factor") {
  CHECK(first_outside(growing(), std::vector<double>{1, 1.019, 1.9}) == std::nullopt);
  CHECK(first_outside(growing(), std::vector<double>{1, 1.021, 1.9}) == 1);
  CHECK(first_outside(growing(), std::vector<double>{1, 1.021, 1.9}, 20) == std::nullopt);
  // Where no rerun moved, nothing may, but for the floor.
  CHECK(first_outside(growing(), std::vector<double>{1.0001, 1, 1}) == 0);
  CHECK(first_outside(growing(), std::vector<double>{1.0001, 1, 1}, 10, 1e-3) == std::nullopt);
}

TEST_CASE("envelope: NaN equals NaN, and nothing else") {
  const Envelope envelope =
      make_envelope(std::vector<double>{not_a_number, 1},
                    {{not_a_number, 1}, {not_a_number, 1}, {not_a_number, 1}});
  CHECK(first_outside(envelope, std::vector<double>{not_a_number, 1}) == std::nullopt);
  CHECK(first_outside(envelope, std::vector<double>{0, 1}) == 0);
  CHECK(first_outside(envelope, std::vector<double>{not_a_number, not_a_number}) == 1);
}

TEST_CASE("envelope: other numbers of steps are outside, and no reruns are an error") {
  CHECK(first_outside(growing(), std::vector<double>{1, 1}) == 2);
  CHECK(first_outside(growing(), std::vector<double>{1, 1, 1, 1}) == 3);
  CHECK_THROWS_AS(make_envelope(std::vector<double>{1}, {{1}, {1}}), sabath::base::Error);
  CHECK_THROWS_AS(make_envelope(std::vector<double>{1}, {{1}, {1}, {1, 2}}), sabath::base::Error);
}

TEST_CASE("envelope: an infinite width admits nothing, and is told apart from what is outside") {
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double blown : {not_a_number, infinite, -infinite}) {
    const Envelope envelope =
        make_envelope(std::vector<double>{1, 1}, {{1, blown}, {1, 1}, {1.01, 1}});
    CHECK(first_outside(envelope, std::vector<double>{1, 1}) == std::nullopt);
    CHECK(first_outside(envelope, std::vector<double>{1, 1e9}) == 1);
    const std::vector<double> floors{0, 0};
    const Leaving unknown = find_leaving(envelope, std::vector<double>{1, 2}, 10, floors);
    CHECK_FALSE(unknown.outside);
    CHECK(unknown.unbounded == 1);
    const Leaving both = find_leaving(envelope, std::vector<double>{2, 2}, 10, floors);
    CHECK(both.outside == 0);
  }
  // A finite width that times the factor is infinite admits nothing either.
  const Envelope huge = make_envelope(std::vector<double>{0}, {{1e308}, {0}, {0}});
  CHECK(first_outside(huge, std::vector<double>{1.5e308}) == 0);
}
