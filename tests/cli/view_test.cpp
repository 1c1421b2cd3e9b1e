// The live view as a command: serve, view, status --watch, report --watch.
#include "support/program.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <pty.h>

#include <csignal>
#include <memory>
#include <string>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

/// A home of its own with a private runtime folder, and a server of it.
class Served {
 public:
  Served() {
    const fs::path runtime = sabath.folder() / "runtime";
    fs::create_directories(runtime);
    ::chmod(runtime.c_str(), 0700);
    sabath.environment()["XDG_RUNTIME_DIR"] = runtime.string();
    sabath.environment().erase("DISPLAY");
    sabath.environment().erase("WAYLAND_DISPLAY");
    sabath.environment().erase("SSH_CONNECTION");
  }
  ~Served() { sabath({"serve", "--stop"}); }
  Served(const Served&) = delete;
  Served& operator=(const Served&) = delete;

  json start(std::vector<std::string> words = {}) {
    words.insert(words.begin(), {"serve", "--no-browser", "--json"});
    const fs::path output = sabath.folder() / ("serve-" + std::to_string(++started) + ".json");
    words.insert(words.begin(), SABATH_PROGRAM);
    server = std::make_unique<Running>(
        words, sabath.environment(), output, sabath.folder() / "serve.err");
    REQUIRE(eventually(
        [&] { return fs::exists(output) && text_of(output).find("}\n") != std::string::npos; }));
    json found = json::parse(text_of(output));
    return found;
  }

  Sabath sabath{};
  std::unique_ptr<Running> server{};
  int started = 0;
};

/// Status and body of an answer.
std::string get(const Sabath& sabath, const json& place, const std::string& path) {
  return sabath
      .program({"curl",
                "--silent",
                "--write-out",
                "\n%{http_code}",
                "--header",
                "Authorization: Bearer " + place["token"].get<std::string>(),
                place["url"].get<std::string>() + path})
      .output;
}

