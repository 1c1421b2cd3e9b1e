#include "random_fields.hpp"
#include "spec/recipes/study_json.hpp"
#include "support/errors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/study.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
using Catch::Contains;
using Seeds = std::vector<std::uint64_t>;

namespace {

std::string refusal(const std::string& text) {
  return test::error_of([&] { spec::parse_seeds(text); }).what();
}

}  // namespace

TEST_CASE("seeds: one, a range, a list, and ranges in a list") {
  CHECK(spec::parse_seeds("7") == Seeds{7});
  CHECK(spec::parse_seeds("1..3") == Seeds{1, 2, 3});
  CHECK(spec::parse_seeds("5,1") == Seeds{5, 1});
  CHECK(spec::parse_seeds("5,1..2") == Seeds{5, 1, 2});
  CHECK(spec::parse_seeds("18446744073709551614..18446744073709551615") ==
        Seeds{18446744073709551614U, 18446744073709551615U});
  CHECK(spec::parse_seeds("1..100000").size() == 100'000);
}

TEST_CASE("seeds: what cannot be meant is refused with the reason") {
  for (const char* text : {"", "a", "1,", ",1", "1..", "..1", "-1", "1.5", "1...3", "1 ..2"})
    CHECK_THAT(refusal(text), Contains("is not a range of seeds"));
  CHECK_THAT(refusal("5..1"), Contains("counts down; write 1..5"));
  CHECK_THAT(refusal("1..3,2"), Contains("2 stands in it twice"));
  CHECK_THAT(refusal("1..100001"), Contains("at most 100000 runs"));
  CHECK_THAT(refusal("0..18446744073709551615"), Contains("at most 100000 runs"));
  CHECK_THAT(refusal("1..60000,60001..120000"), Contains("at most 100000 runs"));
}

TEST_CASE("study: plans come back from JSON as they were") {
  for (unsigned seed = 0; seed < 100; ++seed) {
    const auto plan = test::RandomFields(seed).value<spec::StudyPlan>();
    const std::string text = base::pretty_json(spec::to_json(plan));
    INFO(text);
    CHECK(spec::parse_study_plan(text, "random") == plan);
  }
}
