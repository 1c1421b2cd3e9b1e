// Fetchers that the user describes, the choice between fetchers, and globus-url-copy.

#include "conformance/tool_conformance.hpp"
#include "support/daemon.hpp"
#include "support/errors.hpp"
#include "support/servers/files_of_urls.hpp"
#include "support/servers/loopback.hpp"
#include "tool_case.hpp"

#include <unistd.h>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

/// "mine://anything/path": copied by cp from the folder of the test.
struct OwnHarness {
  static constexpr bool resumes = false;
  test::TempHome home{};
  test::Tools tools{};

  OwnHarness() {
    tools.configuration.fetchers = {
        {"mine", "own", {"cp", "--", home.path().string() + "{path}", "{output}"}, ""}};
  }
  fetch::Fetcher& fetcher() { return tools.get("own"); }
  std::string put(const std::string& name, const std::string& content) const {
    test::put_file(home.path(), name, content);
    return "mine://host/" + name;
  }
  static std::string missing() { return "mine://host/missing"; }
};

/// A server for anonymous users, as an ordinary user.
class GridftpServer {
 public:
  GridftpServer() : port_(test::unused_port()) {
    fs::create_directory(folder());
    fs::permissions(home_.path(), fs::perms::all);
    std::vector<std::string> argv{"globus-gridftp-server",
                                  "-no-inetd",
                                  "-aa",
                                  "-anonymous-user",
                                  "nobody",
                                  "-data-interface",
                                  "127.0.0.1",
                                  "-control-interface",
                                  "127.0.0.1",
                                  "-p",
                                  std::to_string(port_),
                                  "-log-level",
                                  "ERROR"};
    if (::geteuid() == 0) {
      argv.insert(argv.begin(), {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"});
    } else {
      argv[4] = "";
      argv.erase(argv.begin() + 3, argv.begin() + 5);
    }
    daemon_ = std::make_unique<test::Daemon>(argv, port_);
  }
  fs::path folder() const { return home_ / "files"; }
  std::string url(const std::string& name) const {
    return "ftp://127.0.0.1:" + std::to_string(port_) + (folder() / name).string();
  }

 private:
  test::TempHome home_{};
  std::uint16_t port_;
  std::unique_ptr<test::Daemon> daemon_{};
};

struct GridftpHarness {
  static constexpr bool resumes = false;
  GridftpServer server{};
  test::Tools tools{};

  fetch::Fetcher& fetcher() { return tools.get("globus-url-copy"); }
  std::string put(const std::string& name, const std::string& content) const {
    test::put_file(server.folder(), name, content);
    return server.url(name);
  }
  std::string missing() const { return server.url("missing.bin"); }
};

}  // namespace

TEST_CASE("tools: a fetcher of the user's own conforms") {
  conformance::check_tool<OwnHarness>();
}

TEST_CASE("tools: globus-url-copy conforms") {
  conformance::check_tool<GridftpHarness>();
}

TEST_CASE("tools: a fetcher of the user's own gets what its placeholders say, and no password") {
  test::Tools tools;
  tools.configuration.fetchers = {{"mine",
                                   "own",
                                   {"sh",
                                    "-c",
                                    R"(printf '%s|' "$@" > "$1")",
                                    "sh",
                                    "{output}",
                                    "{url}",
                                    "{host}",
                                    "{user}",
                                    "{{{path}}}"},
                                   ""}};
  test::LentFile to;
  base::SilentObserver observer;
  const std::string url = "mine://me:secret@data.example.org:77/a%20b?q=1";
  CHECK(tools.get("own").fetch({url}, {}, to, observer, {}).ok);
  CHECK(to.text() ==
        to.lent.string() + "|mine://data.example.org:77/a%20b?q=1|data.example.org:77|me|{/a b}|");
}

TEST_CASE("tools: a program that is too old is named after a failure that nothing explains") {
  test::Tools tools;
  spec::ToolDescription tool;
  tool.name = "ours";
  tool.protocols = {"ours"};
  tool.command = {spec::ToolWords{.texts = {"sh", "-c", "exit 3"}}};
  tool.version = {{"echo", "ours 8.4p1"}, "ours ([0-9.]+)", "8.10"};
  const auto hint = [&] {
    test::LentFile to;
    base::SilentObserver observer;
    auto list = fetch::tool_fetchers({.processes = tools.processes,
                                      .credentials = *tools.credentials,
                                      .configuration = tools.configuration,
                                      .documents = {tool}},
                                     tools.clock);
    return list.back()->fetch({"ours://h/f"}, {}, to, observer, {}).hint;
  };
  tools.keep({});
  CHECK(hint() == "ours 8.4 is too old: 8.10 or newer is needed");
  tool.version.least = "8.4";
  CHECK(hint().empty());
}

TEST_CASE("tools: progress is read from what a tool writes, where its pattern is known") {
  test::Tools tools;
  tools.configuration.fetchers = {
      {"mine",
       "own",
       {"sh",
        "-c",
        R"(printf '10%%\r'; sleep 0.4; printf '50%%\r'; sleep 0.4; printf 1234 > "$1")",
        "sh",
        "{output}",
        "{url}"},
       "([0-9]+)%"}};
  test::LentFile to;
  test::RecordingObserver observer;
  fetch::Request request;
  request.size_bytes = 4;
  CHECK(tools.get("own").fetch({"mine://h/f"}, request, to, observer, {}).ok);
  const auto& seen = observer.progresses;
  CHECK(std::any_of(seen.begin(), seen.end(), [](const auto& each) { return each.done == 2; }));
}

TEST_CASE("tools: a full disk is an error of storage, whoever notices it") {
  test::Tools tools;
  tools.configuration.fetchers = {
      {"mine",
       "own",
       {"sh", "-c", "cp {output} /dev/full || cat /etc/passwd > /dev/full", "{url}"},
       ""}};
  test::LentFile to;
  base::SilentObserver observer;
  const auto error =
      test::error_of([&] { tools.get("own").fetch({"mine://h/f"}, {}, to, observer, {}); });
  CHECK(error.kind() == base::ErrorKind::storage);
}

TEST_CASE("tools: preferred fetchers come first for their schemes, and a forced one alone") {
  test::Tools tools;
  tools.get("wget");
  auto& list = tools.list;
  const auto first_for = [&](const std::string& scheme) {
    return std::string(fetch::fetchers_for(list, scheme + "://host/file").front()->name());
  };
  SECTION("preferred") {
    fetch::choose_fetchers(list, {{"http", "wget"}, {"https", "wget"}, {"ftp", "aria2c"}});
    CHECK(first_for("http") == "wget");
    CHECK(first_for("https") == "wget");
    CHECK(first_for("ftp") == "aria2c");
    CHECK(first_for("scp") == "scp");
  }
  SECTION("forced") {
    fetch::choose_fetchers(list, {{"http", "wget"}}, "curl");
    CHECK(list.size() == 1);
    CHECK(first_for("http") == "curl");
  }
  SECTION("unknown") {
    const auto unknown = test::error_of([&] { fetch::choose_fetchers(list, {}, "wgett"); });
    CHECK(unknown.kind() == base::ErrorKind::usage);
    CHECK_THAT(unknown.hint(), Catch::Contains("wget"));
    const auto other = test::error_of([&] { fetch::choose_fetchers(list, {{"s3", "wget"}}); });
    CHECK_THAT(other.what(), Catch::Contains("fetcher 'wget' does not take 's3'"));
  }
}