/// Runs the program on a terminal, and gives it keys. Returns what it printed.
std::string on_terminal(const Sabath& sabath,
                        const std::vector<std::string>& words,
                        const std::string& keys) {
  int terminal = -1;
  winsize size{24, 80, 0, 0};
  const pid_t child = ::forkpty(&terminal, nullptr, nullptr, &size);
  if (child == 0) {
    for (const auto& [name, value] : const_cast<Sabath&>(sabath).environment())
      ::setenv(name.c_str(), value.c_str(), 1);
    std::vector<char*> argv{const_cast<char*>(SABATH_PROGRAM)};
    for (const std::string& word : words)
      argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execv(argv[0], argv.data());
    ::_exit(99);
  }
  std::string text;
  std::array<char, 4096> buffer{};
  bool has_typed = false;
  for (ssize_t got = 0; (got = ::read(terminal, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (!has_typed && text.find("q leaves") != std::string::npos) {
      has_typed = ::write(terminal, keys.data(), keys.size()) > 0;
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::close(terminal);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  return text;
}

}  // namespace

TEST_CASE("serve: one server of a home, found again and ended") {
  Served served;
  const json place = served.start();
  CHECK_THAT(place["url"].get<std::string>(), Contains("http://127.0.0.1:"));
  CHECK_THAT(get(served.sabath, place, "api/about"),
             Contains("\n200") && Contains(served.sabath.home().string()));
  CHECK(served.sabath({"serve", "--unix"}).status == 2);
  const Answer again = served.sabath({"serve"});
  CHECK_THAT(again.output, Contains("/#t=" + place["token"].get<std::string>()));
  CHECK_THAT(again.errors, Contains("runs already"));
  CHECK(served.sabath({"serve", "--stop"}).status == 0);
  CHECK(served.server->wait().status == 0);
  CHECK_THAT(served.sabath({"serve", "--stop"}).errors, Contains("no server"));
}

TEST_CASE("serve: a server that was killed does not keep its place") {
  Served served;
  const json first = served.start();
  served.server->signal(SIGKILL);
  served.server->wait();
  const json second = served.start();
  CHECK(second["token"] != first["token"]);
  CHECK_THAT(get(served.sabath, second, "api/now"), Contains("\n200"));
}

TEST_CASE("serve: within ssh it takes a Unix socket, and says how to reach it") {
  Served served;
  served.sabath.environment()["SSH_CONNECTION"] = "1 2 3 4";
  const json place = served.start();
  const fs::path socket = place["socket"].get<std::string>();
  struct stat status {};
  REQUIRE(::stat(socket.c_str(), &status) == 0);
  CHECK(S_ISSOCK(status.st_mode));
  CHECK((status.st_mode & 0777U) == 0600U);
  CHECK(place["url"] == "");
  CHECK_THAT(served.sabath({"serve"}).output, Contains("ssh -NL 8080:" + socket.string()));
  served.sabath({"serve", "--stop"});
  served.server->wait();
  CHECK_FALSE(fs::exists(socket));
}

TEST_CASE("serve: a look fires no hook and closes no run, the next command does") {
  Served served;
  Sabath& sabath = served.sabath;
  const fs::path configuration = sabath.folder() / "configuration";
  const fs::path out = sabath.folder() / "fired";
  sabath.environment()["SABATH_CONFIG"] = configuration.string();
  fs::create_directories(configuration);
  const json hook = {{"on", json::array({"lost", "finished"})},
                     {"where", "submit"},
                     {"command", json::array({"/bin/sh", "-c", "echo x >> " + out.string()})}};
  write_text(configuration / "config.json",
             json{{"schema", 1}, {"hooks", json::array({hook})}}.dump());
  const auto place = served.start();
  Running running = sabath.start({"run", sabath.shell_recipe("killed", "sleep 60")});
  const auto status = [&] {
    if (sabath.run_directories().empty()) return json();
    const fs::path file = sabath.run_directories().back() / "status.json";
    return json::parse(text_of(file), nullptr, false);
  };
  REQUIRE(eventually([&] {
    const json now = status();
    return now.is_object() && now["stage"] == "go";
  }));
  running.signal(SIGKILL);
  ::kill(status()["pid"].get<int>(), SIGKILL);
  REQUIRE(eventually(
      [&] { return get(sabath, place, "api/now").find("\"gone\":true") != std::string::npos; }));
  CHECK(status()["state"] == "running");
  CHECK_FALSE(fs::exists(out));
  sabath({"list"});
  CHECK(text_of(out) == "x\n");
  CHECK(status()["state"] == "lost");
}

TEST_CASE("serve: wrong options are told") {
  Served served;
  const auto errors = [&](const std::vector<std::string>& words) {
    const Answer answer = served.sabath(words);
    CHECK(answer.status == 2);
    return answer.errors;
  };
  CHECK_THAT(errors({"serve", "--base-path", "x"}), Contains("does not begin with '/'"));
  CHECK_THAT(errors({"serve", "--frame-ancestors", "https://a; script-src *"}),
             Contains("--frame-ancestors"));
  CHECK_THAT(errors({"serve", "--idle", "soon"}), Contains("--idle"));
  CHECK_THAT(errors({"serve", "--socket", "/tmp/" + std::string(200, 'x')}), Contains("too long"));
  CHECK_THAT(errors({"view", "-oProxyCommand=true"}), !Contains("cannot start"));
  CHECK_THAT(errors({"view", "--", "-oProxyCommand=true"}), Contains("is not the name of a host"));
  CHECK_THAT(errors({"status", "--watch"}), Contains("not a terminal"));
  CHECK_THAT(errors({"report", "@last", "--watch=0s", "-o", "/tmp/x.html"}), Contains("--watch"));
  const fs::path runtime = served.sabath.folder() / "runtime";
  fs::remove_all(runtime / "sabath");
  ::mkdir((runtime / "sabath").c_str(), 0777);
  ::chmod((runtime / "sabath").c_str(), 0777);
  const Answer open = served.sabath({"serve"});
  CHECK(open.status == 16);
  CHECK_THAT(open.errors, Contains("not a folder of this user alone"));
  fs::remove_all(runtime / "sabath");
}

TEST_CASE("view: pages of another machine come through ssh") {
  Served served;
  // In place of ssh: the last word is a line for a shell, and a login prints before.
  const fs::path programs = served.sabath.folder() / "programs";
  fs::create_directories(programs);
  write_text(programs / "ssh",
             "#!/bin/sh\necho 'Welcome to login03'\nfor line; do :; done\nexec sh -c \"$line\"\n");
  ::chmod((programs / "ssh").c_str(), 0755);
  served.sabath.environment()["PATH"] = programs.string() + ":" + std::getenv("PATH");
  const fs::path output = served.sabath.folder() / "view.out";
  Running view({SABATH_PROGRAM, "view", "site", "--no-browser", "--remote", SABATH_PROGRAM},
               served.sabath.environment(),
               output,
               served.sabath.folder() / "view.err");
  REQUIRE(eventually([&] { return text_of(output).find("#t=") != std::string::npos; }));
  const std::string address = text_of(output);
  const std::size_t mark = address.find("#t=");
  const json place{{"url", address.substr(0, mark)}, {"token", address.substr(mark + 3, 64)}};
  for (int i = 0; i < 5; ++i)
    CHECK_THAT(get(served.sabath, place, "api/about"),
               Contains("\n200") && Contains(served.sabath.home().string()));
  CHECK_THAT(text_of(served.sabath.folder() / "view.err"), Contains("Welcome to login03"));
  CHECK_THAT(get(served.sabath, {{"url", place["url"]}, {"token", "x"}}, "api/now"),
             Contains("\n401"));
  view.signal(SIGINT);
  view.wait();
  write_text(programs / "ssh", "#!/bin/sh\necho 'no such host' >&2\nexit 255\n");
  const Answer none = served.sabath({"view", "site"});
  CHECK(none.status == 14);
  CHECK_THAT(none.errors, Contains("ended with status 255") && Contains("is installed there"));
}

TEST_CASE("status --watch: shows what is in progress on the terminal until q") {
  Served served;
  const fs::path gate = served.sabath.folder() / "gate";
  const std::string recipe = served.sabath.shell_recipe(
      "gated",
      "echo hello from the stage; while [ ! -e " + gate.string() + " ]; do sleep 0.05; done");
  Running run = served.sabath.start({"run", recipe});
  REQUIRE(eventually([&] {
    const auto runs = served.sabath.run_directories();
    return !runs.empty() &&
           text_of(runs.front() / "attempts/1/go/stdout.log").find("hello") != std::string::npos;
  }));
  const std::string text = on_terminal(served.sabath, {"status", "--watch"}, "q");
  CHECK_THAT(text, Contains("1 running") && Contains("hello from the stage"));
  // The terminal is given back as it was.
  CHECK_THAT(text, Contains("\x1b[?1049h") && Contains("\x1b[?1049l") && Contains("\x1b[?25h"));
  write_text(gate, "");
  run.wait();
}

TEST_CASE("report --watch: the page loads itself again until all runs have ended") {
  Served served;
  const fs::path gate = served.sabath.folder() / "gate";
  const std::string recipe = served.sabath.shell_recipe(
      "gated", "while [ ! -e " + gate.string() + " ]; do sleep 0.05; done");
  Running run = served.sabath.start({"run", recipe});
  // Other commands wait until it runs: processes that lose their parent meanwhile would be ended.
  REQUIRE(eventually([&] {
    return served.sabath.newest("status.json").find("\"running\"") != std::string::npos;
  }));
  const fs::path page = served.sabath.folder() / "live.html";
  Running report =
      served.sabath.start({"report", "recipe=gated", "--watch=1s", "-o", page.string()});
  REQUIRE(eventually([&] { return fs::exists(page); }));
  CHECK_THAT(text_of(page), Contains("http-equiv=\"refresh\" content=\"1\""));
  write_text(gate, "");
  run.wait();
  CHECK(report.wait().status == 0);
  CHECK_THAT(text_of(page), !Contains("http-equiv=\"refresh\""));
}
