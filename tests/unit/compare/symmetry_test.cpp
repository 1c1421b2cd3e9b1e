#include "pair_maker.hpp"

#include <catch2/catch.hpp>

#include <bit>
#include <limits>
#include <random>

using namespace sabath;
using namespace sabath::test;

namespace {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed) {}
  std::uint64_t below(std::uint64_t limit) { return random_() % limit; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }

  /// A number, often an awkward one.
  double number() {
    switch (below(8)) {
      case 0:
        return std::numeric_limits<double>::quiet_NaN();
      case 1:
        return one_in(2) ? std::numeric_limits<double>::infinity() : -1e308;
      case 2:
        return one_in(2) ? 0.0 : -0.0;
      default:
        return std::ldexp(static_cast<double>(below(1000)), -5);
    }
  }

  /// The same number, or one a little or far off.
  double like(double value) {
    if (!one_in(4)) return value;
    if (one_in(2)) return number();
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(value) + below(9));
  }

 private:
  std::mt19937_64 random_;
};

void add_random_series(Dice& dice, const std::string& name, Run& a, Run& b) {
  std::vector<double> values(dice.below(12));
  for (double& value : values)
    value = dice.number();
  a.report("train", name, values);
  for (double& value : values)
    value = dice.like(value);
  values.resize(dice.one_in(3) ? dice.below(12) : values.size());
  b.report("train", name, values);
  for (auto* run : {&a, &b}) {
    for (auto& step : run->series.back().step) {
      if (dice.one_in(20)) step = static_cast<std::int64_t>(dice.below(6));
    }
  }
}

void add_random_output(Dice& dice, Run& a, Run& b) {
  std::vector<double> values(dice.below(6));
  for (double& value : values)
    value = dice.number();
  auto of_a = std::make_shared<Container>();
  auto of_b = std::make_shared<Container>();
  of_a->put("d", base::ArrayType::float64, {values.size()}, values);
  for (double& value : values)
    value = dice.like(value);
  of_b->put("d", base::ArrayType::float64, {values.size()}, values);
  if (dice.one_in(4)) of_b->put_text("only", {"x"});
  a.output("train", "x.h5", "aa", of_a);
  b.output("train", "x.h5", dice.one_in(3) ? "aa" : "bb", of_b);
}

void vary_facets(Dice& dice, Run& run) {
  if (dice.one_in(3)) run.facet("parameters")["threads"] = "2";
  if (dice.one_in(3)) run.facet("seed")["seed"] = "2";
  if (dice.one_in(4)) run.facet("host")["cpu.model"] = "K7";
  if (dice.one_in(6)) run.facet("data")["train"] = "other";
  if (dice.one_in(8)) run.record.state = spec::RunState::failed;
}

void mirror(std::optional<spec::Divergence>& divergence) {
  if (divergence) std::swap(divergence->a, divergence->b);
}

/// NaN is not equal to itself: values are compared as bits.
bool same(const std::optional<spec::Divergence>& x, const std::optional<spec::Divergence>& y) {
  if (!x || !y) return x.has_value() == y.has_value();
  const auto bits = [](double value) { return std::bit_cast<std::uint64_t>(value); };
  return x->where == y->where && x->position == y->position && bits(x->a) == bits(y->a) &&
         bits(x->b) == bits(y->b) && x->ulps == y->ulps && bits(x->relative) == bits(y->relative);
}

bool mirrored(const spec::ItemComparison& x, spec::ItemComparison y) {
  for (auto* d : {&y.first_bitwise,
                  &y.first_ulp,
                  &y.first_tolerance,
                  &y.growth[0],
                  &y.growth[1],
                  &y.growth[2]}) {
    mirror(*d);
  }
  bool firsts = same(x.first_bitwise, y.first_bitwise) && same(x.first_ulp, y.first_ulp) &&
                same(x.first_tolerance, y.first_tolerance);
  for (std::size_t i = 0; i < 3; ++i)
    firsts = firsts && same(x.growth[i], y.growth[i]);
  return firsts && x.name == y.name && x.compared == y.compared && x.missing == y.missing &&
         x.structure.empty() == y.structure.empty() && x.different == y.different &&
         x.beyond_tolerance == y.beyond_tolerance && x.nan_pairs == y.nan_pairs &&
         x.max_ulps == y.max_ulps && x.p999_ulps == y.p999_ulps &&
         x.max_relative == y.max_relative && x.max_absolute == y.max_absolute &&
         x.strongest == y.strongest && x.comes_back == y.comes_back && x.judged == y.judged;
}

bool mirrored(const std::vector<spec::ItemComparison>& x,
              const std::vector<spec::ItemComparison>& y) {
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const auto& a, const auto& b) {
    return mirrored(a, b);
  });
}

}  // namespace

TEST_CASE("symmetry: compare(b, a) says what compare(a, b) says, with the sides exchanged") {
  Dice dice(2024);
  compare::Rules rules = judging({"loss", "error"});
  rules.metrics[1].tolerance.absolute = 0.5;
  std::map<spec::Verdict, int> verdicts;
  for (int round = 0; round < 600; ++round) {
    Run a("toy-a");
    Run b("toy-b");
    add_random_series(dice, "loss", a, b);
    if (!dice.one_in(3)) add_random_series(dice, "error", a, b);
    if (!dice.one_in(3)) add_random_series(dice, "undeclared", a, b);
    if (!dice.one_in(3)) add_random_output(dice, a, b);
    vary_facets(dice, a);
    vary_facets(dice, b);
    const auto forth = compare_two(a, b, rules);
    auto back = compare_two(b, a, rules);
    ++verdicts[forth.result];
    INFO("round " << round << ": " << forth.reason << " / " << back.reason);
    CHECK(forth.a == back.b);
    CHECK(forth.repetition == back.repetition);
    CHECK(forth.required == back.required);
    CHECK(forth.required_from == back.required_from);
    CHECK(forth.result == back.result);
    CHECK(forth.strongest == back.strongest);
    CHECK(mirrored(forth.metrics, back.metrics));
    CHECK(mirrored(forth.outputs, back.outputs));
    mirror(back.first_divergence);
    CHECK(same(forth.first_divergence, back.first_divergence));
    CHECK(forth.first_divergence_in == back.first_divergence_in);
    REQUIRE(forth.differences.size() == back.differences.size());
    for (std::size_t i = 0; i < forth.differences.size(); ++i) {
      CHECK(forth.differences[i].item == back.differences[i].item);
      CHECK(forth.differences[i].a == back.differences[i].b);
    }
  }
  CHECK(verdicts.size() == 4);  // the data must reach every verdict, or this proves little
}

TEST_CASE("symmetry: a run compared with itself is equal to the bit") {
  Dice dice(7);
  for (int round = 0; round < 300; ++round) {
    Run a;
    Run unused;
    add_random_series(dice, "loss", a, unused);
    const auto comparison = compare_two(a, a, judging({"loss"}));
    CHECK(comparison.result != spec::Verdict::fail);
    if (!comparison.metrics.empty()) {
      CHECK(comparison.metrics.at(0).strongest == spec::Rung::bitwise);
    }
  }
}
