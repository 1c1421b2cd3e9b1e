#include "conformance/fetcher_conformance.hpp"
#include "support/servers/ftp_server.hpp"
#include "support/servers/without_proxies.hpp"

#include <sabath/base/clock.hpp>

#include <catch2/catch.hpp>

#include <algorithm>

using namespace sabath;

namespace {

struct FtpHarness {
  static constexpr bool can_resume = true;
  static constexpr bool can_break = true;

  test::WithoutProxies proxies{};
  test::FtpServer server{};
  base::SystemClock clock{};
  std::vector<std::unique_ptr<fetch::Fetcher>> fetchers = fetch::builtin_fetchers({}, clock);

  fetch::Fetcher& fetcher() { return *fetchers[1]; }
  std::string put(const std::string& name, const std::string& content) {
    server.put(name == "100%25%20sure.bin" ? "/folder/100% sure.bin" : "/folder/" + name, content);
    return server.url("/folder/" + name);
  }
  std::string missing() const { return server.url("/folder/nothing"); }
  void cut_once(std::size_t bytes) { server.cut_once(bytes); }
  void fail_once() { server.refuse_once("450 Busy, try again"); }
};

}  // namespace

TEST_CASE("fetch: the ftp engine conforms") {
  conformance::check_fetcher<FtpHarness>();
}

TEST_CASE("ftp: a partial is continued by REST, after its version was asked for") {
  conformance::FetcherCase<FtpHarness> c;
  const auto url = c.harness.put("x", "0123456789");
  test::MemoryPartialFile first;
  c.fetch(url, first);
  test::MemoryPartialFile to = first.after(4);
  CHECK(c.fetch(url, to).ok);
  CHECK((to.content == "0123456789"));
  const auto commands = c.harness.server.commands();
  CHECK(std::count(commands.begin(), commands.end(), "REST 4") == 1);
  CHECK(std::count(commands.begin(), commands.end(), "MDTM x") == 2);
}

TEST_CASE("ftp: a folder is no file") {
  conformance::FetcherCase<FtpHarness> c;
  test::MemoryPartialFile to;
  const auto outcome = c.fetch(c.harness.server.url("/folder/"), to);
  CHECK(outcome.problem == "is a folder, not a file");
  CHECK(c.harness.server.commands().empty());
}

TEST_CASE("ftp: a name cannot smuggle a command") {
  conformance::FetcherCase<FtpHarness> c;
  test::MemoryPartialFile to;
  CHECK_FALSE(c.fetch(c.harness.server.url("/x%0d%0aDELE%20x"), to).ok);
  for (const auto& command : c.harness.server.commands())
    CHECK_FALSE(command.starts_with("DELE"));
}
