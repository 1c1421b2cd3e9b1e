#include "vectors.hpp"

#include <sabath/compare/variance_split.hpp>

using namespace sabath::compare;
using nlohmann::json;
using sabath::test::close_to;
using sabath::test::compare_vectors;

namespace {

Factor factor(const std::string& name, std::vector<std::uint32_t> levels) {
  std::uint32_t count = 0;
  for (const std::uint32_t level : levels)
    count = std::max(count, level + 1);
  return {name, count, std::move(levels)};
}

/// To 1e-8, relative: what the project asks of an independent implementation.
void check_shares(const sabath::spec::VarianceSplit& split, const json& wanted) {
  for (std::size_t f = 0; f < split.factors.size(); ++f) {
    const auto& share = split.factors[f];
    INFO(share.name);
    const json& first = wanted["sequential"][f];
    CHECK(share.sequential == close_to(first["sum_sq"], 1e-8));
    CHECK(static_cast<double>(share.sequential_freedom) == first["df"]);
    CHECK(share.eta_squared.value() == close_to(first["eta_squared"], 1e-8));
    CHECK(share.omega_squared.value() == Approx(first["omega_squared"].get<double>()).margin(1e-8));
    const json& second = wanted["partial"][f];
    CHECK(share.partial == close_to(second["sum_sq"], 1e-8));
    CHECK(static_cast<double>(share.partial_freedom) == second["df"]);
    CHECK(share.f.value() == close_to(second["F"], 1e-8));
    CHECK(share.p.value() == close_to(second["p"], 1e-7));
  }
}

}  // namespace

TEST_CASE("variance split: as statsmodels has it, for unbalanced groups and missing cells") {
  for (const json& wanted : compare_vectors("variance_vectors.json")["cases"]) {
    INFO(wanted["name"].get<std::string>());
    std::vector<Factor> factors;
    for (const json& given : wanted["factors"])
      factors.push_back(factor(given["name"], given["codes"].get<std::vector<std::uint32_t>>()));
    const auto split = split_variance(wanted["values"].get<std::vector<double>>(), factors);
    CHECK(split.total == close_to(wanted["total"], 1e-8));
    CHECK(split.residual == close_to(wanted["residual"], 1e-8));
    CHECK(static_cast<double>(split.residual_freedom) == wanted["residual_df"]);
    const json& one_way = wanted["one_way"];
    CHECK(split.between == close_to(one_way["between"], 1e-8));
    CHECK(split.within == close_to(one_way["within"], 1e-8));
    CHECK(static_cast<double>(split.between_freedom) == one_way["between_df"]);
    CHECK(static_cast<double>(split.within_freedom) == one_way["within_df"]);
    CHECK(split.variance_within.value() == close_to(one_way["variance_within"], 1e-8));
    CHECK(split.variance_between.value() ==
          Approx(one_way["variance_between"].get<double>()).margin(1e-8));
    CHECK(split.icc.value() == Approx(one_way["icc"].get<double>()).margin(1e-8));
    check_shares(split, wanted);
  }
}

TEST_CASE("variance split: what is identical within groups is explained exactly") {
  const std::vector<double> values{0.1, 0.1, 0.1, 0.7, 0.7, 0.3};
  const auto split = split_variance(values, {factor("host", {0, 0, 0, 1, 1, 2})});
  CHECK(split.within == 0);
  CHECK(split.icc == 1);
  REQUIRE(split.factors.size() == 1);
  CHECK(split.factors[0].eta_squared == 1);
  CHECK(split.factors[0].partial_eta_squared == 1);
  CHECK(split.factors[0].p == 0);
  CHECK_FALSE(split.factors[0].f);
}

TEST_CASE("variance split: a factor that another one contains explains nothing after it") {
  // Each host belongs to one site.
  const std::vector<double> values{1, 2, 4, 5, 9, 8};
  const auto split = split_variance(
      values, {factor("host", {0, 0, 1, 1, 2, 2}), factor("site", {0, 0, 0, 0, 1, 1})});
  CHECK(split.factors[1].sequential_freedom == 0);
  CHECK(split.factors[1].sequential == Approx(0).margin(1e-12));
  CHECK(split.factors[1].partial_freedom == 0);
  CHECK_FALSE(split.factors[1].p);
  CHECK(split.factors[0].partial_freedom == 1);
  CHECK(split.missing_cells == 3);
}

TEST_CASE("variance split: one value, one group, groups of one, no spread") {
  CHECK(split_variance({}, {}).n == 0);
  const auto single = split_variance(std::vector<double>{5}, {factor("host", {0})});
  CHECK(single.groups == 1);
  CHECK_FALSE(single.icc);
  const auto one_group = split_variance(std::vector<double>{1, 2}, {factor("host", {0, 0})});
  CHECK(one_group.variance_within == 0.5);
  CHECK_FALSE(one_group.icc);
  const auto of_one = split_variance(std::vector<double>{1, 2}, {factor("host", {0, 1})});
  CHECK_FALSE(of_one.icc);
  CHECK_FALSE(of_one.factors[0].omega_squared);
  const auto equal = split_variance(std::vector<double>{3, 3, 3}, {factor("host", {0, 0, 1})});
  CHECK_FALSE(equal.icc);
  CHECK_FALSE(equal.factors[0].eta_squared);
}

TEST_CASE("variance split: shares are the same where no double holds the sums of squares") {
  const std::vector<double> usual{1, 1.1, 1.2, 1.3, 2, 2.5};
  const std::vector<Factor> factors{factor("host", {0, 0, 1, 1, 0, 1}),
                                    factor("site", {0, 0, 0, 1, 1, 1})};
  const auto wanted = split_variance(usual, factors);
  for (const int power : {600, -600}) {
    std::vector<double> values;
    for (const double value : usual)
      values.push_back(std::ldexp(value, power));
    const auto split = split_variance(values, factors);
    CHECK(split.total == (power > 0 ? HUGE_VAL : 0));
    CHECK(*split.icc == *wanted.icc);
    for (std::size_t f = 0; f < 2; ++f) {
      CHECK(*split.factors[f].eta_squared == *wanted.factors[f].eta_squared);
      CHECK(*split.factors[f].f == *wanted.factors[f].f);
      CHECK(*split.factors[f].p == *wanted.factors[f].p);
    }
  }
  // A spread that is nothing beside the rest leaves a ratio without end, and no f.
  const std::vector<double> certain{1e-155, 2e-155, 1, 1};
  const auto split = split_variance(certain, {factor("host", {0, 0, 1, 1})});
  CHECK_FALSE(split.factors[0].f);
  CHECK(split.factors[0].p == 0);
}

TEST_CASE("variance split: many groups take a moment, too many levels are told") {
  constexpr std::uint32_t groups = 200'000;
  std::vector<double> values;
  std::vector<std::uint32_t> levels;
  std::vector<std::uint32_t> seeds;
  for (std::uint32_t i = 0; i < groups; ++i) {
    values.push_back(static_cast<double>(i % 10));
    levels.push_back(i);
    seeds.push_back(i % 3);
  }
  const auto split = split_variance(values, {factor("host", levels), factor("seed", seeds)});
  CHECK(split.groups == groups);
  CHECK(split.factors.size() == 2);
  CHECK(split.factors[0].eta_squared == Approx(1));
  const auto both = split_variance(values, {factor("host", levels), factor("node", levels)});
  CHECK_THAT(both.not_split, Catch::Contains("1000 can be distinguished"));
  CHECK(both.factors.empty());
}
