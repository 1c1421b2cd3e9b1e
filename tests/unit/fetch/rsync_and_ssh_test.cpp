// The real rsync, scp and sftp, against an rsync daemon and an sshd of the test's own.

#include "conformance/tool_conformance.hpp"
#include "support/daemon.hpp"
#include "support/errors.hpp"
#include "support/servers/files_of_urls.hpp"
#include "support/servers/loopback.hpp"
#include "support/servers/ssh_server.hpp"
#include "tool_case.hpp"

#include <fmt/format.h>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

class RsyncDaemon {
 public:
  RsyncDaemon() : port_(test::unused_port()) {
    fs::create_directory(folder());
    const auto configuration = home_ / "rsyncd.conf";
    base::write_file_atomically(
        configuration,
        fmt::format("use chroot = no\n[data]\npath = {}\nread only = yes\n", folder().string()),
        base::Durability::ordered_only);
    daemon_ = std::make_unique<test::Daemon>(
        std::vector<std::string>{"rsync",
                                 "--daemon",
                                 "--no-detach",
                                 "--address=127.0.0.1",
                                 "--port=" + std::to_string(port_),
                                 "--config=" + configuration.string()},
        port_);
  }
  fs::path folder() const { return home_ / "files"; }
  std::string url(const std::string& path) const {
    return fmt::format("rsync://127.0.0.1:{}/data/{}", port_, path);
  }

 private:
  test::TempHome home_{};
  std::uint16_t port_;
  std::unique_ptr<test::Daemon> daemon_{};
};

struct RsyncHarness {
  static constexpr bool resumes = true;
  RsyncDaemon daemon{};
  test::Tools tools{};

  fetch::Fetcher& fetcher() { return tools.get("rsync"); }
  std::string put(const std::string& name, const std::string& content) const {
    test::put_file(daemon.folder(), name, content);
    return daemon.url(name);
  }
  std::string missing() const { return daemon.url("missing.bin"); }
};

template <class Name>
struct SshHarness {
  static constexpr bool resumes = Name::resumes;
  test::SshServer server{};
  test::Tools tools{};

  SshHarness() { tools.configuration.ssh_config = server.client_configuration(); }
  fetch::Fetcher& fetcher() { return tools.get(Name::tool); }
  std::string url(const std::string& name) const {
    return fmt::format("{}://{}@127.0.0.1:{}{}/{}",
                       Name::scheme,
                       server.user(),
                       server.port(),
                       server.folder().string(),
                       name);
  }
  std::string put(const std::string& name, const std::string& content) const {
    test::put_file(server.folder(), name, content);
    return url(name);
  }
  std::string missing() const { return url("missing.bin"); }
};

struct Scp {
  static constexpr bool resumes = false;
  static constexpr const char* tool = "scp";
  static constexpr const char* scheme = "scp";
};
struct Sftp {
  static constexpr bool resumes = true;
  static constexpr const char* tool = "sftp";
  static constexpr const char* scheme = "sftp";
};
struct RsyncOverSsh {
  static constexpr bool resumes = true;
  static constexpr const char* tool = "rsync";
  static constexpr const char* scheme = "rsync+ssh";
};

template <class Harness>
void check_trees() {
  Harness harness;
  base::SilentObserver observer;
  harness.put("tree/b.txt", "bb");
  harness.put("tree/a/one%20two.txt", "aaaa");
  const std::string last = harness.put("tree/c.txt", "c");
  const std::string url = last.substr(0, last.size() - std::string("c.txt").size());
  auto& rsync = harness.fetcher();
  CHECK(rsync.names_many(url));
  CHECK_FALSE(rsync.names_many(last));

  const auto files = rsync.list(url, std::nullopt, observer, {});
  REQUIRE(files.size() == 3);
  CHECK(files[0].path == "a/one two.txt");
  CHECK(files[0].size_bytes == 4U);
  CHECK(files[2].url == last);
  CHECK(rsync.list(url, 2, observer, {}).size() == 2);
  test::LentFile to;
  CHECK(rsync.fetch({files[0].url}, {}, to, observer, {}).ok);
  CHECK(to.text() == "aaaa");

  const test::TempHome folder;
  test::put_file(folder.path(), "left-over", "of another version");
  test::put_file(folder.path(), "b.txt", "xx");
  const auto outcome = rsync.fetch_tree(url, folder.path(), observer, {});
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(outcome.bytes == 7);
  CHECK(base::read_file(folder / "a/one two.txt") == "aaaa");
  CHECK(base::read_file(folder / "b.txt") == "bb");
  CHECK_FALSE(fs::exists(folder / "left-over"));
}

}  // namespace

