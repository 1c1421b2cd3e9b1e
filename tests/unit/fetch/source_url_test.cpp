#include "fetch/source_url.hpp"

#include <catch2/catch.hpp>

using sabath::fetch::displayed_url;
using sabath::fetch::Failure;
using sabath::fetch::parse_source_url;
using sabath::fetch::scheme_of;
using sabath::fetch::SourceUrl;

namespace {

std::string problem_of(const std::string& url) {
  const auto parsed = parse_source_url(url);
  const auto* failure = std::get_if<Failure>(&parsed);
  return failure == nullptr ? "" : failure->problem;
}

}  // namespace

TEST_CASE("source url: user, password and signature are never displayed") {
  const std::string url = "https://me:secret@example.org:8443/a%20b?X-Signature=secret#secret";
  CHECK(displayed_url(url) == "https://example.org:8443/a%20b");
  const auto parsed = parse_source_url(url);
  REQUIRE(std::holds_alternative<SourceUrl>(parsed));
  const auto& source = std::get<SourceUrl>(parsed);
  CHECK(source.displayed == "https://example.org:8443/a%20b");
  CHECK(source.plain == "https://example.org:8443/a%20b?X-Signature=secret#secret");
  CHECK(source.path == "/a b");
}

TEST_CASE("source url: a malformed one shows no password either") {
  CHECK(displayed_url("https://me:secret@host:port/x") == "https:...");
  CHECK(displayed_url("me:secret@") == "me:...");
  CHECK(displayed_url("no url?at=all") == "no url");
}

TEST_CASE("source url: a host may not look like an option") {
  CHECK_THAT(problem_of("https://-oProxyCommand=x/file"), Catch::Contains("malformed URL"));
  CHECK_THAT(problem_of("http://-h/file"), Catch::Contains("may not begin with '-'"));
}

TEST_CASE("source url: control characters are refused") {
  CHECK_THAT(problem_of("http://host/a\r\nb"), Catch::Contains("malformed URL"));
}

TEST_CASE("source url: the scheme is known without reading the rest") {
  CHECK(scheme_of("HTTPS://host/x") == "https");
  CHECK(scheme_of("doi:10.5281/zenodo.1") == "doi");
  CHECK(scheme_of("/a/path").empty());
  CHECK(scheme_of("1http://x").empty());
  CHECK(scheme_of("").empty());
}

TEST_CASE("source url: a public host cannot send to this machine or to a private network") {
  const auto problem = [](const std::string& url, const std::string& location) {
    const auto from = parse_source_url(url);
    const auto next = sabath::fetch::redirected(std::get<SourceUrl>(from), location);
    const auto* failure = std::get_if<Failure>(&next);
    return failure == nullptr ? "" : failure->problem;
  };
  for (const char* place : {"http://127.0.0.1/x",
                            "https://localhost:8443/x",
                            "http://[::1]/x",
                            "//10.0.0.7/x",
                            "http://192.168.1.1/",
                            "http://2130706433/x",
                            "http://169.254.169.254/latest",
                            "file:///etc/passwd"}) {
    CAPTURE(place);
    CHECK_THAT(problem("https://example.org/a", place), Catch::Contains("private address"));
  }
  CHECK(problem("https://example.org/a", "/b").empty());
  CHECK(problem("https://example.org/a", "https://other.org/b").empty());
  CHECK(problem("http://127.0.0.1:8000/a", "http://localhost:8001/b").empty());
}
