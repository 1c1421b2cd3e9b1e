// curl, wget and aria2c as they are, against servers that misbehave as scripted.

#include "conformance/tool_conformance.hpp"
#include "support/errors.hpp"
#include "support/servers/fault_server.hpp"
#include "support/servers/https_server.hpp"
#include "support/temp_home.hpp"
#include "support/variables.hpp"
#include "tool_case.hpp"

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

using namespace sabath;
using test::contains;
using test::FaultServer;
using test::Reply;

namespace {

template <class Name>
struct HttpHarness {
  static constexpr bool resumes = true;
  FaultServer server{};
  test::Tools tools{};

  fetch::Fetcher& fetcher() { return tools.get(Name::text); }
  std::string put(const std::string& name, const std::string& content) {
    server.put("/" + name, content);
    return server.url("/" + name);
  }
  std::string missing() { return server.url("/missing.bin"); }
};

struct Curl {
  static constexpr const char* text = "curl";
};
struct Wget {
  static constexpr const char* text = "wget";
};
struct Aria2 {
  static constexpr const char* text = "aria2c";
};

/// A fetch by a tool of a file with a secret bound to this server.
struct SecretCase {
  FaultServer server{};
  FaultServer other{};
  test::Tools tools{};
  test::LentFile to{};
  base::SilentObserver observer{};

  SecretCase() {
    spec::Secret secret;
    secret.host = server.url("").substr(7);
    secret.header = {"X-Api-Key", "s3cr3t-t0ken"};
    tools.keep({secret});
    server.put("/a", "content");
  }
  fetch::Outcome fetch(const std::string& tool, const std::string& url) {
    return tools.get(tool).fetch({url}, {}, to, observer, {});
  }
  static bool has_secret(const FaultServer& at) {
    for (const auto& request : at.requests()) {
      if (request.header("x-api-key") == "s3cr3t-t0ken") return true;
    }
    return false;
  }
};

/// Looks at every argument vector of the machine while it lives.
class EveryCommandLine {
 public:
  explicit EveryCommandLine(std::string secret) : secret_(std::move(secret)) {}
  bool saw_secret() const { return seen_; }
  bool saw(const std::string& program) const { return programs_.count(program) > 0; }
  void look() {
    std::error_code code;
    for (const auto& entry : std::filesystem::directory_iterator("/proc", code)) {
      std::ifstream file(entry.path() / "cmdline");
      std::string text(std::size_t{1} << 20U, '\0');
      file.read(text.data(),
                static_cast<std::streamsize>(text.size()));  // nothing of one that ends
      text.resize(static_cast<std::size_t>(file.gcount()));
      if (text.empty()) continue;
      programs_.insert(std::filesystem::path(text.c_str()).filename().string());
      if (contains(text, secret_)) seen_ = true;
    }
  }

 private:
  std::string secret_;
  std::set<std::string> programs_{};
  bool seen_ = false;
};

}  // namespace

TEST_CASE("tools: curl conforms") {
  conformance::check_tool<HttpHarness<Curl>>();
}

TEST_CASE("tools: wget conforms") {
  conformance::check_tool<HttpHarness<Wget>>();
}

TEST_CASE("tools: aria2c conforms") {
  conformance::check_tool<HttpHarness<Aria2>>();
}