TEST_CASE("tools: rsync conforms, from a daemon") {
  conformance::check_tool<RsyncHarness>();
}

TEST_CASE("tools: rsync conforms, over ssh") {
  conformance::check_tool<SshHarness<RsyncOverSsh>>();
}

TEST_CASE("tools: scp conforms") {
  conformance::check_tool<SshHarness<Scp>>();
}

TEST_CASE("tools: sftp conforms") {
  conformance::check_tool<SshHarness<Sftp>>();
}

TEST_CASE("tools: rsync lists and brings trees, from a daemon and over ssh") {
  SECTION("daemon") {
    check_trees<RsyncHarness>();
  }
  SECTION("ssh") {
    check_trees<SshHarness<RsyncOverSsh>>();
  }
}

TEST_CASE("tools: rsync never mixes versions, also without a digest") {
  conformance::ToolCase<RsyncHarness> c;
  const auto url = c.harness.put("a.bin", conformance::random_bytes(300'000));
  REQUIRE(c.fetch(url).ok);
  const auto changed = conformance::random_bytes(300'000, 2);
  c.harness.put("a.bin", changed);
  std::error_code code;
  fs::last_write_time(c.to.lent, fs::last_write_time(c.harness.daemon.folder() / "a.bin"), code);
  CHECK(c.fetch(url).ok);  // of the same size and date as what is there
  CHECK((c.to.text() == changed));
}

TEST_CASE("tools: an rsync daemon without the module, or that is not there") {
  conformance::ToolCase<RsyncHarness> c;
  const std::string url = c.harness.daemon.url("x");
  const auto unknown = c.fetch(url.substr(0, url.find("/data/")) + "/other/x");
  CHECK(unknown.not_found);
  CHECK_FALSE(unknown.retryable);
  const auto nobody = c.fetch(fmt::format("rsync://127.0.0.1:{}/m/x", test::unused_port()));
  CHECK(nobody.retryable);
  CHECK_THAT(c.fetch(url + "%2A").problem, Catch::Contains("wildcards"));
}

TEST_CASE("tools: a size that no file can have is the server's failure") {
  const test::TempHome home;
  base::write_file_atomically(
      home / "rsync",
      "#!/bin/sh\necho '-rw-r--r-- 99999999999999999999999 2026/11/21 10:00:00 a.bin'\n",
      base::Durability::ordered_only,
      0755);
  const std::string path = base::current_environment().at("PATH");
  ::setenv("PATH", (home.path().string() + ":" + path).c_str(), 1);
  test::Tools tools;
  base::SilentObserver observer;
  const auto error = test::error_of(
      [&] { tools.get("rsync").list("rsync://127.0.0.1/m/tree/", std::nullopt, observer, {}); });
  ::setenv("PATH", path.c_str(), 1);
  CHECK(error.kind() == base::ErrorKind::transfer);
  CHECK_THAT(error.what(), Catch::Contains("'a.bin' with a size of '99999999999999999999999'"));
}

TEST_CASE("tools: a host that does not know the key, or that is not known, asks for access") {
  conformance::ToolCase<SshHarness<Sftp>> c;
  const auto url = c.harness.put("a.bin", "content");
  SECTION("no key") {
    fs::remove(c.harness.server.folder().parent_path() / "authorized_keys");
  }
  SECTION("an unknown host") {
    fs::remove(c.harness.server.folder().parent_path() / "known_hosts");
  }
  const auto outcome = c.fetch(url);
  CHECK_FALSE(outcome.ok);
  CHECK(outcome.access_needed);
  CHECK_FALSE(outcome.retryable);
  CHECK_THAT(outcome.hint, Catch::Contains("without a question"));
}

TEST_CASE("tools: a URL that cannot be read is told without its password") {
  test::Tools tools;
  base::SilentObserver observer;
  const auto error = test::error_of([&] {
    tools.get("rsync").list("rsync://me:s3cret@host:99999/x/", std::nullopt, observer, {});
  });
  CHECK_THAT(error.what(), !Catch::Contains("s3cret") && Catch::Contains("malformed URL"));
}
