#include <sabath/base/text/exact_number.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdlib>
#include <limits>
#include <random>

using namespace sabath;
using base::exact_decimal;
using base::ExactNumber;

namespace {

std::optional<ExactNumber> read(const std::string& text) {
  return exact_decimal(text, std::strtod(text.c_str(), nullptr));
}

std::string again(const std::string& text) {
  const auto number = read(text);
  return number ? base::text_of(*number) : "(nothing)";
}

}  // namespace

TEST_CASE("exact number: a whole number keeps all digits") {
  CHECK(read("9007199254740993") == ExactNumber{9007199254740992.0, 1});
  CHECK(read("-9007199254740993") == ExactNumber{-9007199254740992.0, -1});
  for (const char* text : {"0",
                           "9007199254740991",
                           "9007199254740993",
                           "1839201938472018101",
                           "-1839201938472018102",
                           "9223372036854775807",
                           "-9223372036854775808",
                           "18446744073709551615",
                           "340282366920938463463374607431"}) {
    CHECK(again(text) == text);
  }
  CHECK(base::exact_number(std::numeric_limits<std::int64_t>::max()) ==
        read("9223372036854775807"));
  CHECK(base::exact_number(std::numeric_limits<std::int64_t>::min()) ==
        read("-9223372036854775808"));
  CHECK(base::exact_number(std::numeric_limits<std::uint64_t>::max()) ==
        read("18446744073709551615"));
}

TEST_CASE("exact number: a point or an exponent makes a whole number no other one") {
  for (const char* text : {"9007199254740993.0",
                           "9007199254740993.",
                           "9007199254740993e0",
                           "9.007199254740993E+15",
                           "90071992547409930e-1",
                           "+009007199254740993.00"}) {
    CHECK(read(text) == ExactNumber{9007199254740992.0, 1});
  }
}

TEST_CASE("exact number: what does not write all digits of a whole number is its double") {
  for (const char* text : {"1e23", "1.152921504606847e+18", "9007199254740993.5", "0.1", "1e300"})
    CHECK(read(text) == ExactNumber{std::strtod(text, nullptr)});
  CHECK(read("inf")->rest == 0);
  CHECK(std::isnan(read("nan")->value));
  CHECK(base::text_of({0.1}) == "0.1");
}

TEST_CASE("exact number: more digits than two doubles hold are none") {
  CHECK_FALSE(read("123456789012345678901234567890123456789012345678901"));
  // Doubles that are printed with all of their digits are doubles.
  CHECK(read("1267650600228229401496703205376") == ExactNumber{std::ldexp(1.0, 100)});
}

TEST_CASE("exact number: every 64-bit integer comes back") {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t whole = random() >> (random() % 64);
    const auto number = base::exact_number(whole);
    REQUIRE(base::text_of(number) == std::to_string(whole));
    REQUIRE(read(std::to_string(whole)) == number);
    const auto signed_whole = static_cast<std::int64_t>(whole);
    REQUIRE(base::text_of(base::exact_number(signed_whole)) == std::to_string(signed_whole));
  }
}
