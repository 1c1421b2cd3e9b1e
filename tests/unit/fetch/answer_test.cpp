#include "fetch/http/answer.hpp"

#include <catch2/catch.hpp>

using namespace sabath::fetch;

namespace {

const Validators version{.etag = "\"a\"", .last_modified = "Fri, 20 Nov 2026 10:00:00 GMT"};
const Validators other_version{.etag = "\"b\"", .last_modified = "Fri, 20 Nov 2026 11:00:00 GMT"};

Asked whole(std::optional<std::uint64_t> size = {}) {
  return {.size_bytes = size};
}
Asked rest(std::uint64_t offset, std::optional<std::uint64_t> size = {}) {
  return {.offset_bytes = offset, .size_bytes = size, .validators = version};
}
Answer ok(std::optional<std::uint64_t> length) {
  return {.status = 200, .content_length = length, .validators = version};
}
Answer part(const std::string& range, const Validators& validators = version) {
  return {.status = 206, .range = parse_content_range(range), .validators = validators};
}

}  // namespace

TEST_CASE("answer: a whole file is taken from its start") {
  const auto judgement = judge(whole(100), ok(100));
  CHECK(judgement.step == Step::take);
  CHECK(judgement.begin_bytes == 0);
  CHECK(judgement.size_bytes == 100);
}

TEST_CASE("answer: a body without a length is taken, up to the size that the document says") {
  CHECK(judge(whole(), ok({})).step == Step::take);
  CHECK_FALSE(judge(whole(), ok({})).size_bytes);
  CHECK(judge(whole(100), ok({})).size_bytes == 100);
}

TEST_CASE("answer: another size than the document's is refused, and a web page is called one") {
  auto answer = ok(99);
  CHECK(judge(whole(100), answer).step == Step::refuse);
  CHECK_THAT(judge(whole(100), answer).failure.hint, Catch::Contains("document's size"));
  answer.content_type = "text/html; charset=utf-8";
  CHECK_THAT(judge(whole(100), answer).failure.hint, Catch::Contains("login"));
  CHECK(judge(rest(50, 100), part("bytes 50-98/99")).step == Step::refuse);
}

TEST_CASE("answer: a range that was asked for is taken where it belongs") {
  const auto judgement = judge(rest(50), part("bytes 50-99/100"));
  CHECK(judgement.step == Step::take);
  CHECK(judgement.begin_bytes == 50);
  CHECK(judgement.end_bytes == 100);
  CHECK(judgement.size_bytes == 100);
}

TEST_CASE("answer: a range that begins earlier is taken, its overlap is the writer's business") {
  const auto judgement = judge(rest(50), part("bytes 32-99/100"));
  CHECK(judgement.step == Step::take);
  CHECK(judgement.begin_bytes == 32);
}

TEST_CASE("answer: a 200 to a range means from the start") {
  const auto judgement = judge(rest(50), ok(100));
  CHECK(judgement.step == Step::take);
  CHECK(judgement.begin_bytes == 0);
}

TEST_CASE("answer: a 200 with a Content-Range is a range") {
  auto answer = part("bytes 50-99/100");
  answer.status = 200;
  CHECK(judge(rest(50), answer).begin_bytes == 50);
}

TEST_CASE("answer: a range of another version starts over, and so does one that proves nothing") {
  CHECK(judge(rest(50), part("bytes 50-99/100", other_version)).step == Step::start_over);
  CHECK(judge(rest(50), part("bytes 50-99/100", {})).step == Step::start_over);
  CHECK(judge(rest(50), {.status = 412}).step == Step::start_over);
}

TEST_CASE("answer: a date proves a version where the ETag is weak") {
  Asked asked = rest(50);
  asked.validators.etag = "W/\"a\"";
  CHECK(asked.validators.if_range() == version.last_modified);
  const Validators weak = asked.validators;
  CHECK(judge(asked, part("bytes 50-99/100", weak)).step == Step::take);
  CHECK(judge(asked, part("bytes 50-99/100", {.etag = "W/\"a\""})).step == Step::start_over);
  CHECK(judge(asked, part("bytes 50-99/100", {"W/\"b\"", weak.last_modified})).step ==
        Step::start_over);
}

TEST_CASE("answer: ranges that do not fit start over") {
  const auto* const range = GENERATE("bytes 60-99/100",  // begins later
                                     "bytes 10-19/100",  // ends earlier
                                     "bytes 50-99/*",    // of unknown size
                                     "bytes 40-39/100"   // empty, not at the end
  );
  CAPTURE(range);
  CHECK(judge(rest(50), part(range)).step == Step::start_over);
}

TEST_CASE("answer: a part where the whole was asked is refused, unless it begins at the start") {
  CHECK(judge(whole(), part("bytes 50-99/100")).step == Step::refuse);
  CHECK(judge(whole(), part("bytes 0-99/*")).step == Step::refuse);
  CHECK(judge(whole(), {.status = 206}).step == Step::refuse);
  CHECK(judge(whole(), part("bytes 0-49/100")).step == Step::take);
}

TEST_CASE("answer: a 206 without a usable Content-Range starts over") {
  CHECK(judge(rest(50), {.status = 206}).step == Step::start_over);
}

TEST_CASE(
    "answer: a length that contradicts the range makes ranges useless, and a plain answer too") {
  auto answer = part("bytes 50-99/100");
  answer.content_length = 51;
  CHECK(judge(rest(50), answer).step == Step::start_over);
  CHECK_FALSE(judge(rest(50), answer).changed);
  CHECK(judge({}, answer).step == Step::refuse);
}

TEST_CASE("answer: 416 is a complete file only if the total says so") {
  const auto unsatisfied = [](const std::string& range) {
    auto answer = part(range);
    answer.status = 416;
    return answer;
  };
  CHECK(judge(rest(50), unsatisfied("bytes */50")).step == Step::complete);
  CHECK(judge(rest(50, 100), unsatisfied("bytes */50")).step == Step::start_over);
  CHECK(judge(rest(50), unsatisfied("bytes */40")).step == Step::start_over);
  CHECK(judge(rest(50), {.status = 416}).step == Step::start_over);
  CHECK(judge(whole(), {.status = 416}).step == Step::failed);
}

TEST_CASE("answer: an empty range at the end is a complete file") {
  CHECK(judge(rest(100), part("bytes 100-99/100")).step == Step::complete);
}

TEST_CASE("answer: an encoded body is refused unless its size is the document's") {
  auto answer = ok(100);
  answer.content_encoding = "gzip";
  CHECK(judge(whole(), answer).step == Step::refuse);
  CHECK(judge(whole(200), answer).step == Step::refuse);
  CHECK(judge(whole(100), answer).step == Step::take);
  answer.content_length.reset();
  CHECK(judge(whole(100), answer).step == Step::refuse);
  answer = ok(100);
  answer.content_encoding = "identity";
  CHECK(judge(whole(), answer).step == Step::take);
}

TEST_CASE("answer: any other status has failed") {
  const auto status = GENERATE(100, 201, 204, 301, 304, 401, 404, 429, 500, 599);
  CHECK(judge(whole(), {.status = status}).step == Step::failed);
}
