#include "problem_text.hpp"

#include <sabath/spec/parameter.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>

using namespace sabath;
using spec::Parameter;
using spec::ParameterType;
using spec::ParameterValue;
using test::problem_of;

namespace {

Parameter epochs() {
  Parameter parameter;
  parameter.name = "epochs";
  parameter.type = ParameterType::integer;
  parameter.min = 1;
  parameter.max = 100;
  return parameter;
}

Parameter of_type(ParameterType type) {
  Parameter parameter;
  parameter.name = "it";
  parameter.type = type;
  return parameter;
}

}  // namespace

TEST_CASE("parameter: values are told in their shortest text") {
  CHECK(spec::to_string(ParameterValue(std::int64_t{5})) == "5");
  CHECK(spec::to_string(ParameterValue(5.0)) == "5");
  CHECK(spec::to_string(ParameterValue(0.003)) == "0.003");
  CHECK(spec::to_string(ParameterValue(true)) == "true");
  CHECK(spec::to_string(ParameterValue(std::string("ordered"))) == "ordered");
  CHECK(spec::to_string(ParameterValue(std::numeric_limits<std::int64_t>::min())) ==
        "-9223372036854775808");
}

TEST_CASE("parameter: the text of any real reads back to the same bits") {
  const Parameter rate = of_type(ParameterType::real);
  std::mt19937_64 engine(1);
  for (int i = 0; i < 2000; ++i) {
    const auto number = std::bit_cast<double>(engine());
    if (!std::isfinite(number)) continue;
    const auto again =
        std::get<double>(parse_parameter(rate, spec::to_string(ParameterValue(number))));
    REQUIRE(std::bit_cast<std::uint64_t>(again) == std::bit_cast<std::uint64_t>(number));
  }
}

TEST_CASE("parameter: text is read as the declared type") {
  CHECK(parse_parameter(epochs(), "7") == ParameterValue(std::int64_t{7}));
  CHECK(parse_parameter(of_type(ParameterType::real), "1e-3") == ParameterValue(0.001));
  CHECK(parse_parameter(of_type(ParameterType::boolean), "false") == ParameterValue(false));
  CHECK(parse_parameter(of_type(ParameterType::text), "") == ParameterValue(std::string()));
}

TEST_CASE("parameter: a value out of range names the bound and what is allowed") {
  const auto below = problem_of([] { parse_parameter(epochs(), "0"); });
  CHECK(below.kind == base::ErrorKind::usage);
  CHECK(below.text == "parameter 'epochs': 0 is below its minimum 1");
  CHECK(below.hint == "allowed: an integer from 1 to 100");
  const auto above = problem_of([] { parse_parameter(epochs(), "101"); });
  CHECK(above.text == "parameter 'epochs': 101 is above its maximum 100");
}

TEST_CASE("parameter: an integer beside a bound that doubles cannot tell apart is judged exactly") {
  Parameter parameter = of_type(ParameterType::integer);
  parameter.max = 0x1p53;
  CHECK_NOTHROW(parse_parameter(parameter, "9007199254740992"));
  CHECK(problem_of([&] {
          parse_parameter(parameter, "9007199254740993");
        }).says("above its maximum"));
}

TEST_CASE("parameter: text of another type is refused") {
  for (const char* text : {"five", "5.0", "", "5 ", "99999999999999999999"}) {
    CHECK(problem_of([&] { parse_parameter(epochs(), text); }).says("is not an integer from 1"));
  }
  for (const char* text : {"nan", "inf", "-inf", "1e999", "0.5x"}) {
    const Parameter real = of_type(ParameterType::real);
    CHECK(problem_of([&] { parse_parameter(real, text); }).kind == base::ErrorKind::usage);
  }
  const Parameter flag = of_type(ParameterType::boolean);
  CHECK(problem_of([&] { parse_parameter(flag, "yes"); }).says("'yes' is not true or false"));
}

TEST_CASE("parameter: none of the values suggests the nearest") {
  Parameter reduction = of_type(ParameterType::enumeration);
  reduction.values = {"ordered", "fast"};
  const auto problem = problem_of([&] { parse_parameter(reduction, "orderd"); });
  CHECK(problem.text == "parameter 'it': 'orderd' is not one of ordered, fast");
  CHECK(problem.hint == "did you mean 'ordered'?");
}

namespace {

Parameter list_of(ParameterType items) {
  Parameter parameter = of_type(ParameterType::list);
  parameter.items = items;
  return parameter;
}

}  // namespace

TEST_CASE("parameter: a list has items of one type, each within the limits") {
  Parameter widths = list_of(ParameterType::integer);
  widths.min = 1;
  const ParameterValue value = parse_parameter(widths, "64,64,32");
  CHECK(value == ParameterValue(
                     spec::ParameterList{{std::int64_t{64}, std::int64_t{64}, std::int64_t{32}}}));
  CHECK(spec::to_string(value) == "64,64,32");
  CHECK(spec::to_json(value).dump() == "[64,64,32]");
  CHECK(spec::to_string(parse_parameter(widths, "")).empty());
  CHECK(spec::to_json(parse_parameter(widths, "7")).dump() == "[7]");
  for (const char* wrong : {"1,", ",1", "1,,2", "1,x", "1 2", "1;2", ","}) {
    CAPTURE(wrong);
    CHECK(problem_of([&] { parse_parameter(widths, wrong); }).says("is not a list such as '1,2'"));
  }
  CHECK(problem_of([&] { parse_parameter(widths, "4,0"); }).says("0 is below its minimum 1"));
  CHECK(spec::to_json(parse_parameter(list_of(ParameterType::real), "0.5,1e3")).dump() ==
        "[0.5,1000.0]");
  CHECK(spec::to_json(parse_parameter(list_of(ParameterType::boolean), "true,false")).dump() ==
        "[true,false]");
  CHECK(spec::to_json(parse_parameter(list_of(ParameterType::text), "rnaseq,drug one")).dump() ==
        R"(["rnaseq","drug one"])");
  CHECK(problem_of([&] {
          parse_parameter(list_of(ParameterType::text), "a,,b");
        }).says("is empty or has a comma"));
}
