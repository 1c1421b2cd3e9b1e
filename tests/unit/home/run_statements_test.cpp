// What is said of runs later: by many at once, by killed processes, in damaged files.
#include "support/child.hpp"
#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/home/run_statements.hpp>

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include <sys/stat.h>

using namespace sabath;
using test::contains;
using test::error_of;
using Kind = home::RunStatement::Kind;
namespace fs = std::filesystem;

namespace {

constexpr const char* now = "2026-11-27T05:30:00.000Z";

std::vector<std::string> texts_of(const std::vector<home::RunStatement>& statements) {
  std::vector<std::string> texts;
  for (const home::RunStatement& one : statements)
    texts.push_back(one.text);
  return texts;
}

std::vector<std::string> files_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder))
    names.push_back(entry.path().filename().string());
  return names;
}

}  // namespace

TEST_CASE(
    "run statements: what was said is read in its order, and the newest word on a tag holds") {
  const test::TempHome run;
  CHECK(home::read_statements(run.path()).empty());
  home::add_statement(run.path(), Kind::tag, "good", now);
  home::add_statement(run.path(), Kind::note, "two\nlines \xc3\xa9", now);
  home::add_statement(run.path(), Kind::untag, "ci", "1999-01-01T00:00:00.000Z");
  const auto said = home::read_statements(run.path());
  CHECK(texts_of(said) == std::vector<std::string>{"good", "two\nlines \xc3\xa9", "ci"});
  CHECK(contains(said[0].by, "@"));
  CHECK(said[0].at == now);
  CHECK(home::current_tags({"ci", "old"}, said) == std::vector<std::string>{"old", "good"});
  // Neither its clock nor its tag of before counts: the greatest number does.
  home::add_statement(run.path(), Kind::untag, "good", "1999-01-01T00:00:00.000Z");
  CHECK(home::current_tags({"ci"}, home::read_statements(run.path())).empty());
  home::add_statement(run.path(), Kind::tag, "good", now);
  home::add_statement(run.path(), Kind::tag, "good", now);
  CHECK(home::current_tags({}, home::read_statements(run.path())) ==
        std::vector<std::string>{"good"});
}

TEST_CASE("run statements: reserved tags change nothing, even where a file has them") {
  const std::vector<home::RunStatement> forged{{1, now, "eve@x", Kind::tag, "asset:mnist"},
                                               {2, now, "eve@x", Kind::untag, "explain"}};
  CHECK(home::current_tags({"explain"}, forged) == std::vector<std::string>{"explain"});
}

TEST_CASE("run statements: of 64 processes at once each has its say") {
  const test::TempHome run;
  {
    std::vector<test::Child> writers;
    for (int i = 0; i < 64; ++i) {
      writers.emplace_back([&run, i]() -> std::string {
        for (int j = 0; j < 3; ++j)
          home::add_statement(
              run.path(), Kind::tag, std::to_string(i) + "-" + std::to_string(j), now);
        return "";
      });
    }
    for (test::Child& writer : writers)
      CHECK(writer.wait() == "");
  }
  std::vector<std::string> problems;
  const auto said = home::read_statements(
      run.path(), [&](const std::string& problem) { problems.push_back(problem); });
  CHECK(problems.empty());
  REQUIRE(said.size() == 64 * 3);
  const auto texts = texts_of(said);
  CHECK(std::set(texts.begin(), texts.end()).size() == said.size());
  CHECK(said.back().number == 64 * 3);
}

