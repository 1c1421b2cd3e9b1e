// What every command owes its caller: channels, JSON, help, exit statuses.
#include "support/program.hpp"

#include <sabath/base/process/process.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <thread>

#include <signal.h>

using namespace sabath::test;
using Catch::Contains;
using Catch::StartsWith;
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
                                                    {"run", "x", "--seed", "-1"},
                                                    {"run", "x", "--seed", "1e3"},
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

TEST_CASE("cli: words that were not understood are named, with the nearest that is known") {
  struct Case {
    std::vector<std::string> words{};
    std::string message{};
    std::string hint{};
  };
  for (const Case& one : std::vector<Case>{
           {{"env", "lokc", "x"}, "unknown command 'env lokc'", "did you mean 'lock'?"},
           {{"run", "--seeed", "3", "x"}, "unknown option '--seeed'", "did you mean '--seed'?"},
           {{"run", "x", "--seeed=3"}, "unknown option '--seeed'", "did you mean '--seed'?"},
           {{"run", "x", "--site", "s"}, "unknown option '--site'", "did you mean '--on'?"},
           {{"doctor", "--on", "s"}, "unknown option '--on'", "did you mean '--site'?"},
           {{"compare", "--xyzzy", "3"}, "unknown option '--xyzzy'", "'sabath compare --help'"},
           {{"run", "x", "--seeds"}, "option '--seeds' needs a value", "--seeds: "},
           {{"--quiett", "list", "runs"}, "unknown option '--quiett'", "did you mean '--quiet'?"},
           {{"compare"},
            "compare: 'a' is missing: a run (id",
            "such as 'sabath compare @last~1 @last'"},
           {{"env", "lock"}, "env lock: 'name' is missing: a recipe", "such as 'sabath env lock "},
           {{"cache"}, "cache: a command is missing", "one of ls, du"},
           {{}, "A subcommand is required", "'sabath help' lists the commands"}}) {
    Sabath sabath;
    const Answer answer = sabath(one.words);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("sabath: error: " + one.message) && Contains(one.hint));
  }
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
  const Answer list = sabath({"help"});
  CHECK(list.status == 0);
  for (const std::string& command : commands)
    CHECK_THAT(list.output, Contains("\n  " + command + " "));
  CHECK(sabath({"--version"}).status == 0);
  CHECK_FALSE(std::filesystem::exists(sabath.home()));
}

TEST_CASE("cli: help lists the topics, and shows each as text and as a man page") {
  const Sabath sabath;
  const std::string list = sabath({"help"}).output;
  for (const char* topic : {"tutorial", "verdicts", "offline"}) {
    INFO(topic);
    CHECK_THAT(list, Contains("\n  " + std::string(topic) + " "));
    CHECK_THAT(sabath({"help", topic}).output, StartsWith("# "));
    const Answer man = sabath({"help", topic, "--man"});
    CHECK(man.status == 0);
    CHECK_THAT(man.output, StartsWith(".TH sabath-" + std::string(topic) + " 7 "));
  }
  CHECK_THAT(sabath({"help", "run", "--man"}).output, StartsWith(".TH sabath-run 1 "));
  CHECK(sabath({"help", "no-such-topic", "--man"}).status == 10);
}

TEST_CASE("cli: the man page has an item for each number of a list") {
  Sabath sabath;
  const std::string man = sabath({"help", "--man"}).output;
  CHECK_THAT(man, Contains("\n.IP 1. 3\nThe kept folder of the recipe"));
  CHECK_THAT(man, Contains("\n.IP 2. 3\nRUN's commit"));
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

TEST_CASE("cli: what has only text to answer refuses --json") {
  Sabath sabath;
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"logs", "@last", "--json"},
        {"--json", "help"},
        {"help", "run", "--json"},
        {"completion", "bash", "--json"}}) {
    const Answer answer = sabath(arguments);
    INFO(arguments.front() << ": " << answer.errors);
    CHECK(answer.status == 2);
    CHECK(answer.output.empty());
    const json error = json::parse(answer.errors);
    CHECK_THAT(error["error"]["message"].get<std::string>(), Contains("has only text to answer"));
  }
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

TEST_CASE("cli: a folder beside that is meant by its name alone is suggested as one") {
  const Sabath sabath;
  std::filesystem::create_directories(sabath.folder() / "gr");
  write_text(sabath.folder() / "gr/recipe.json",
             R"({"schema": 1, "name": "gr", "stages": [{"name": "go", "run": ["true"]}]})");
  const Answer answer = sabath({"run", "gr"});
  CHECK(answer.status == 10);
  CHECK_THAT(answer.errors, Contains("recipe 'gr': not found") && Contains("./gr"));
}

