#include <sabath/collect/number_text.hpp>

#include <catch2/catch.hpp>

#include <cmath>
#include <string>

using namespace sabath::collect;

namespace {

std::optional<double> number_with_unit(std::string_view text) {
  const auto number = exact_number_of(text, Suffix::unit);
  return number ? std::optional(number->value) : std::nullopt;
}

}  // namespace

TEST_CASE("collect: numbers as programs print them") {
  CHECK(number_of(" 0.1\t") == 0.1);
  CHECK(number_of("+1e-3") == 1e-3);
  CHECK(number_of("-0x1.8p3") == -12.0);
  CHECK(number_of("-inf") == -INFINITY);
  CHECK(std::isnan(*number_of("NaN")));
  CHECK(std::signbit(*number_of("-0.0")));
  CHECK(number_of("4.9e-324") == 4.9e-324);
  CHECK(number_of("0e-999") == 0.0);
  CHECK(number_of("0x0p-9999") == 0.0);
  CHECK(number_of("1.0D-05") == 1e-5);
  CHECK(number_of("-2d3") == -2000.0);
  CHECK(number_of("1e3d4") == std::nullopt);
  CHECK(number_of("1.0D999") == std::nullopt);
  for (const char* text : {"",
                           " ",
                           "-",
                           "+-1",
                           "--1",
                           "1,5",
                           "1.5.2",
                           "1e999",
                           "-1e999",
                           "1e-400",
                           "-1e-999",
                           "7e-330",
                           "1.0D-400",
                           "0x1p-1080",
                           "0x",
                           "0x1p99999",
                           "1 2",
                           "abc",
                           "1_000"}) {
    INFO(text);
    CHECK_FALSE(number_of(text));
  }
}

TEST_CASE("collect: a unit may stand behind a number where that is asked for") {
  CHECK(number_with_unit("12.5s") == 12.5);
  CHECK(number_with_unit("93 %") == 93.0);
  CHECK(number_with_unit("3 \xc2\xb5s") == 3.0);
  CHECK_FALSE(number_of("12.5s"));
  CHECK_FALSE(number_with_unit("1,5"));
  CHECK_FALSE(number_with_unit("1e999s"));
  CHECK_FALSE(number_with_unit("12m30s"));
  CHECK(number_with_unit("3 m/s2") == 3.0);
  CHECK(number_with_unit("3 m-1") == 3.0);
  CHECK_FALSE(number_with_unit("5ms-10ms"));
  CHECK_FALSE(number_with_unit("5ms-10"));
}

TEST_CASE("collect: why a text is not a number") {
  CHECK(number_problem("1").empty());
  CHECK(number_problem("abc") == "is not a number");
  CHECK(number_problem("1e-400") == "is too small");
  CHECK(number_problem("-1D-400") == "is too small");
  CHECK(number_problem("1e400") == "is too large");
  CHECK(number_problem("0x1p99999") == "is too large");
  CHECK(number_problem(std::string(60, '7')) == "has more digits than can be kept");
}

TEST_CASE("collect: where a number ends is one question") {
  CHECK(number_with_unit("1d3 s") == 1000.0);
  CHECK(number_with_unit("1d3") == 1000.0);
  CHECK(number_with_unit("1.5d3s") == 1500.0);
  CHECK_FALSE(number_with_unit("1d12h"));
  CHECK_FALSE(number_with_unit("1d12:30:00"));
  CHECK(number_size("-1.0D-05ms") == 8);
  CHECK(number_size("1d3 s") == 3);
  CHECK(number_size("1d12h") == 1);
  CHECK(number_size("0x1.8p3 ms") == 7);
  CHECK(number_size("inf") == 3);
  CHECK(number_size("--1") == 0);
  CHECK(number_size("s") == 0);
}

TEST_CASE("collect: whole numbers") {
  CHECK(whole_number_of("+12") == 12);
  CHECK(whole_number_of("-9223372036854775808") == INT64_MIN);
  CHECK(whole_number_of("3.0") == 3);
  CHECK(whole_number_of("-3e2") == -300);
  CHECK(whole_number_of("1.5e1") == 15);
  CHECK(whole_number_of("300e-2") == 3);
  CHECK(whole_number_of("0.0e9") == 0);
  CHECK(whole_number_of("1d3") == 1000);
  CHECK(whole_number_of("0x10") == 16);
  CHECK(whole_number_of("9007199254740993.0") == 9007199254740993);
  CHECK(whole_number_of("-9223372036854775808.0") == INT64_MIN);
  for (const char* text : {"",
                           "3.5",
                           "nan",
                           "inf",
                           "1e30",
                           "9223372036854775808",
                           "9223372036854775808.0",
                           "2.99999999999999999999",
                           "1e-400",
                           "+-1",
                           "0x"}) {
    INFO(text);
    CHECK_FALSE(whole_number_of(text));
  }
  for (const char* text : {"3.5", "1e30", "1e999", "1e-400", "9223372036854775808", "1,000", "1/2"})
    CHECK(is_not_whole(text));
  for (const char* text : {"", "3", "3.0", "nan", "inf", "abc"})
    CHECK_FALSE(is_not_whole(text));
}

TEST_CASE("collect: times are seconds, or a date and a time") {
  CHECK(seconds_of("12.5") == 12.5);
  CHECK(seconds_of("1970-01-02T00:00:01Z") == 86401.0);
  CHECK(seconds_of("1970-01-02 00:00:01,250") == 86401.25);
  CHECK(seconds_of("1970-01-01T01:00:00.5+01:00") == 0.5);
  CHECK(seconds_of("1970-01-01T00:00:00-0130") == 5400.0);
  for (const char* text : {"1970-13-01 00:00:00",
                           "1970-02-30 00:00:00",
                           "1970-01-01 24:00:00",
                           "1970-01-01",
                           "1970-01-01 00:00:00 PST",
                           "1970-01-01T00:00:00+1",
                           "12:30:00",
                           ""}) {
    INFO(text);
    CHECK_FALSE(seconds_of(text));
  }
}
