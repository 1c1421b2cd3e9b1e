#include "support/errors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/regex.hpp>

#include <catch2/catch.hpp>

using Catch::Contains;
using sabath::base::Regex;

TEST_CASE("regex: a pattern that is none says where and why") {
  CHECK_THAT(Regex::problem_of("loss (\\d+").value_or(""),
             Contains("at position 9") && Contains("parenthesis"));
  CHECK(Regex::problem_of("[z-a]"));
  CHECK(Regex::problem_of("(?<1>x)"));
  CHECK_FALSE(Regex::problem_of("loss (\\d+)"));
  CHECK_THROWS_AS(Regex("("), sabath::base::Error);
}

TEST_CASE("regex: groups by number and name") {
  Regex regex("(?<a>x)|(?<b>y)|(?<a>z)(?<c>)");
  CHECK(regex.group_count() == 4);
  CHECK(regex.groups_named("a") == std::vector<int>{1, 3});
  CHECK(regex.groups_named("none").empty());
  REQUIRE(regex.search("..z") == Regex::Outcome::found);
  CHECK(regex.group(0) == "z");
  CHECK_FALSE(regex.group(1));
  CHECK(regex.group(3) == "z");
  CHECK(regex.group(4) == "");
  CHECK_FALSE(regex.group(99));
  CHECK(regex.search("abc") == Regex::Outcome::none);
  CHECK(regex.search("xx", 1) == Regex::Outcome::found);
  CHECK(regex.search("", 0) == Regex::Outcome::none);
}

TEST_CASE("regex: a search that takes too many steps is given up") {
  Regex regex("(?:a+)+b");
  CHECK(regex.search(std::string(100, 'a') + "!b") == Regex::Outcome::too_hard);
  CHECK(regex.search("aab") == Regex::Outcome::found);
}

TEST_CASE("regex: characters beyond ASCII, in text of any bytes") {
  Regex regex("(.)\xc3\xb6");
  CHECK(regex.search("\xff\xfe g\xc3\xb6") == Regex::Outcome::found);
  CHECK(regex.group(1) == "g");
  CHECK(Regex("a.b").search(std::string_view("a\0b", 3)) == Regex::Outcome::found);
}
