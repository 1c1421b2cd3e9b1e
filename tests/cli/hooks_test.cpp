// Hooks of config.json: commands, posts and mails on events of runs.
#include "support/program.hpp"
#include "support/servers/fault_server.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <csignal>
#include <sstream>

#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A home with hooks.
class Hooked {
 public:
  Hooked() { sabath.environment()["SABATH_CONFIG"] = folder().string(); }
  explicit Hooked(const json& hooks) : Hooked() { configure(hooks); }
  void configure(const json& hooks, const json& more = json::object()) const {
    json document = {{"schema", 1}, {"hooks", hooks}};
    document.update(more);
    fs::create_directories(folder());
    write_text(folder() / "config.json", document.dump());
  }
  fs::path folder() const { return sabath.folder() / "configuration"; }
  fs::path out() const { return sabath.folder() / "out"; }

  Sabath sabath{};
};

/// A program that adds what it gets on stdin to a file, an object on each line.
json appending(const fs::path& file) {
  return json::array({"/bin/sh", "-c", "tr '\\n' ' ' >> \"$0\"; echo >> \"$0\"", file.string()});
}

std::vector<json> reports_in(const fs::path& file) {
  std::vector<json> reports;
  if (!fs::exists(file)) return reports;
  std::istringstream lines(text_of(file));
  for (std::string line; std::getline(lines, line);)
    reports.push_back(json::parse(line));
  return reports;
}

std::vector<std::string> events_of(const std::vector<json>& reports) {
  std::vector<std::string> events;
  for (const json& report : reports)
    events.push_back(report["event"].get<std::string>());
  return events;
}

const json every_event = json::array({"started", "failed", "finished", "lost", "diverged"});

}  // namespace

TEST_CASE("cli: the hooks of a run get its events, once each") {
  const std::string where = GENERATE("exec", "submit");
  const Hooked home;
  home.configure(
      json::array({{{"on", every_event}, {"command", appending(home.out())}, {"where", where}}}));
  const Sabath& sabath = home.sabath;
  const Answer run = sabath({"run", sabath.shell_recipe("well", "sleep 0.3"), "--seed", "7"});
  INFO(run.output + run.errors);
  REQUIRE(run.status == 0);
  sabath({"list"});
  sabath({"list"});
  const auto reports = reports_in(home.out());
  const json& last = reports.back();
  CHECK(last["event"] == "finished");
  CHECK(last["state"] == "ok");
  CHECK(last["schema"] == 1);
  CHECK(last["run"] == sabath.run_directories().back().filename().string());
  CHECK(last["recipe"] == "well");
  CHECK(last["directory"] == sabath.run_directories().back().string());
  CHECK(!last["host"].get<std::string>().empty());
  CHECK(last["wall_s"].get<double>() > 0.2);
  // Who indexes a run need not see it while it runs.
  if (where == "exec") CHECK(events_of(reports) == std::vector<std::string>{"started", "finished"});
  if (where == "submit") CHECK(reports.size() <= 2);
}

TEST_CASE("cli: a failed run fires failed, a stopped one finished with its state") {
  const Hooked home;
  home.configure(json::array(
      {{{"on", json::array({"failed", "finished"})}, {"command", appending(home.out())}}}));
  const Sabath& sabath = home.sabath;
  CHECK(sabath({"run", sabath.shell_recipe("bad", "exit 3")}).status == 1);
  const std::string stopping =
      sabath.shell_recipe("nan",
                          R"(echo '{{"step": 1, "loss": NaN}}' >> $SABATH_METRICS)",
                          R"({"metrics": {"loss": {}}, "stop_if": {"loss": {"nan": true}}})");
  CHECK(sabath({"run", stopping}).status == 1);
  const auto reports = reports_in(home.out());
  REQUIRE(reports.size() == 2);
  CHECK(reports[0]["event"] == "failed");
  CHECK_THAT(reports[0]["reason"].get<std::string>(), Contains("exited with status 3"));
  CHECK(reports[1]["event"] == "finished");
  CHECK(reports[1]["state"] == "stopped");
  CHECK(reports[1]["reason"] == "go/loss is NaN at step 1");
}