TEST_CASE("tools: curl goes on without a digest, too, because If-Range proves the version") {
  conformance::ToolCase<HttpHarness<Curl>> c;
  const auto content = conformance::random_bytes(300'000);
  const auto url = c.harness.put("a.bin", content);
  REQUIRE(c.fetch(url).ok);
  c.to.cut(100'000);
  CHECK(c.fetch(url).transferred == 200'000);
  CHECK((c.to.text() == content));
  CHECK(c.harness.server.requests().back().header("if-range") != "");
  c.to.cut(100'000);
  std::filesystem::remove(c.to.lent.string() + ".headers");
  CHECK(c.fetch(url).transferred == 300'000);
}

TEST_CASE(
    "tools: answers that pass are tried again, a login is asked for, a compressed file refused") {
  conformance::ToolCase<HttpHarness<Curl>> c;
  const auto url = c.harness.put("a.bin", "content");
  c.harness.server.once("/a.bin", {.status = 503, .headers = {{"Retry-After", "7"}}});
  const auto busy = c.fetch(url);
  CHECK(busy.retryable);
  CHECK(busy.retry_after == std::chrono::seconds(7));
  CHECK(busy.problem == "server answered 503 Service Unavailable");
  c.harness.server.once("/a.bin", {.status = 401});
  CHECK(c.fetch(url).access_needed);
  c.harness.server.once("/a.bin", {.headers = {{"Content-Encoding", "gzip"}}, .body = "zipped"});
  CHECK_THAT(c.fetch(url).problem, Catch::Contains("compressed (gzip)"));
  CHECK(c.fetch(url).ok);
  CHECK(c.to.text() == "content");
}

TEST_CASE("tools: a server that falls silent is given up, and what came stays") {
  conformance::ToolCase<HttpHarness<Curl>> c;
  c.harness.tools.silence = std::chrono::seconds(1);
  const auto content = conformance::random_bytes(300'000);
  const auto url = c.harness.put("a.bin", content);
  Reply reply = c.harness.server.whole("/a.bin");
  reply.stall_after_bytes = 100'000;
  c.harness.server.once("/a.bin", reply);
  const auto outcome = c.fetch(url);
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.retryable);
  CHECK_THAT(outcome.problem, Catch::Contains("curl brought nothing for"));
  CHECK(c.fetch(url).ok);
  CHECK((c.to.text() == content));
}

TEST_CASE("tools: aria2c takes several mirrors of a file in one call") {
  FaultServer one;
  FaultServer two;
  const auto content = conformance::random_bytes(8'000'000);
  one.put("/a", content);
  two.put("/a", content);
  test::Tools tools;
  test::LentFile to;
  base::SilentObserver observer;
  fetch::Request request;
  request.digests = {base::sha256_of(content)};
  auto& aria2 = tools.get("aria2c");
  CHECK(aria2.takes_mirrors());
  const auto outcome = aria2.fetch({one.url("/a"), two.url("/a")}, request, to, observer, {});
  CHECK(outcome.ok);
  CHECK((to.text() == content));
  CHECK_FALSE(one.requests().empty());
  CHECK_FALSE(two.requests().empty());
}

TEST_CASE("tools: aria2c throws away what has the wrong digest") {
  conformance::ToolCase<HttpHarness<Aria2>> c;
  const auto url = c.harness.put("a.bin", "other bytes");
  c.request.digests = {base::sha256_of("the bytes")};
  const auto outcome = c.fetch(url);
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.retryable);
  CHECK_FALSE(std::filesystem::exists(c.to.lent));
}

TEST_CASE("tools: a program that is not here is an outcome with a hint") {
  test::Tools tools;
  tools.configuration.fetchers = {{"x", "x", {"no-such-program", "{url}", "{output}"}, ""}};
  test::LentFile to;
  base::SilentObserver observer;
  const auto outcome = tools.get("x").fetch({"x://host/f"}, {}, to, observer, {});
  CHECK_FALSE(outcome.ok);
  CHECK_FALSE(outcome.retryable);
  CHECK(outcome.problem == "program 'no-such-program' is not here");
  CHECK_THAT(outcome.hint, Catch::Contains("install"));
}

TEST_CASE("tools: a secret reaches its host and no other, whatever redirects") {
  SecretCase c;
  c.server.always("/r", {.status = 302, .headers = {{"Location", c.other.url("/b")}}});
  c.other.put("/b", "elsewhere");
  SECTION("curl") {
    CHECK(c.fetch("curl", c.server.url("/a")).ok);
    CHECK(SecretCase::has_secret(c.server));
    const auto outcome = c.fetch("curl", c.server.url("/r"));
    CHECK(outcome.problem == "");
    CHECK(outcome.ok);
    CHECK(c.to.text() == "elsewhere");
  }
  SECTION("wget does not follow") {
    CHECK(c.fetch("wget", c.server.url("/a")).ok);
    CHECK(SecretCase::has_secret(c.server));
    const auto outcome = c.fetch("wget", c.server.url("/r"));
    CHECK_FALSE(outcome.ok);
    CHECK_THAT(outcome.hint, Catch::Contains("take the secret along"));
  }
  SECTION("aria2c is not used") {
    const auto outcome = c.fetch("aria2c", c.server.url("/a"));
    CHECK_FALSE(outcome.ok);
    CHECK_THAT(outcome.problem, Catch::Contains("would send a secret on"));
    CHECK(c.server.requests().empty());
  }
  CHECK_FALSE(SecretCase::has_secret(c.other));
}

TEST_CASE("tools: no secret stands in any argument vector while a tool runs") {
  SecretCase c;
  const std::string tool = GENERATE("curl", "wget");
  const std::string target = "/a?signature=s3cr3t-t0ken";
  Reply slow = c.server.whole("/a");
  slow.stall_after_bytes = 3;
  c.server.always(target, slow);
  std::stop_source stop;
  std::jthread fetching([&] {
    try {
      c.tools.get(tool).fetch({c.server.url(target)}, {}, c.to, c.observer, stop.get_token());
    } catch (const base::Error&) {
      return;  // stopped
    }
  });
  EveryCommandLine seen("s3cr3t-t0ken");
  for (int i = 0; i < 200 && (c.server.requests().size() < 1 || i < 20); ++i) {
    seen.look();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  stop.request_stop();
  fetching.join();
  CHECK(seen.saw(tool));
  CHECK(SecretCase::has_secret(c.server));
  CHECK_FALSE(seen.saw_secret());
}

TEST_CASE("tools: what stands in the user's settings of a tool has no influence") {
  const test::TempHome home;
  const test::Variables variables({{"HOME", home.path().string()}, {"XDG_CONFIG_HOME", ""}});
  const auto write = [&](const std::string& name, const std::string& text) {
    base::make_directories((home / name).parent_path());
    base::write_file_atomically(home / name, text, base::Durability::ordered_only);
  };
  write(".curlrc", "header = \"X-Own: setting\"\nuser-agent = \"own\"\n");
  write(".wgetrc", "header = X-Own: setting\nuser_agent = own\n");
  write(".aria2/aria2.conf", "header=X-Own: setting\nuser-agent=own\n");
  FaultServer server;
  server.put("/a", "content");
  test::Tools tools;
  if (GENERATE(true, false)) {
    spec::Secret secret;
    secret.host = "elsewhere.example.org";
    secret.bearer = "t0ken";
    tools.keep({secret});
  }
  test::LentFile to;
  base::SilentObserver observer;
  const std::string tool = GENERATE("curl", "wget", "aria2c");
  const auto outcome = tools.get(tool).fetch({server.url("/a")}, {}, to, observer, {});
  CHECK(outcome.problem == "");
  REQUIRE_FALSE(server.requests().empty());
  for (const auto& request : server.requests()) {
    CHECK(request.header("x-own").empty());
    CHECK(request.header("user-agent") != "own");
  }
}

TEST_CASE("tools: what a tool says is masked") {
  SecretCase c;
  c.tools.configuration.fetchers = {
      {"x", "x", {"sh", "-c", "echo broken: s3cr3t-t0ken >&2; exit 1", "{url}", "{output}"}, ""}};
  const auto outcome = c.fetch("x", "x://host/f");
  CHECK(outcome.problem == "sh exited with status 1: broken: ***");
}
