// What every command owes its caller: channels, JSON, help, exit statuses.
#include "support/program.hpp"

#include <sabath/base/process.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;

namespace {

const std::vector<std::string> commands{"fetch",
                                        "run",
                                        "compare",
                                        "repro",
                                        "list",
                                        "search",
                                        "show",
                                        "verify",
                                        "env",
                                        "probe",
                                        "catalog",
                                        "doctor",
                                        "completion",
                                        "help",
                                        "exec"};

}  // namespace

TEST_CASE("cli: an unknown command is a usage error that suggests the nearest") {
  Sabath sabath;
  Answer answer = sabath({"comapre"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("did you mean 'compare'?"));
  CHECK_THAT(answer.errors, Contains("comapre"));
  CHECK(answer.output.empty());
  answer = sabath({"--json", "comapre"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("did you mean 'compare'?"));
}

TEST_CASE("cli: an unknown option, a missing argument and no command at all are usage errors") {
  Sabath sabath;
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{},
                                                    {"run"},
                                                    {"run", "x", "--repeet", "2"},
                                                    {"run", "x", "--repeat", "0"},
                                                    {"compare"},
                                                    {"compare", "a", "b", "--require", "roughly"},
                                                    {"completion", "tcsh"}}) {
    const Answer answer = sabath(arguments);
    CHECK(answer.status == 2);
    CHECK_FALSE(answer.errors.empty());
    CHECK(answer.output.empty());
  }
  CHECK_FALSE(std::filesystem::exists(sabath.home()));
}

TEST_CASE("cli: with --json an error of usage is JSON on stderr too") {
  Sabath sabath;
  const Answer answer = sabath({"--json", "run", "x", "--repeat", "0"});
  CHECK(answer.status == 2);
  REQUIRE(json::accept(answer.errors));
  CHECK(json::parse(answer.errors)["error"]["kind"] == "usage");
}

TEST_CASE("cli: each command has help and a page") {
  Sabath sabath;
  for (const std::string& command : commands) {
    INFO(command);
    const Answer help = sabath({command, "--help"});
    CHECK(help.status == 0);
    CHECK_THAT(help.output, Contains("Usage:"));
    CHECK(help.errors.empty());
    const Answer page = sabath({"help", command});
    CHECK(page.status == 0);
    CHECK_THAT(page.output, Contains("sabath " + command));
  }
  CHECK(sabath({"help", "no-such-command"}).status == 10);
  CHECK(sabath({"--version"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(sabath.home()));
}

TEST_CASE("cli: answers in JSON are one document of schema 1 on stdout") {
  Sabath sabath;
  REQUIRE(sabath({"run",
                  sabath.shell_recipe("tiny",
                                      R"(echo '{{"step": 1, "loss": 1}}' >> $SABATH_METRICS)",
                                      R"({"metrics": {"loss": {"unit": "1", "better": "lower"}}})"),
                  "--seed",
                  "1",
                  "--repeat",
                  "2"})
              .status == 0);
  const std::string recipe = (sabath.folder() / "recipes/tiny").string();
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"list"},
                                                    {"list", "assets"},
                                                    {"list", "recipes"},
                                                    {"list", "envs"},
                                                    {"search", "tiny"},
                                                    {"show", "@last"},
                                                    {"show", recipe},
                                                    {"compare", "@last~1", "@last"},
                                                    {"run", recipe},
                                                    {"run", recipe, "--dry-run"},
                                                    {"fetch", "file:///etc/passwd"},
                                                    {"verify"},
                                                    {"probe"},
                                                    {"doctor"},
                                                    {"catalog", "stats"},
                                                    {"catalog", "reindex"}}) {
    std::vector<std::string> with_json = arguments;
    with_json.emplace_back("--json");
    const Answer answer = sabath(with_json);
    INFO(arguments.front() << ": " << answer.output << answer.errors);
    CHECK(answer.status == 0);
    // `fetch` streams: its answer is the last of its lines.
    const std::string document =
        arguments.front() == "fetch" ? last_line(answer.output) : answer.output;
    REQUIRE(json::accept(document));
    CHECK(json::parse(document)["schema"] == 1);
  }
}

TEST_CASE("cli: errors with --json are JSON on stderr, and stdout stays empty") {
  Sabath sabath;
  const Answer answer = sabath({"--json", "show", "no-such-thing"});
  CHECK(answer.status == 10);
  CHECK(answer.output.empty());
  REQUIRE(json::accept(answer.errors));
  const json error = json::parse(answer.errors)["error"];
  CHECK(error["kind"] == "not_found");
  CHECK_THAT(error["message"].get<std::string>(), Contains("no-such-thing"));
}

TEST_CASE("cli: notes go to stderr, answers to stdout, and --quiet keeps the answer alone") {
  Sabath sabath;
  const auto folder = sabath.shell_recipe("tiny", "sleep 1");
  const Answer loud = sabath({"run", folder});
  CHECK_THAT(loud.errors, Contains("stage go"));
  CHECK(loud.output.find("stage go") == std::string::npos);
  CHECK(loud.errors.find('\033') == std::string::npos);
  const Answer quiet = sabath({"-q", "run", folder});
  CHECK(quiet.errors.empty());
  CHECK_THAT(quiet.output, Contains("ok"));
}

TEST_CASE("cli: a reader that goes away is no crash") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "true"), "--repeat", "3"}).status == 0);
  const Answer answer = sabath.program({"/bin/sh",
                                        "-c",
                                        "{ \"$0\" list 2>\"$1\"; echo $? >>\"$1\"; } | true",
                                        SABATH_PROGRAM,
                                        "status"});
  CHECK(answer.status == 0);
  const std::string said = text_of(sabath.folder() / "status");
  CHECK((said == "0\n" || said.ends_with("\n16\n")));
  const Answer full = sabath.program({"/bin/sh", "-c", "\"$0\" list >/dev/full", SABATH_PROGRAM});
  CHECK(full.status == 16);
  CHECK_THAT(full.errors, Contains("standard output"));
}

TEST_CASE("cli: completion scripts are accepted by their shells") {
  Sabath sabath;
  for (const char* shell : {"bash", "zsh", "fish"}) {
    INFO(shell);
    const Answer script = sabath({"completion", shell});
    CHECK(script.status == 0);
    CHECK_THAT(script.output, Contains("compare") && Contains("sabath"));
    if (!sabath::base::find_program(shell)) {
      WARN(std::string("not checked: there is no ") + shell);
      continue;
    }
    write_text(sabath.folder() / "script", script.output);
    const Answer checked = sabath.program({shell, "-n", "script"});
    CHECK(checked.status == 0);
    CHECK(checked.errors.empty());
  }
}

TEST_CASE("cli: without a home there is a hint what to set") {
  Sabath sabath;
  sabath.environment().erase("SABATH_HOME");
  sabath.environment().erase("XDG_DATA_HOME");
  sabath.environment().erase("HOME");
  const Answer answer = sabath({"list"});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("set SABATH_HOME"));
}

TEST_CASE("cli: exec of a folder that is no run is refused, and of a finished run too") {
  Sabath sabath;
  const Answer nothing = sabath({"exec", sabath.folder().string()});
  CHECK((nothing.status == 2 || nothing.status == 10));
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "true")}).status == 0);
  const std::string before = sabath.newest();
  const Answer again = sabath({"exec", sabath.run_directories().back().string()});
  CHECK(again.status == 2);
  CHECK_THAT(again.errors, Contains("finished already"));
  CHECK(sabath.newest() == before);
}
