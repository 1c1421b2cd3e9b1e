#include <sabath/base/text/codes.hpp>
#include <sabath/base/text/numbers.hpp>
#include <sabath/base/text/pieces.hpp>

#include <catch2/catch.hpp>

#include <cstdint>

using namespace sabath::base;
using Texts = std::vector<std::string>;

TEST_CASE("pieces: a text falls into parts and lines") {
  CHECK(split("::a::b:", ':') == Texts{"a", "b"});
  CHECK(split("", ':').empty());
  CHECK(text_lines("a\n\nb") == Texts{"a", "", "b"});
  CHECK(trimmed(" \t a b \r\n") == "a b");
  CHECK(trimmed(" \n ").empty());
  CHECK(trimmed("xxaxx", "x") == "a");
  CHECK(lower_case("A-Z \xC3\x84") == "a-z \xC3\x84");
  CHECK(joined(Texts{"a", "", "b"}, ", ") == "a, , b");
  CHECK(joined(Texts{}, ", ").empty());
  CHECK(joined(std::vector<int>{1, 2}, "+", [](int i) { return std::to_string(i); }) == "1+2");
}

TEST_CASE("pieces: codes of URLs and of bytes") {
  CHECK(percent_encoded("a b/\xC3\xA4~", "/") == "a%20b/%C3%A4%7E");
  CHECK(percent_decoded("a%20b%2Fc%") == "a b/c%");
  CHECK(percent_decoded("%4%zz") == "%4%zz");
  for (const auto& [bytes, code] : {std::pair{"", ""},
                                    std::pair{"f", "Zg=="},
                                    std::pair{"fo", "Zm8="},
                                    std::pair{"foobar", "Zm9vYmFy"}})  // RFC 4648, section 10
    CHECK(base64(bytes) == code);
}

TEST_CASE("pieces: only a whole text is a number") {
  CHECK(number_in<int>("-12") == -12);
  for (const char* text : {"", "+1", "1 ", " 1", "1x", "0x1", "99999999999"})
    CHECK_FALSE(number_in<int>(text));
  CHECK_FALSE(number_in<unsigned>("-1"));
  CHECK(number_in<std::uint64_t>("18446744073709551615") == UINT64_MAX);
  CHECK(number_in<double>("1e-3") == 0.001);
  CHECK(leading_number<int>("12 apples") == 12);
  CHECK_FALSE(leading_number<int>("apples"));
}
