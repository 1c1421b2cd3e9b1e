#include "full_values.hpp"

#include <sabath/base/text/json_reader.hpp>
#include <sabath/spec/comparison.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <limits>

using namespace sabath;

TEST_CASE("comparison: verdicts and repetitions have their words") {
  CHECK(to_string(spec::Verdict::pass) == "PASS");
  CHECK(to_string(spec::Verdict::fail) == "FAIL");
  CHECK(to_string(spec::Verdict::inconclusive) == "INCONCLUSIVE");
  CHECK(to_string(spec::Verdict::not_comparable) == "NOT-COMPARABLE");
  CHECK(to_string(spec::Repetition::reproduce) == "reproduce");
}

TEST_CASE("comparison: the document says what was found") {
  const auto json = to_json(test::full_comparison());
  CHECK(json["schema"] == 1);
  CHECK(json["result"] == "PASS");
  CHECK(json["strongest"] == "tolerance");
  CHECK(json["metrics"][0]["first_beyond_1e-4"]["position"] == 12);
  CHECK(json["metrics"][0]["tolerance"]["ulp"] == 4);
}

TEST_CASE("comparison: what is absent has no key, what is not finite has a word") {
  spec::Comparison comparison;
  comparison.metrics.emplace_back();
  comparison.metrics[0].max_relative = std::numeric_limits<double>::infinity();
  comparison.metrics[0].max_absolute = std::numeric_limits<double>::quiet_NaN();
  const auto json = to_json(comparison);
  CHECK_FALSE(json.contains("strongest"));
  CHECK_FALSE(json.contains("first_divergence"));
  CHECK_FALSE(json["metrics"][0].contains("first_bitwise"));
  CHECK(json["metrics"][0]["max_relative"] == "Infinity");
  CHECK(json["metrics"][0]["max_absolute"] == "NaN");
}