TEST_CASE("run statements: a killed process leaves whole statements only") {
  const test::TempHome run;
  for (int kills = 0; kills < 12; ++kills) {
    test::Child writer([&]() -> std::string {
      for (int i = 0;; ++i)
        home::add_statement(run.path(), Kind::note, std::string(20'000, 'x'), now);
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + kills * 3));
    writer.kill();
    CHECK(writer.wait() == "killed");
  }
  std::vector<std::string> problems;
  const auto said = home::read_statements(
      run.path(), [&](const std::string& problem) { problems.push_back(problem); });
  CHECK(problems.empty());
  REQUIRE(!said.empty());
  CHECK(std::ranges::all_of(said, [](const auto& one) { return one.text.size() == 20'000; }));
  home::add_statement(run.path(), Kind::tag, "after", now);
  CHECK(home::read_statements(run.path()).back().text == "after");
}

TEST_CASE("run statements: a damaged file is reported with its place and hides no other") {
  const test::TempHome run;
  for (const char* const tag : {"a", "b", "c"})
    home::add_statement(run.path(), Kind::tag, tag, now);
  const fs::path damaged = run / "said/2.json";
  const auto write = [&](const std::string& text) {
    fs::remove(damaged);
    base::write_file_atomically(damaged, text);
  };
  for (const std::string text : {R"({"schema": 1, "at": "x", )",
                                 R"({"schema": 1, "at": "x", "by": "y"})",
                                 R"({"schema": 1, "at": "x", "by": "y", "tag": "a", "note": "b"})",
                                 "\xff\xfe"}) {
    write(text);
    std::vector<std::string> problems;
    const auto said = home::read_statements(
        run.path(), [&](const std::string& problem) { problems.push_back(problem); });
    CHECK(texts_of(said) == std::vector<std::string>{"a", "c"});
    REQUIRE(problems.size() == 1);
    CHECK(contains(problems.front(), damaged.string()));
  }
  write(std::string(1U << 20U, ' '));
  CHECK(home::read_statements(run.path()).size() == 2);
  fs::remove(damaged);
  fs::create_symlink("/etc/passwd", damaged);
  CHECK(home::read_statements(run.path()).size() == 2);
  base::write_file_atomically(run / "said/notes.txt", "not a statement");
  CHECK(home::read_statements(run.path()).size() == 2);
}

TEST_CASE("run statements: two folders of one run are merged without doubles") {
  const test::TempHome folder;
  base::make_directories(folder / "a");
  base::make_directories(folder / "b");
  home::add_statement(folder / "a", Kind::tag, "both", now);
  home::merge_statements(folder / "a", folder / "b");
  home::add_statement(folder / "a", Kind::tag, "late", now);
  home::merge_statements(folder / "a", folder / "b");
  home::merge_statements(folder / "a", folder / "b");
  CHECK(texts_of(home::read_statements(folder / "b")) == std::vector<std::string>{"both", "late"});
  CHECK(files_in(folder / "b/said").size() == 2);
}

TEST_CASE("run statements: files that cannot be read are merged as they are, or named") {
  const test::TempHome folder;
  base::make_directories(folder / "a/said");
  base::make_directories(folder / "b/said");
  const auto write = [&](const std::string& name, const std::string& text) {
    base::write_file_atomically(folder / name, text);
  };
  write("a/said/1.json", "{");
  write("a/said/notes.txt", "mine");
  home::merge_statements(folder / "a", folder / "b");
  home::merge_statements(folder / "a", folder / "b");
  CHECK(files_in(folder / "b/said").size() == 2);
  CHECK(base::read_file(folder / "b/said/1.json") == "{");
  write("a/said/notes.txt", "mine, changed");
  CHECK(contains(error_of([&] { home::merge_statements(folder / "a", folder / "b"); }).what(),
                 (folder / "b/said/notes.txt").string()));
  CHECK(base::read_file(folder / "b/said/notes.txt") == "mine");
  fs::remove(folder / "a/said/notes.txt");
  base::make_directories(folder / "a/said/folder");
  CHECK(contains(error_of([&] { home::merge_statements(folder / "a", folder / "b"); }).what(),
                 "said/folder"));
}

TEST_CASE("run statements: a folder that others can write to is refused with its owner") {
  const test::TempHome run;
  fs::permissions(run.path(), fs::perms(0777));
  const base::Error error =
      error_of([&] { home::add_statement(run.path(), Kind::tag, "good", now); });
  CHECK(error.kind() == base::ErrorKind::storage);
  CHECK(contains(error.what(), "belongs to"));
  CHECK(contains(error.hint(), "chmod go-w"));
  CHECK_FALSE(fs::exists(run / "said"));
  fs::permissions(run.path(), fs::perms(0755));
  if (::geteuid() != 0) return;
  // Another user's: nobody asks for root's.
  const int status = test::status_as_ordinary_user([&] {
    try {
      home::add_statement(run.path(), Kind::tag, "good", now);
    } catch (const base::Error& failure) {
      return contains(failure.what(), "belongs to root") ? 7 : 8;
    }
    return 9;
  });
  CHECK(WEXITSTATUS(status) == 7);
}

TEST_CASE("run statements: what is no tag or no note is refused") {
  for (const std::string tag : {"good", "figure 2", "hybrid-model", "\xc3\xa9t\xc3\xa9"})
    CHECK_NOTHROW(home::check_tag(tag));
  const std::string secret = "ghp_" + std::string(36, 'a');
  for (const std::string& tag : {std::string(),
                                 std::string(" "),
                                 std::string("a,b"),
                                 std::string("a*"),
                                 std::string("two\nlines"),
                                 std::string("\xff"),
                                 std::string(129, 'a'),
                                 std::string("asset:mnist"),
                                 std::string("task:infer"),
                                 std::string("explain"),
                                 std::string("hybrid-0123456789abcdef"),
                                 secret}) {
    INFO(tag);
    CHECK(error_of([&] { home::check_tag(tag); }).kind() == base::ErrorKind::usage);
  }
  CHECK_NOTHROW(home::check_note("warm-up too short\nsee issue 12"));
  CHECK_NOTHROW(home::check_note(std::string(64U << 10U, 'a')));
  for (const std::string& note : {std::string(),
                                  std::string(" \n"),
                                  std::string((64U << 10U) + 1, 'a'),
                                  std::string("a\0b", 3),
                                  std::string("\xff"),
                                  "the token is " + secret})
    CHECK(error_of([&] { home::check_note(note); }).kind() == base::ErrorKind::usage);
  CHECK_FALSE(contains(error_of([&] { home::check_note(secret); }).what(), secret));
}
