#include "compare/statistics/rounding.hpp"
#include "pair_maker.hpp"

#include <sabath/compare/array_trees.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <random>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using Catch::Matchers::Contains;
using spec::Rung;
using spec::Verdict;

namespace {

constexpr std::size_t length = 40'000;

std::vector<double> counted() {
  std::vector<double> values(length);
  for (std::size_t i = 0; i < length; ++i)
    values[i] = 1 + static_cast<double>(i) / 7;
  return values;
}

std::shared_ptr<Container> with(const std::vector<double>& values) {
  auto made = std::make_shared<Container>();
  made->put("d", ArrayType::float64, {values.size() / 100, 100}, values);
  made->put_text("names", {"a", "b"});
  return made;
}

spec::OutputTrees trees_of(const std::shared_ptr<Container>& content,
                           const spec::Tolerance& tolerance = {}) {
  MemorySource source(content);
  return compare::make_trees(source, tolerance);
}

/// A run whose output's values are gone, or there, and have trees.
Run with_trees(const std::string& digest,
               const std::shared_ptr<Container>& content,
               const spec::Tolerance& tolerance,
               bool gone) {
  Run run;
  run.output("train", "x.h5", digest, gone ? nullptr : content);
  run.outputs["train/x.h5"].trees = [content, tolerance] { return trees_of(content, tolerance); };
  return run;
}

compare::Options requiring(Rung rung) {
  compare::Options options;
  options.require = rung;
  return options;
}

spec::Comparison compare_gone(const std::vector<double>& a,
                              const std::vector<double>& b,
                              const compare::Options& options = requiring(Rung::tolerance),
                              bool b_is_gone = true) {
  return compare_two(
      with_trees("aa", with(a), {}, true), with_trees("bb", with(b), {}, b_is_gone), {}, options);
}

}  // namespace

TEST_CASE("trees: equal values have equal trees, and one that differs is in one chunk") {
  auto values = counted();
  const auto a = trees_of(with(values));
  CHECK(a == trees_of(with(values)));
  CHECK(a.arrays.at(0).chunk == 8192);
  CHECK(a.arrays.at(0).chunks.size() == 5);
  CHECK(a.arrays.at(1).chunks.size() == 1);
  values[20'000] = std::nextafter(values[20'000], 0);
  const auto b = trees_of(with(values));
  CHECK(a.arrays[0].root != b.arrays[0].root);
  for (std::size_t i = 0; i < 5; ++i)
    CHECK((a.arrays[0].chunks[i].exact != b.arrays[0].chunks[i].exact) == (i == 2));
}

