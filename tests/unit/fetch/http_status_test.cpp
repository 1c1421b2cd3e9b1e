#include "fetch/http/http_status.hpp"

#include <catch2/catch.hpp>

using sabath::fetch::Answer;
using sabath::fetch::status_failure;
using sabath::fetch::status_text;

TEST_CASE("status: common ones are named, others are numbers") {
  CHECK(status_text(404) == "404 Not Found");
  CHECK(status_text(599) == "599");
}

TEST_CASE("status: what passes may be tried again, what does not may not") {
  const auto [status, retryable] = GENERATE(table<int, bool>({{400, false},
                                                              {401, false},
                                                              {403, false},
                                                              {404, false},
                                                              {408, true},
                                                              {410, false},
                                                              {429, true},
                                                              {500, true},
                                                              {501, false},
                                                              {502, true},
                                                              {503, true},
                                                              {504, true}}));
  CAPTURE(status);
  const auto failure = status_failure({.status = status}, "");
  CHECK(failure.retryable == retryable);
  CHECK(failure.not_found == (status == 404 || status == 410));
  CHECK(failure.access_needed == (status == 401 || status == 403));
}

TEST_CASE("status: S3 says in the body that a 403 passes") {
  const std::string body =
      R"(<?xml version="1.0"?><Error><Code>RequestTimeTooSkewed</Code><Message>x</Message></Error>)";
  const auto failure = status_failure({.status = 403}, body);
  CHECK(failure.retryable);
  CHECK_FALSE(failure.access_needed);
  CHECK(failure.problem == "server answered 403 Forbidden (RequestTimeTooSkewed)");
  CHECK_FALSE(status_failure({.status = 403}, "<Code>AccessDenied</Code>").retryable);
}
