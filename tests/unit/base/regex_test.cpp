#include "support/errors.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/text/regex.hpp>

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

TEST_CASE("form: the whole text has it, or none of it") {
  const sabath::base::Form version("3(\\.[0-9]+){0,2}");
  for (const char* good : {"3", "3.11", "3.11.2"})
    CHECK(version.matches(good));
  for (const char* bad : {"", "3.", "3.11\n", " 3", "3.11.2.1"})
    CHECK_FALSE(version.matches(bad));
  const sabath::base::Form either("a|b");  // and not "a" at the beginning or "b" at the end
  CHECK_FALSE(either.matches("ax"));
  CHECK_FALSE(either.matches("xb"));
  const auto parts = sabath::base::Form("([a-z]+)(:[0-9]+)?(/.*)?").parts("host/x");
  REQUIRE(parts);
  CHECK(*parts == std::vector<std::string>{"host/x", "host", "", "/x"});
}

TEST_CASE("form: a text of a million letters is judged, and nothing overflows") {
  const std::string text(1'000'000, 'a');
  CHECK(sabath::base::Form("[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?").matches(text));
  CHECK_FALSE(sabath::base::Form("(a|aa)+b").matches(text));
}