TEST_CASE("trees: an array has at most 4096 chunks") {
  auto content = std::make_shared<Container>();
  content->put("d", ArrayType::uint8, {64 << 20}, std::vector<std::uint8_t>(64 << 20));
  const auto trees = trees_of(content);
  CHECK(trees.arrays.at(0).chunk == 16'384);
  CHECK(trees.arrays.at(0).chunks.size() == 4096);
  CHECK(content->largest_read_bytes <= std::uint64_t{1} << 20U);
}

TEST_CASE("trees: the text of trees reads back to the same") {
  auto values = counted();
  values[3] = std::numeric_limits<double>::quiet_NaN();
  const auto trees = trees_of(with(values));
  CHECK(trees.arrays[0].chunks[0].nans == 1);
  CHECK(spec::parse_output_trees(spec::text_of(trees), "t.json") == trees);
  CHECK_THROWS(spec::parse_output_trees(R"({"schema":1,"arrays":[{}]})", "t.json"));
}

TEST_CASE("trees: values that are gone are equal to the bit, or it is told where they are not") {
  auto values = counted();
  const auto equal = compare_gone(values, values);
  CHECK(equal.strongest == Rung::bitwise);
  CHECK(equal.result == Verdict::pass);
  values[20'000] *= 1.5;
  const auto differing = compare_gone(counted(), values);
  CHECK(
      differing.outputs.at(0).structure ==
      "1 of 5 chunks differ, the first of them [163, 84] to [245, 75] (by digests: the values are "
      "gone)");
  CHECK_FALSE(differing.strongest);
  CHECK(differing.result == Verdict::inconclusive);
  CHECK_THAT(differing.reason, Contains("only digests are left"));
  CHECK(differing.outputs.at(0).undecided);
  CHECK_FALSE(equal.outputs.at(0).undecided);
  CHECK(compare_gone(counted(), values, requiring(Rung::bitwise)).result == Verdict::fail);
}

TEST_CASE(
    "trees: values within the tolerance that it was rounded to hold it, but no ULP is known") {
  auto values = counted();
  values[20'000] = std::nextafter(values[20'000], 1e9);
  const auto near = compare_gone(counted(), values);
  CHECK(near.strongest == Rung::tolerance);
  CHECK(near.result == Verdict::pass);
  CHECK_THAT(near.outputs.at(0).structure, Contains("the tolerance holds"));
  CHECK(compare_gone(counted(), values, requiring(Rung::ulp)).result == Verdict::inconclusive);
  auto tighter = requiring(Rung::tolerance);
  tighter.tolerance.relative = 1e-12;
  CHECK(compare_gone(counted(), values, tighter).result == Verdict::inconclusive);
}

TEST_CASE("trees: of values that only one side has left trees are made") {
  auto values = counted();
  CHECK(compare_gone(values, values, requiring(Rung::bitwise), false).strongest == Rung::bitwise);
  values[0] = 77;
  const auto one = compare_gone(counted(), values, requiring(Rung::bitwise), false);
  CHECK(one.result == Verdict::fail);
  CHECK_THAT(one.reason, Contains("[0, 0] to [81, 91]"));
}

TEST_CASE("trees: values that are gone and were nothing but NaN agree in nothing") {
  const std::vector<double> nans(counted().size(), std::numeric_limits<double>::quiet_NaN());
  const auto gone = compare_gone(nans, nans);
  CHECK(gone.result == Verdict::inconclusive);
  CHECK(gone.reason == "train/x.h5:/d is NaN in every value");
  const Run one = with_trees("aa", with(nans), {}, true);
  CHECK(compare_two(one, one, {}).reason == "train/x.h5:/d is NaN in every value");
  auto values = nans;
  values.back() = 1;
  CHECK(compare_gone(values, values).result == Verdict::pass);
}

TEST_CASE("trees: arrays that only one side has, or that are of another shape, are told as ever") {
  auto a = with(counted());
  auto b = with(counted());
  a->put<double>("more", ArrayType::float64, {1}, {1});
  b->put<float>("d", ArrayType::float32, {4}, {1, 2, 3, 4});
  const auto comparison =
      compare_two(with_trees("aa", a, {}, true), with_trees("bb", b, {}, true), {});
  CHECK(comparison.outputs.at(0).structure == "float64 in A, float32 in B");
  CHECK(comparison.outputs.at(1).structure == "only in A");
  CHECK(comparison.result == Verdict::fail);
}

TEST_CASE("trees: chunks that are known to be equal are not read") {
  auto values = counted();
  values[10] = std::numeric_limits<double>::quiet_NaN();
  const auto a = with(values);
  values[20'000] *= 1.5;
  const auto b = with(values);
  const Run of_a = with_trees("aa", a, {}, false);
  const Run of_b = with_trees("bb", b, {}, false);
  const auto all = compare_two(
      Run().output("train", "x.h5", "aa", a), Run().output("train", "x.h5", "bb", b), {});
  std::uint64_t made_by_trees = 0;
  {
    const auto before = a->bytes_read;
    trees_of(a);
    made_by_trees = a->bytes_read - before;
  }
  const auto before = a->bytes_read;
  const auto some = compare_two(of_a, of_b, {});
  CHECK(a->bytes_read - before - made_by_trees == 8192 * sizeof(double));
  CHECK(some.outputs == all.outputs);
  CHECK(some.outputs.at(0).nan_pairs == 1);
}

TEST_CASE("trees: numbers of one cell are always within the tolerance") {
  std::mt19937_64 random(7);
  const auto some = [&] {
    const double mantissa = std::uniform_real_distribution<>(-4, 4)(random);
    return std::ldexp(mantissa, std::uniform_int_distribution<>(-60, 60)(random));
  };
  for (const auto& [absolute, relative] : std::vector<std::pair<double, double>>{
           {0, 1e-7}, {1e-3, 0}, {1e-9, 1e-5}, {5, 0.3}, {0, 0.9}, {1e-300, 0}}) {
    const compare::Rounding rounding({absolute, relative, 4});
    std::uint64_t together = 0;
    for (int i = 0; i < 200'000; ++i) {
      const double a = some();
      const double step = std::uniform_real_distribution<>(-2, 2)(random);
      const double b = a + step * (absolute + relative * std::abs(a));
      if (rounding.cell(a) != rounding.cell(b)) continue;
      ++together;
      const double allowed = absolute + relative * std::max(std::abs(a), std::abs(b));
      if (std::abs(a - b) > allowed) FAIL(a << " and " << b);
    }
    if (absolute > 1e-200 || relative > 0) CHECK(together > 10'000);
  }
}

TEST_CASE("trees: zeros, infinities and NaN") {
  const compare::Rounding rounding({0.5, 0, 4});
  constexpr double endless = std::numeric_limits<double>::infinity();
  CHECK(rounding.cell(0.0) == rounding.cell(-0.0));
  CHECK(rounding.cell(endless) == rounding.cell(endless));
  CHECK(rounding.cell(endless) != rounding.cell(-endless));
  CHECK(rounding.cell(NAN) == rounding.cell(-NAN));
  CHECK(rounding.cell(NAN) != rounding.cell(endless));
  CHECK_FALSE(rounding.is_exact());
  CHECK(compare::Rounding({0, 0, 0}).is_exact());
}
