// Where there is nothing to compare, nothing agrees.
#include "compare/nothing_held.hpp"

#include "pair_maker.hpp"

#include <sabath/compare/array_trees.hpp>
#include <sabath/compare/compare_runs.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using namespace sabath::test;
using base::ArrayType;
using Catch::Contains;
using spec::Verdict;

namespace {

std::shared_ptr<Container> holding(const std::vector<double>& values) {
  auto made = std::make_shared<Container>();
  made->put("x", ArrayType::float64, {values.size()}, values);
  return made;
}

spec::Comparison of_outputs(const std::string& digest_of_b,
                            const std::shared_ptr<Container>& made) {
  return compare_two(Run().output("train", "x.csv", "aa", made),
                     Run().output("train", "x.csv", digest_of_b, made),
                     {});
}

spec::Verdict of_files(const std::shared_ptr<Container>& made) {
  MemorySource a(made);
  MemorySource b(made);
  return compare::compare_files(a, b, {}, {}).result;
}

}  // namespace

TEST_CASE(
    "nothing: arrays without elements are INCONCLUSIVE, whether their bytes are equal or not") {
  for (const char* digest : {"aa", "bb"}) {
    const auto found = of_outputs(digest, holding({}));
    CHECK(found.result == Verdict::inconclusive);
    CHECK_THAT(found.reason, Contains("train/x.csv holds no value on either side"));
    CHECK(of_outputs(digest, holding({1})).result == Verdict::pass);
  }
  CHECK(of_files(holding({})) == Verdict::inconclusive);
  CHECK(of_files(holding({1})) == Verdict::pass);
}

TEST_CASE("nothing: one array with a value is enough, and attributes of an empty one are not") {
  auto made = holding({});
  made->put<double>("x@scale", ArrayType::float64, {1}, {2}, true);
  CHECK(of_files(made) == Verdict::inconclusive);
  made->put<double>("y", ArrayType::float64, {}, {1});
  CHECK(of_files(made) == Verdict::pass);
  auto attributes = std::make_shared<Container>();
  attributes->put<double>("@score", ArrayType::float64, {1}, {2}, true);
  CHECK(of_files(attributes) == Verdict::pass);
  CHECK(of_files(std::make_shared<Container>()) == Verdict::inconclusive);
}

TEST_CASE("nothing: where only one side is empty they differ") {
  const auto found = compare_two(Run().output("train", "x.csv", "aa", holding({})),
                                 Run().output("train", "x.csv", "bb", holding({1})),
                                 {});
  CHECK(found.result == Verdict::fail);
}

TEST_CASE("nothing: empty files of no format, and what says of itself that it is empty") {
  const auto with = [](std::uint64_t size, std::function<bool()> holds_nothing) {
    Run run;
    run.output("train", "x.bin", "aa");
    run.outputs["train/x.bin"].size_bytes = size;
    run.outputs["train/x.bin"].holds_nothing = std::move(holds_nothing);
    return compare_two(run, run, {}).result;
  };
  CHECK(with(0, {}) == Verdict::inconclusive);
  CHECK(with(10, {}) == Verdict::pass);
  CHECK(with(10, [] { return true; }) == Verdict::inconclusive);
  CHECK(with(10, [] { return false; }) == Verdict::pass);
}

TEST_CASE("nothing: trees of digests without a value tell nothing either") {
  const auto trees_of = [](const std::shared_ptr<Container>& made) {
    MemorySource source(made);
    return compare::make_trees(source, {});
  };
  const auto of_trees = [&](const spec::OutputTrees& a, const spec::OutputTrees& b) {
    Run one;
    Run other;
    one.output("train", "x.h5", "aa");
    other.output("train", "x.h5", "bb");
    one.outputs["train/x.h5"].trees = [&] { return std::optional(a); };
    other.outputs["train/x.h5"].trees = [&] { return std::optional(b); };
    return compare_two(one, other, {});
  };
  const auto empty = trees_of(holding({}));
  const auto full = trees_of(holding({1}));
  CHECK(of_trees(empty, empty).result == Verdict::inconclusive);
  CHECK(of_trees(full, full).result == Verdict::pass);
  // Trees that an earlier sabath made lack what readers add today.
  auto typed = full;
  typed.arrays.push_back(full.arrays.front());
  typed.arrays.back().path = "x@(type)";
  typed.arrays.back().is_attribute = true;
  const auto found = of_trees(full, typed);
  CHECK(found.result == Verdict::inconclusive);
  CHECK_THAT(found.reason, Contains("an earlier sabath did not look at it"));
}

TEST_CASE("nothing: what readers add is known by its brackets") {
  CHECK(compare::is_added_by_reader("x@(type)"));
  CHECK(compare::is_added_by_reader("(graph)"));
  CHECK(compare::is_added_by_reader("@(dimensions)"));
  CHECK_FALSE(compare::is_added_by_reader("pressure (Pa)"));
  CHECK_FALSE(compare::is_added_by_reader("x"));
}