TEST_CASE("cli: what is not understood is told with what to give instead") {
  const Sabath sabath;
  std::filesystem::create_directories(sabath.folder() / "results");
  const std::string folder = (sabath.folder() / "results").string();
  const auto refused = [&](const std::vector<std::string>& words,
                           int status,
                           const std::string& problem,
                           const std::string& hint) {
    const Answer answer = sabath(words);
    INFO(answer.output + answer.errors);
    CHECK(answer.status == status);
    CHECK_THAT(answer.errors, Contains(problem) && Contains(hint));
  };
  refused({"compare", "a.h5", "b.h5"}, 10, "'a.h5': no file or run is called that", "");
  write_text(sabath.folder() / "a.npy", "x");
  refused({"compare", (sabath.folder() / "a.npy").string()}, 2, "two files are needed", "b.npy");
  refused({"compare", folder, folder}, 10, "is a folder", "two files of it");
  refused({"show", "nothing"}, 10, "'nothing': no recipe, asset, run or study is called that", "");
  refused({"status", "nope"}, 10, "'nope': no run or study is called that", "");
  refused({"explain", "@last"}, 2, "two runs or selections are needed", "@last~1 @last");
  refused({"list", "runs", "tag=sw", "tag=good"}, 2, "one selection", "'tag=sw,tag=good'");
}

TEST_CASE("cli: logs of a run that is over say where there is something") {
  const Sabath sabath;
  CHECK(sabath({"run", sabath.shell_recipe("talker", "echo oops >&2; exit 1")}).status == 1);
  const Answer answer = sabath({"logs", "@last"});
  CHECK(answer.status == 0);
  CHECK_THAT(answer.errors, Contains("nothing on stdout; --stderr shows 5 B"));
  CHECK_THAT(sabath({"logs", "@last", "--stderr"}).output, Contains("oops"));

  REQUIRE(sabath({"run", sabath.shell_recipe("both", "echo fine; echo careful >&2")}).status == 0);
  const Answer both = sabath({"logs", "@last"});
  CHECK(both.output == "fine\n");
  CHECK_THAT(both.errors, Contains("stderr has 8 B, which --stderr shows"));
  CHECK(sabath({"logs", "@last", "--stderr"}).errors.empty());
}

TEST_CASE("cli: a reader that goes away is no crash, and no error") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "true"), "--repeat", "3"}).status == 0);
  const Answer answer =
      sabath.program({"/bin/sh",
                      "-c",
                      "{ sleep 0.5; \"$0\" list 2>\"$1\"; echo $? >>\"$1\"; } | true",
                      SABATH_PROGRAM,
                      "status"});
  CHECK(answer.status == 0);
  CHECK(text_of(sabath.folder() / "status") == "0\n");
  const Answer full = sabath.program({"/bin/sh", "-c", "\"$0\" list >/dev/full", SABATH_PROGRAM});
  CHECK(full.status == 16);
  CHECK_THAT(full.errors, Contains("standard output"));
  for (const char* about : {"--help", "--version", "run --help"}) {
    INFO(about);
    const std::string line = "\"$0\" " + std::string(about) + " >/dev/full";
    const Answer lost = sabath.program({"/bin/sh", "-c", line, SABATH_PROGRAM});
    CHECK(lost.status == 16);
    CHECK_THAT(lost.errors, Contains("standard output"));
  }
}

TEST_CASE("cli: an answer that goes nowhere since nothing is open there is an error") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "true")}).status == 0);
  for (const char* closed : {">&-", "<&- >&-", "<&- >&- 2>&-"}) {
    INFO(closed);
    const std::string line = "\"$0\" list runs " + std::string(closed);
    CHECK(sabath.program({"/bin/sh", "-c", line, SABATH_PROGRAM}).status == 16);
  }
  const Answer run = sabath.program({"/bin/sh",
                                     "-c",
                                     "\"$0\" run \"$1\" <&- >&- 2>&-",
                                     SABATH_PROGRAM,
                                     sabath.shell_recipe("tiny", "true")});
  CHECK(run.status == 16);
  CHECK_THAT(sabath.newest(), Contains("\"state\": \"ok\""));
  CHECK(sabath({"list", "runs"}).status == 0);
}

TEST_CASE("cli: what no document could say is refused before anything is made") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe(
      "worded", "echo {param.s}", R"({"parameters": {"s": {"type": "string", "default": "a"}}})");
  const std::vector<std::vector<std::string>> wrong{
      {"--set", "s=\xff"}, {"--sweep", "s=a,\xff"}, {"--tag", "\xff"}};
  for (const auto& options : wrong) {
    std::vector<std::string> command{"run", recipe};
    command.insert(command.end(), options.begin(), options.end());
    const Answer answer = sabath(command);
    INFO(options.front());
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("\\xff"));
  }
  CHECK(sabath.count_runs() == 0);
  CHECK(sabath({"run", recipe, "--set", "s=\xc3\xa9"}).status == 0);
}

TEST_CASE("cli: a place that no document could name is refused") {
  for (const char* variable : {"SABATH_HOME", "SABATH_CACHE", "SABATH_CONFIG"}) {
    INFO(variable);
    Sabath sabath;
    const std::string recipe = sabath.shell_recipe("tiny", "true");
    sabath.environment()[variable] = (sabath.folder() / "p\xff").string();
    for (const std::vector<std::string>& command :
         {std::vector<std::string>{"run", recipe}, {"doctor"}}) {
      const Answer answer = sabath(command);
      CHECK(answer.status == 2);
      CHECK_THAT(answer.errors, Contains(variable) && Contains("p\\xff' is not UTF-8"));
    }
    for (const auto& entry : std::filesystem::directory_iterator(sabath.folder()))
      CHECK(entry.path().filename().string().find('p') != 0);
  }
}

