// What may be secret in a URL: user and password, signature, token.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <sabath/base/digest.hpp>

#include <catch2/catch.hpp>

using namespace sabath::test;

namespace {

const std::string query = "?X-Amz-Signature=s3cretsig&token=s3crettoken";

/// A home and a server whose files want a password and a signature.
struct Case {
  Sabath sabath{};
  FaultServer server{};

  std::string url(const std::string& target) const {
    std::string text = server.url(target + query);
    return text.insert(text.find("://") + 3, "ada:s3cretpassword@");
  }
  void list(const std::string& name, const std::string& target) const {
    sabath.asset(name,
                 R"({"schema": 1, "kind": "dataset", "name": ")" + name + R"(", "list": ")" +
                     url(target) + R"("})");
  }
  /// Its exit status; in what it says there is no secret.
  int run(const std::vector<std::string>& arguments) const {
    const Answer answer = sabath(arguments);
    INFO(arguments.front() + " " + arguments.back() + ":\n" + answer.output + answer.errors);
    CHECK((answer.output + answer.errors).find("s3cret") == std::string::npos);
    return answer.status;
  }
  /// Nor is there one in any file but the documents.
  void check_files() const {
    const Answer found = sabath.program(
        {"grep", "-r", "-l", "--exclude-dir=assets", "s3cret", sabath.home().string()});
    CHECK(found.output == "");
    CHECK(found.status == 1);
  }
};

}  // namespace

TEST_CASE("cli: the secrets of a URL are in no message, event, record or log") {
  Case c;
  const std::string wrong(64, 'a');
  c.server.put("/a" + query, "content");
  c.server.put("/b" + query, "content of b");
  c.server.always("/r" + query, {302, {{"Location", c.url("/gone")}}, ""});
  c.server.always("/torn" + query, {.body = "content", .cut_after_bytes = 3});
  CHECK(c.run({"--json", "fetch", c.url("/a")}) == 0);
  CHECK(c.run({"fetch", c.url("/a")}) == 0);
  CHECK(c.run({"fetch", "--refresh", c.url("/a")}) == 0);
  CHECK(c.run({"fetch", c.url("/gone"), "--offline"}) == 10);
  CHECK(c.run({"fetch", c.url("/gone")}) == 10);
  CHECK(c.run({"--json", "fetch", c.url("/r")}) == 10);
  CHECK(c.run({"fetch", c.url("/torn"), "--retries", "1"}) == 12);
  CHECK(c.run({"fetch", c.url("/b"), "--sha256", wrong}) == 11);
  for (const std::string tool : {"curl", "wget", "aria2c"})
    CHECK(c.run({"fetch", c.url("/gone"), "--fetcher", tool, "--retries", "0"}) != 0);
  CHECK(c.run({"verify", c.url("/a")}) == 0);
  CHECK(c.run({"verify", c.url("/gone")}) == 10);
  CHECK(c.run({"cache", "pin", c.url("/a")}) == 0);
  CHECK(c.run({"--json", "cache", "pin"}) == 0);
  CHECK(c.run({"cache", "unpin", c.url("/a")}) == 0);
  CHECK(c.run({"cache", "unpin", c.url("/a")}) == 10);
  CHECK(c.run({"--json", "cache", "ls"}) == 0);
  CHECK(c.run({"cache", "repair"}) == 0);
  c.check_files();
}

TEST_CASE("cli: the secrets of a list's URL are in no message, event, record or log") {
  Case c;
  c.server.put("/a", "content");
  c.server.put("/list" + query, sabath::base::sha256_of("content").hex + "  a\n");
  c.server.put("/outside" + query, "../../a\n");
  c.server.put("/private" + query, "file:///etc/passwd\n");
  c.server.put("/missing" + query, "nothing\n");
  c.server.put("/empty" + query, "# nothing\n");
  for (const std::string name : {"list", "outside", "private", "missing", "empty", "gone"})
    c.list(name, "/" + name);
  CHECK(c.run({"fetch", "list", "--offline"}) == 10);
  CHECK(c.run({"--json", "fetch", "list"}) == 0);
  CHECK(c.run({"fetch", "list", "--refresh"}) == 0);
  CHECK(c.run({"fetch", "outside"}) == 11);
  CHECK(c.run({"fetch", "private"}) == 11);
  CHECK(c.run({"fetch", "missing", "--retries", "0"}) == 10);
  CHECK(c.run({"fetch", "missing", "--offline"}) == 10);
  CHECK(c.run({"fetch", "empty"}) == 11);
  CHECK(c.run({"fetch", "gone"}) == 10);
  CHECK(c.run({"fetch", c.url("/folder/").replace(0, 4, "rsync"), "--offline"}) == 10);
  c.check_files();
}

TEST_CASE("cli: a list from elsewhere names nothing of this machine, nor what needs a login") {
  Case c;
  for (const std::string line : {"file:///etc/passwd",
                                 "FILE:///etc/passwd",
                                 "sftp://127.0.0.1/etc/passwd",
                                 "scp://127.0.0.1/etc/passwd",
                                 "rsync://127.0.0.1/module/x",
                                 "rsync+ssh://127.0.0.1/x",
                                 "git+file:///tmp/repository@0123456789",
                                 "globus://collection/x",
                                 "mine://host/x",
                                 "../outside",
                                 "a/../../outside",
                                 "/etc/passwd"}) {
    INFO(line);
    c.server.put("/list" + query, line + "\n");
    c.list("stranger", "/list");
    CHECK(c.run({"fetch", "stranger", "--refresh"}) == 11);
  }
  for (const auto& request : c.server.requests())
    CHECK(request.target == "/list" + query);
}