TEST_CASE("cli: a run that diverges from its reference fires diverged, then finished") {
  const Hooked home;
  home.configure(json::array(
      {{{"on", json::array({"diverged", "finished"})}, {"command", appending(home.out())}}}));
  const Sabath& sabath = home.sabath;
  const std::string recipe =
      sabath.shell_recipe("pair",
                          R"(echo '{{"step": 1, "loss": {seed}}}' >> $SABATH_METRICS)",
                          R"({"metrics": {"loss": {}}})");
  REQUIRE(sabath({"run", recipe, "--seed", "1"}).status == 0);
  CHECK(sabath({"run", recipe, "--seed", "2", "--stop-when-diverged", "@last"}).status == 1);
  CHECK(events_of(reports_in(home.out())) ==
        std::vector<std::string>{"finished", "diverged", "finished"});
}

TEST_CASE("cli: a run that is lost fires lost when it is closed") {
  Hooked home;
  home.configure(json::array(
      {{{"on", json::array({"lost", "finished"})}, {"command", appending(home.out())}}}));
  Sabath& sabath = home.sabath;
  Running running = sabath.start({"run", sabath.shell_recipe("killed", "sleep 60")});
  const auto is_running = [&] {
    if (sabath.run_directories().empty()) return false;
    const json status =
        json::parse(text_of(sabath.run_directories().back() / "status.json"), nullptr, false);
    return status.is_object() && status["state"] == "running" && status["stage"] == "go";
  };
  REQUIRE(eventually(is_running));
  const json status = json::parse(text_of(sabath.run_directories().back() / "status.json"));
  ::kill(status["pid"].get<int>(), SIGKILL);
  CHECK(running.wait().status == 14);
  sabath({"list"});
  sabath({"list"});
  const auto reports = reports_in(home.out());
  REQUIRE(reports.size() == 1);
  CHECK(reports[0]["event"] == "lost");
  CHECK(reports[0]["state"] == "lost");
}

TEST_CASE("cli: hooks that hang, print a gigabyte, fail or are gone do not fail the run") {
  const auto [command, problem] = GENERATE(table<json, std::string>(
      {{json::array({"/bin/sleep", "600"}), "ran past its limit"},
       {json::array({"/bin/sh", "-c", "trap '' TERM; sleep 600"}), "ran past its limit"},
       {json::array({"/bin/sh", "-c", "yes | head -c 1000000000"}), ""},
       {json::array({"/bin/sh", "-c", "echo why >&2; exit 9"}), "exited with status 9: why"},
       {json::array({"/no/such/program"}), "/no/such/program"}}));
  const Hooked home(
      json::array({{{"on", json::array({"finished"})}, {"command", command}, {"timeout", 1}}}));
  const Sabath& sabath = home.sabath;
  const auto begin = std::chrono::steady_clock::now();
  const Answer run = sabath({"run", sabath.shell_recipe("well", "true")});
  INFO(run.errors);
  CHECK(run.status == 0);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(30));
  const fs::path directory = sabath.run_directories().back();
  CHECK(json::parse(text_of(directory / "record.json"))["state"] == "ok");
  const std::string log = run.output + run.errors + text_of(directory / "exec.log");
  CHECK_THAT(log, Contains("hook for 'finished'") && Contains(problem));
  CHECK(log.size() < 100'000);
}

TEST_CASE("cli: Ctrl-C ends a run whose hook hangs") {
  const Hooked home(json::array({{{"on", json::array({"finished"})},
                                  {"command", json::array({"/bin/sleep", "600"})},
                                  {"timeout", "9m"}}}));
  Sabath& sabath = const_cast<Sabath&>(home.sabath);
  Running running = sabath.start({"run", sabath.shell_recipe("well", "true")});
  const auto has_record = [&] {
    return !sabath.run_directories().empty() &&
           fs::exists(sabath.run_directories().back() / "hooks");
  };
  REQUIRE(eventually(has_record));
  const auto begin = std::chrono::steady_clock::now();
  running.signal(SIGINT);
  running.wait();
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(20));
  CHECK(json::parse(text_of(sabath.run_directories().back() / "record.json"))["state"] == "ok");
}

