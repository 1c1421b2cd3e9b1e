#include "serve/site.hpp"

#include "support/fake_clock.hpp"
#include "support/temp_home.hpp"
#include "unit/serve/small_source.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath;
using namespace std::chrono_literals;
using Catch::Matchers::Contains;
using serve::RequestHead;
using serve::Response;

namespace {

struct SmallSite {
  test::FakeClock clock{};
  test::TempHome home{};
  test::SmallSource source{};
  serve::ServerOptions options{};
  std::optional<serve::Site> made{};

  serve::Site& site() {
    if (!made) {
      source.file = home / "out.html";
      base::write_file_atomically(source.file, "<script>alert(1)</script>");
      options.style = "body {}";
      made.emplace(options, std::string(64, 'a'), source, clock);
    }
    return *made;
  }
  RequestHead request(const std::string& target) {
    return {"GET", target, {{"Host", "localhost:80"}}};
  }
  Response get(const std::string& target) {
    RequestHead head = request(target);
    head.fields.emplace_back("Authorization", "Bearer " + std::string(64, 'a'));
    return site().handle(head);
  }
};

std::string field(const Response& response, const std::string& name) {
  for (const auto& [key, value] : response.fields) {
    if (key == name) return value;
  }
  return {};
}

}  // namespace

TEST_CASE("site: data needs the token, the empty page and its files do not") {
  SmallSite small;
  CHECK(small.site().handle(small.request("/api/value")).status == 401);
  CHECK(small.get("/api/value").body == "1");
  const Response shell = small.site().handle(small.request("/"));
  CHECK(shell.status == 200);
  CHECK_THAT(shell.body, Contains("main.js") && !Contains("{web}"));
  const std::size_t at = shell.body.find("web/");
  const std::string folder = shell.body.substr(at, shell.body.find('/', at + 4) - at);
  CHECK(small.site().handle(small.request("/" + folder + "/report.css")).body == "body {}");
  const auto styles = small.site().handle(small.request("/" + folder + "/styles.css"));
  CHECK_THAT(styles.body, Catch::Matchers::StartsWith("body {}\n.uplot") && Contains(".skip"));
  const Response script = small.site().handle(small.request("/" + folder + "/pages/run.js"));
  CHECK(script.type == "text/javascript; charset=utf-8");
  CHECK_THAT(field(script, "Cache-Control"), Contains("immutable"));
  CHECK(small.site().handle(small.request("/web/0000000000000000/main.js")).status == 404);
  CHECK(small.site().handle(small.request("/" + folder + "/secret")).status == 404);
  CHECK(small.get("/favicon.ico").status == 404);
}

TEST_CASE("site: every answer has the strict policy, and no cookie") {
  SmallSite small;
  for (const char* target : {"/", "/api/value", "/api/missing", "/nothing", "/d/x"}) {
    CAPTURE(target);
    const Response response = small.get(target);
    CHECK_THAT(field(response, "Content-Security-Policy"),
               Contains("default-src 'none'") && Contains("frame-ancestors 'none'") &&
                   Contains("require-trusted-types-for 'script'") && !Contains("unsafe"));
    CHECK(field(response, "X-Content-Type-Options") == "nosniff");
    CHECK(field(response, "Referrer-Policy") == "no-referrer");
    CHECK(field(response, "Cache-Control") == "no-store");
    CHECK(field(response, "Set-Cookie").empty());
    CHECK(field(response, "Access-Control-Allow-Origin").empty());
  }
}

TEST_CASE("site: errors say what is wrong, as JSON with a status") {
  SmallSite small;
  const Response wrong = small.get("/api/wrong");
  CHECK(wrong.status == 400);
  CHECK(nlohmann::json::parse(wrong.body)["error"]["hint"] == "say it right");
  CHECK(small.get("/api/missing").status == 404);
  CHECK(small.get("/api/broken").status == 500);
  CHECK(small.get("/api/").status == 400);
  CHECK(small.get("/api/value?a=%zz").status == 400);
  CHECK(small.get("/api/value?a=%00").status == 400);
  CHECK(small.get("/api/value?a=1&a=2").status == 400);
  CHECK(small.get("/api/value?a=" + std::string(5000, 'x')).status == 400);
}

