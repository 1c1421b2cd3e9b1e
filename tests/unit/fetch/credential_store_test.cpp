#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/fetch/credential_store.hpp>

#include <catch2/catch.hpp>

#include <chrono>
#include <filesystem>
#include <stop_token>
#include <thread>

using namespace sabath;
using test::error_of;
namespace fs = std::filesystem;

namespace {

struct Store {
  base::SystemProcessRunner processes{};
  fetch::CredentialStore store;
  explicit Store(const std::string& secrets)
      : store(spec::parse_secrets(R"({"schema": 1, "credentials": [)" + secrets + "]}", "c.json"),
              processes) {}
};

std::string problem_of(const std::string& secret) {
  return error_of([&] { const Store store(secret); }).what();
}

}  // namespace

TEST_CASE("credentials: each host sees what is bound to it, and nothing else") {
  Store c(R"({"host": "data.example.org", "bearer": "token-1"},
             {"host": "*.example.org", "user": "me", "password": "pass-2"},
             {"host": "other.org:8443", "header": {"name": "X-Api-Key", "value": "key-3"}})");
  CHECK(c.store.for_host("https", "data.example.org").bearer == "token-1");
  CHECK(c.store.for_host("https", "DATA.example.ORG:444").bearer == "token-1");
  CHECK(c.store.for_host("https", "a.b.example.org").password == "pass-2");
  CHECK(c.store.for_host("https", "a.example.org").bearer.empty());
  CHECK(c.store.for_host("https", "example.org").password.empty());
  CHECK(c.store.for_host("https", "badexample.org").password.empty());
  CHECK(c.store.for_host("https", "data.example.org.evil.net").bearer.empty());
  CHECK(c.store.for_host("https", "other.org:8443").headers ==
        std::vector<std::string>{"X-Api-Key: key-3"});
  CHECK(c.store.for_host("https", "other.org").headers.empty());
}

TEST_CASE("credentials: nothing is sent where the way is not encrypted, but to this machine") {
  Store c(R"({"host": "data.example.org", "bearer": "t"}, {"host": "127.0.0.1", "bearer": "l"})");
  CHECK(c.store.for_host("http", "data.example.org").bearer.empty());
  CHECK(c.store.for_host("ftp", "data.example.org").bearer.empty());
  CHECK(c.store.for_host("http", "127.0.0.1:8080").bearer == "l");
  CHECK(c.store.for_host("https", "data.example.org").bearer == "t");
}

TEST_CASE("credentials: a command is run once, and one that gives no token is named") {
  const test::TempHome home;
  const std::string count = (home / "count").string();
  Store c(R"({"host": "a", "command": ["sh", "-c", "echo x >> )" + count +
          R"(; echo  the-token; echo more"]}, {"host": "b", "command": ["false"]},
             {"host": "c", "command": ["no-such-program"]})");
  CHECK(c.store.for_host("https", "a").bearer == "the-token");
  CHECK(c.store.for_host("https", "a").bearer == "the-token");
  CHECK(base::read_file(count) == "x\n");
  const auto failed = error_of([&] { c.store.for_host("https", "b"); });
  CHECK(failed.kind() == base::ErrorKind::access);
  CHECK_THAT(failed.what(), Catch::Contains("command 'false' gave no token: exited with status 1"));
  CHECK(error_of([&] { c.store.for_host("https", "c"); }).kind() == base::ErrorKind::access);
  CHECK(c.store.masked("got the-token!") == "got ***!");
}

TEST_CASE("credentials: a command that takes its time can be interrupted, and holds nobody up") {
  const test::TempHome home;
  const auto begun = home / "begun";
  base::SystemProcessRunner processes;
  std::stop_source source;
  fetch::CredentialStore store(
      spec::parse_secrets(R"({"schema": 1, "credentials": [{"host": "a", "command":
          ["sh", "-c", "touch )" +
                              begun.string() + R"(; exec sleep 60"]}]})",
                          "c.json"),
      processes,
      source.get_token());
  const auto start = std::chrono::steady_clock::now();
  const std::jthread user([&](const std::stop_token& ended) {
    while (!ended.stop_requested() && !fs::exists(begun))
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    store.masked("a text");  // of another transfer
    source.request_stop();
  });
  const auto error = error_of([&] { store.for_host("https", "a"); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("credentials: secrets are masked in texts") {
  Store c(R"({"host": "a", "bearer": "token-1"}, {"host": "b", "user": "u", "password": "pass-2"},
             {"host": "c", "header": {"name": "K", "value": "key-3"}},
             {"host": "d", "user": "u", "password": "abc"})");
  CHECK(c.store.masked("token-1 pass-2 key-3 token-1 abc") == "*** *** *** *** abc");
}

TEST_CASE("credentials: the file must be the user's own and closed to others") {
  const test::TempHome home;
  const auto path = home / "credentials.json";
  CHECK(fetch::load_secrets(path).empty());
  const std::string text = R"({"schema": 1, "credentials": [{"host": "a", "bearer": "token-1"}]})";
  base::write_file_atomically(path, text, base::Durability::ordered_only, 0600);
  CHECK(fetch::load_secrets(path).size() == 1);
  for (const auto extra : {fs::perms::group_read, fs::perms::others_read, fs::perms::group_write}) {
    fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write | extra);
    const auto error = error_of([&] { fetch::load_secrets(path); });
    CHECK(error.kind() == base::ErrorKind::access);
    CHECK(error.hint() == "chmod 600 " + path.string());
  }
}

TEST_CASE("credentials: mistakes are named without the secret") {
  CHECK_THAT(problem_of(R"({"host": "a"})"), Catch::Contains("wants exactly one of"));
  CHECK_THAT(problem_of(R"({"host": "a", "bearer": "x", "user": "u", "password": "p"})"),
             Catch::Contains("wants exactly one of"));
  CHECK_THAT(problem_of(R"({"host": "a", "user": "u"})"), Catch::Contains("go together"));
  CHECK_THAT(problem_of(R"({"host": "https://a", "bearer": "x"})"),
             Catch::Contains("'https://a' is not a host"));
  CHECK_THAT(problem_of(R"({"host": "a", "header": {"name": "a b", "value": "v"}})"),
             Catch::Contains("is not the name of a header"));
  const auto broken = problem_of(R"({"host": "a", "bearer": "s3cr3t\nX-Other: y"})");
  CHECK_THAT(broken, Catch::Contains("must not contain control characters"));
  CHECK_FALSE(test::contains(broken, "s3cr3t"));
}