TEST_CASE("cli: a report is posted with the secrets of its host, which no message shows") {
  FaultServer server;
  server.always("/hook/s3cretpath", {.status = 204});
  const Hooked home(
      json::array({{{"on", json::array({"finished"})}, {"post", server.url("/hook/s3cretpath")}}}));
  const Sabath& sabath = home.sabath;
  write_text(
      home.folder() / "credentials.json",
      json{{"schema", 1},
           {"credentials", {{{"host", server.url("").substr(7)}, {"bearer", "s3crettoken"}}}}}
          .dump());
  fs::permissions(home.folder() / "credentials.json",
                  fs::perms::owner_read | fs::perms::owner_write);
  const Answer run = sabath({"run", sabath.shell_recipe("well", "true")});
  INFO(run.output + run.errors + text_of(sabath.run_directories().back() / "exec.log"));
  REQUIRE(run.status == 0);
  REQUIRE(server.requests().size() == 1);
  const SeenRequest request = server.requests().front();
  CHECK(request.method == "POST");
  CHECK(request.header("authorization") == "Bearer s3crettoken");
  CHECK(json::parse(request.body)["event"] == "finished");
  const Answer found = sabath.program({"grep", "-r", "-l", "s3cret", sabath.home().string()});
  CHECK(found.output.empty());
}

TEST_CASE("cli: a server that refuses a report is a warning without the path of the URL") {
  FaultServer server;
  server.always("/s3cretpath", {.status = 500});
  const Hooked home(
      json::array({{{"on", json::array({"finished"})}, {"post", server.url("/s3cretpath")}}}));
  const Sabath& sabath = home.sabath;
  const Answer run = sabath({"run", sabath.shell_recipe("well", "true")});
  CHECK(run.status == 0);
  const std::string log =
      run.output + run.errors + text_of(sabath.run_directories().back() / "exec.log");
  CHECK_THAT(log, Contains("the server answered 500") && !Contains("s3cretpath"));
}

TEST_CASE("cli: a mail goes through the machine's sendmail") {
  const Hooked home;
  const fs::path sendmail = home.sabath.folder() / "sendmail";
  write_text(sendmail,
             "#!/bin/sh\necho \"arguments: $*\" > '" + home.out().string() + "'\ncat >> '" +
                 home.out().string() + "'\n");
  fs::permissions(sendmail, fs::perms::owner_all);
  home.configure(json::array({{{"on", json::array({"failed"})}, {"mail", "ada@example.org"}}}),
                 {{"sendmail", sendmail.string()}});
  const Sabath& sabath = home.sabath;
  CHECK(sabath({"run", sabath.shell_recipe("bad", "exit 3")}).status == 1);
  const std::string mail = text_of(home.out());
  CHECK_THAT(mail, Contains("arguments: -t\nTo: ada@example.org\nSubject: sabath: bad-"));
  CHECK_THAT(mail, Contains(" failed\n") && Contains("exited with status 3"));
}

TEST_CASE("cli: hooks that cannot be right are refused") {
  const auto [hook, problem] = GENERATE(table<json, std::string>(
      {{json{{"on", json::array({"finished"})}}, "a hook has one of command, post and mail"},
       {json{{"on", json::array({"finished"})}, {"mail", "a@b"}, {"post", "https://x"}},
        "a hook has one of command, post and mail"},
       {json{{"on", json::array({"ended"})}, {"mail", "a@b"}}, "'ended' is not an event of a run"},
       {json{{"on", json::array()}, {"mail", "a@b"}}, "must not be empty"},
       {json{{"on", json::array({"finished"})}, {"command", json::array()}}, "names no program"},
       {json{{"on", json::array({"finished"})}, {"post", "http://example.org/x"}},
        "is not a URL of https"},
       {json{{"on", json::array({"finished"})}, {"mail", "a@b\nBcc: c@d"}}, "mail"},
       {json{{"on", json::array({"finished"})}, {"mail", "a@b"}, {"where", "here"}},
        "neither exec nor submit"},
       {json{{"on", json::array({"finished"})}, {"mail", "a@b"}, {"timeout", "2h"}},
        "at most 10m"}}));
  Hooked home(json::array({hook}));
  const Answer run = home.sabath({"run", home.sabath.shell_recipe("well", "true")});
  CHECK(run.status == 2);
  CHECK_THAT(run.errors, Contains(problem));
}

TEST_CASE("cli: config.json that others can write defines no hooks") {
  Hooked home(json::array({{{"on", json::array({"finished"})}, {"mail", "a@b"}}}));
  fs::permissions(home.folder() / "config.json", fs::perms::others_write, fs::perm_options::add);
  const Answer run = home.sabath({"run", home.sabath.shell_recipe("well", "true")});
  CHECK(run.status == 2);
  CHECK_THAT(run.errors, Contains("defines hooks, but cannot be trusted"));
}