TEST_CASE("site: who has the newest version gets no text again") {
  SmallSite small;
  const auto first = nlohmann::json::parse(small.get("/api/value?since=0").body);
  CHECK(first["data"] == 1);
  const std::string since = std::to_string(first["version"].get<int>());
  CHECK_FALSE(nlohmann::json::parse(small.get("/api/value?since=" + since).body).contains("data"));
  small.source.value = "2";
  small.clock.move(2s);
  CHECK(nlohmann::json::parse(small.get("/api/value?since=" + since).body)["data"] == 2);
  CHECK(small.source.asked == 2);
  CHECK(small.get("/api/part?from=7").body == "\"7\"");
}

TEST_CASE("site: an output is a download by a ticket, once and for a minute") {
  SmallSite small;
  const auto ticket = [&] {
    return nlohmann::json::parse(small.get("/api/ticket?path=out.html").body)["path"]
        .get<std::string>();
  };
  const std::string path = "/" + ticket();
  CHECK(path.size() == 3 + 32);
  const Response response = small.site().handle(small.request(path));
  CHECK(response.status == 200);
  CHECK(response.type == "application/octet-stream");
  CHECK_THAT(field(response, "Content-Disposition"),
             Contains("attachment; filename=\"a__b__.html\"") && !Contains("\n"));
  CHECK_THAT(field(response, "Content-Security-Policy"), Contains("sandbox"));
  CHECK(small.site().handle(small.request(path)).status == 404);
  const std::string late = "/" + ticket();
  small.clock.move(61s);
  CHECK(small.site().handle(small.request(late)).status == 404);
  CHECK(small.get("/api/ticket?path=other").status == 404);
  CHECK(small.site().handle(small.request("/api/ticket?path=out.html")).status == 401);
  for (int i = 0; i < 64; ++i)
    ticket();
  CHECK(small.get("/api/ticket?path=out.html").status == 503);
}

TEST_CASE("site: a code gives the token once") {
  SmallSite small;
  const auto begin = [&](const std::string& code) {
    RequestHead head = small.request("/api/session");
    head.fields.emplace_back("Authorization", "Code " + code);
    return small.site().handle(head);
  };
  const std::string code = small.site().make_code();
  CHECK(begin("x").status == 401);
  CHECK(nlohmann::json::parse(begin(code).body)["token"] == std::string(64, 'a'));
  CHECK(begin(code).status == 401);
  const std::string late = small.site().make_code();
  small.clock.move(61s);
  CHECK(begin(late).status == 401);
  CHECK(small.get("/api/session").status == 401);
}

TEST_CASE("site: behind a portal paths may have its prefix or not") {
  SmallSite small;
  small.options.base_path = "/portal/x";
  small.options.host_names = {"portal.example"};
  small.options.frame_ancestors = "https://portal.example";
  CHECK(small.get("/portal/x/api/value").body == "1");
  CHECK(small.get("/api/value").body == "1");
  CHECK(small.get("/portal/xy/api/value").status == 404);
  CHECK(small.get("/portal/x").status == 308);
  CHECK(field(small.get("/portal/x"), "Location") == "/portal/x/");
  RequestHead head = small.request("/");
  head.fields = {{"Host", "portal.example"}, {"Origin", "https://portal.example"}};
  const Response response = small.site().handle(head);
  CHECK(response.status == 200);
  CHECK_THAT(field(response, "Content-Security-Policy"),
             Contains("frame-ancestors https://portal.example;"));
}

TEST_CASE("site: queries are read strictly") {
  const auto query = serve::parse_query("run/a-1/log?stage=train&from=3&x=a+b%2Fc");
  REQUIRE(query);
  CHECK(query->words == std::vector<std::string>{"run", "a-1", "log"});
  CHECK(query->parameter("x") == "a b/c");
  CHECK(query->parameter("none").empty());
  for (const char* text : {"", "/", "run/", "run//x", "?a=b", "run?a=%", "run?a=%1", "run?a=%g1"}) {
    CAPTURE(text);
    CHECK_FALSE(serve::parse_query(text));
  }
}