TEST_CASE("cli: numbers that are none are told in words") {
  const Sabath sabath;
  write_text(sabath.folder() / "a.csv", "x\n1\n");
  const std::string file = (sabath.folder() / "a.csv").string();
  const std::vector<std::vector<std::string>> wrong{{"compare", file, file, "--rtol", "nan"},
                                                    {"compare", file, file, "--atol", "inf"},
                                                    {"compare", file, file, "--rtol", "-1"},
                                                    {"list", "runs", "--limit", "-1"},
                                                    {"list", "runs", "--limit", "0"},
                                                    {"list", "runs", "--limit", "1.5"},
                                                    {"explain", "a", "b", "--time", "-1"}};
  for (const auto& command : wrong) {
    const Answer answer = sabath(command);
    INFO(command.back() + ": " + answer.errors);
    CHECK(answer.status == 2);
    CHECK_THAT(answer.errors, Contains("must be a") && Contains("not '" + command.back() + "'"));
    CHECK(answer.errors.size() < 200);
  }
  CHECK(sabath({"compare", file, file, "--rtol", "1e-3"}).status == 0);
}

TEST_CASE("cli: the first signal ends what only reads, at once") {
  const int signal = GENERATE(SIGINT, SIGTERM);
  Sabath sabath;
  // Zeros in no space, which nothing but reading can tell to be equal, for minutes.
  for (const char* name : {"a.bin", "b.bin"}) {
    write_text(sabath.folder() / name, "");
    std::filesystem::resize_file(sabath.folder() / name, std::uintmax_t{1} << 38U);
  }
  Running compare = sabath.start({"compare",
                                  (sabath.folder() / "a.bin").string(),
                                  (sabath.folder() / "b.bin").string(),
                                  "--as",
                                  "raw:float64"});
  const auto is_caught = [&] {
    const std::string status = text_of("/proc/" + std::to_string(compare.pid()) + "/status");
    const std::string key = "SigCgt:";
    const auto at = status.find(key);
    if (at == std::string::npos) return false;
    const auto caught = std::stoull(status.substr(at + key.size()), nullptr, 16);
    return (caught >> static_cast<unsigned>(signal - 1) & 1U) != 0;
  };
  REQUIRE(eventually(is_caught));
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  REQUIRE(is_alive(compare.pid()));
  const auto begin = std::chrono::steady_clock::now();
  compare.signal(signal);
  CHECK(compare.wait().status == 130);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
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

TEST_CASE("cli: without a place for the configuration only what wants one asks for it") {
  Sabath sabath;
  for (const char* variable : {"SABATH_CONFIG", "XDG_CONFIG_HOME", "HOME"})
    sabath.environment().erase(variable);
  CHECK(sabath({"list", "runs"}).status == 0);
  const Answer answer = sabath({"run", sabath.shell_recipe("tiny", "true")});
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors,
             Contains("the configuration has no place") && Contains("set SABATH_CONFIG"));
  CHECK_THAT(answer.errors, !Contains("SABATH_HOME"));
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

TEST_CASE("cli: exec of a copied run changes nothing in the first") {
  Sabath sabath;
  REQUIRE(sabath({"run", sabath.shell_recipe("tiny", "echo x >> {output}/lines")}).status == 0);
  const std::filesystem::path first = sabath.run_directories().back();
  const std::filesystem::path copy = sabath.folder() / "elsewhere" / first.filename();
  std::filesystem::create_directories(copy.parent_path());
  std::filesystem::copy(first, copy, std::filesystem::copy_options::recursive);
  std::filesystem::remove(copy / "record.json");
  const std::string before = text_of(first / "outputs/go/lines");
  const Answer answer = sabath({"exec", copy.string()});
  INFO(answer.errors);
  CHECK(answer.status == 2);
  CHECK_THAT(answer.errors, Contains("was planned as " + first.string()));
  CHECK(text_of(first / "outputs/go/lines") == before);
}

TEST_CASE("cli: a home with escape sequences in its name is shown without their doing anything") {
  Sabath sabath;
  const std::string recipe = sabath.shell_recipe("tiny", "true");
  sabath.environment()["SABATH_HOME"] = (sabath.folder() / "h\x1b[31m").string();
  for (const std::vector<std::string>& options : {std::vector<std::string>{}, {"--repeat", "2"}}) {
    std::vector<std::string> command{"run", recipe};
    command.insert(command.end(), options.begin(), options.end());
    const Answer answer = sabath(command);
    CHECK(answer.status == 0);
    CHECK_THAT(answer.output, Contains("h\\x1b[31m/") || !Contains("  in "));
    CHECK((answer.output + answer.errors).find('\x1b') == std::string::npos);
  }
}
