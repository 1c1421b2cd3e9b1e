#include <sabath/base/text/value_order.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <random>

using namespace sabath;
using Values = std::vector<std::string>;

TEST_CASE("value order: numbers by value, then text, then what is empty") {
  const Values sorted{"-inf",
                      "-2",
                      "-0",
                      "0",
                      "3e-04",
                      "0.001",
                      "0.003",
                      "1",
                      "1.0",
                      "8",
                      "32",
                      "1e3",
                      "adam",
                      "nan",
                      "sgd",
                      "v10",
                      ""};
  Values values = sorted;
  std::mt19937 random(1);
  for (int round = 0; round < 100; ++round) {
    std::shuffle(values.begin(), values.end(), random);
    std::sort(values.begin(), values.end(), base::value_before);
    REQUIRE(values == sorted);
  }
}

TEST_CASE("value order: of several values the first that differs decides") {
  const base::ValuesOrder before;
  CHECK(before({"0", "32"}, {"0.25", "8"}));
  CHECK(before({"0", "8"}, {"0", "32"}));
  CHECK_FALSE(before({"0", "8"}, {"0", "8"}));
}

TEST_CASE("value order: whole numbers that one double is nearest to are in order") {
  CHECK(base::value_before("9007199254740992.0", "9007199254740993"));
  CHECK_FALSE(base::value_before("9007199254740993", "9007199254740992.0"));
  CHECK(base::value_before("-9007199254740993", "-9007199254740992"));
  CHECK_FALSE(base::value_before("-9007199254740992", "-9007199254740993"));
}
