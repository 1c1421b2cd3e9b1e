#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process.hpp>
#include <sabath/base/text/text_table.hpp>

#include <catch2/catch.hpp>

#include <signal.h>

using namespace sabath;
using namespace sabath::base;

TEST_CASE("process: a program is found as execvp would find it") {
  const test::TempHome home;
  std::filesystem::create_directories(home / "a" / "tool");
  std::filesystem::create_directories(home / "b");
  std::filesystem::create_directories(home / "c");
  write_file_atomically(home / "b" / "tool", "", Durability::ordered_only, 0644);
  write_file_atomically(home / "c" / "tool", "", Durability::ordered_only, 0755);
  const std::string path =
      (home / "a").string() + ":" + (home / "b").string() + ":/nowhere:" + (home / "c").string();
  CHECK(find_program("tool", path) == home / "c" / "tool");
  CHECK_FALSE(find_program("other", path));
  CHECK_FALSE(find_program("", path));
  CHECK(find_program((home / "c" / "tool").string(), "") == home / "c" / "tool");
  CHECK_FALSE(find_program((home / "b" / "tool").string(), path));
  CHECK(find_program("sh"));

  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(home / "c");
  CHECK(find_program("tool", "/nowhere:") == std::filesystem::path("./tool"));
  std::filesystem::current_path(before);
}

TEST_CASE("process: a command is quoted only where a shell needs it") {
  CHECK(quote_command({"sabath", "run", "--set", "lr=0.1", "a/b.json"}) ==
        "sabath run --set lr=0.1 a/b.json");
  CHECK(quote_command({"echo", "", "a b", "it's", "$x"}) == R"(echo '' 'a b' 'it'\''s' '$x')");
  CHECK(quote_command({"A=1", "~"}) == "'A=1' '~'");
  CHECK(quote_command({}).empty());
}

TEST_CASE("process: what is quoted is what a shell reads") {
  const std::vector<std::string> words{
      "a=b", "", "new\nline", "tab\t", "*?[]", "'", "\\", "#", "ü", "!x"};
  std::vector<std::string> argv{"printf", "<%s>"};
  argv.insert(argv.end(), words.begin(), words.end());
  Command command;
  command.argv = {"/bin/sh", "-c", quote_command(argv)};
  std::string expected;
  for (const auto& word : words)
    expected += "<" + word + ">";
  CHECK(SystemProcessRunner().run(command).output == expected);
}

TEST_CASE("process: a command for people is without controls, and bash reads the same from it") {
  CHECK(shown_command({"x", "--set", "m=two\nlines"}) == "x --set $'m=two\\nlines'");
  CHECK(shown_command({"x", "a b", "it's", ""}) == quote_command({"x", "a b", "it's", ""}));
  const std::vector<std::string> words{"m=two\nlines",
                                       "tab\tit's",
                                       "\x1b[31m1",
                                       "back\\slash\n",
                                       "\xff",
                                       "left\xe2\x80\xae right",
                                       "ü\n",
                                       "$x\n`x`"};
  std::vector<std::string> argv{"printf", "<%s>"};
  argv.insert(argv.end(), words.begin(), words.end());
  const std::string shown = shown_command(argv);
  CHECK(printable(shown) == shown);
  Command command;
  command.argv = {"bash", "-c", shown};
  std::string expected;
  for (const auto& word : words)
    expected += "<" + word + ">";
  CHECK(SystemProcessRunner().run(command).output == expected);
}

TEST_CASE("process: signals have names") {
  CHECK(signal_name(SIGSEGV) == "SIGSEGV");
  CHECK(signal_name(SIGKILL) == "SIGKILL");
  CHECK(signal_name(SIGRTMIN + 2) == "SIGRTMIN+2");
  CHECK(signal_name(4711) == "4711");
}

TEST_CASE("process: a result is described for people") {
  ProcessResult result;
  result.end = ProcessEnd::timed_out;
  result.limit = std::chrono::seconds(10);
  CHECK(result.describe() == "ran past its limit of 10.0 s and was ended");
  result.end = ProcessEnd::too_loud;
  result.error_bytes = 2048;
  result.leftovers = 3;
  CHECK(result.describe() ==
        "wrote more than its limit (2.0 KiB by then) and was ended; 3 processes that it left "
        "behind were "
        "killed");
}
