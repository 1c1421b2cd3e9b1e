#include "fetch/http/answer.hpp"

#include <catch2/catch.hpp>

using sabath::fetch::ContentRange;
using sabath::fetch::parse_content_range;

TEST_CASE("content range: the forms of RFC 9110 are read") {
  CHECK(parse_content_range("bytes 0-9/10") == ContentRange{.begin = 0, .end = 10, .total = 10});
  CHECK(parse_content_range("bytes 5-9/*") == ContentRange{.begin = 5, .end = 10});
  CHECK(parse_content_range("bytes */10") == ContentRange{.total = 10, .unsatisfied = true});
}

TEST_CASE("content range: an empty range at the end, as some servers send it, is read") {
  const auto range = parse_content_range("bytes 10-9/10");
  REQUIRE(range);
  CHECK(range->size() == 0);
  CHECK(range->begin == 10);
}

TEST_CASE("content range: what is malformed or contradicts itself is nothing") {
  const auto* const text = GENERATE("",
                                    "bytes",
                                    "bytes ",
                                    "bytes */",
                                    "bytes */*",
                                    "bytes 0-/10",
                                    "bytes -9/10",
                                    "bytes 0-9",
                                    "bytes 0-9/",
                                    "bytes 0-9/10 ",
                                    "bytes 0-10/10",
                                    "bytes 9-5/10",
                                    "items 0-9/10",
                                    "bytes 0-18446744073709551615/18446744073709551615",
                                    "bytes 0-99999999999999999999/*");
  CAPTURE(text);
  CHECK_FALSE(parse_content_range(text));
}
