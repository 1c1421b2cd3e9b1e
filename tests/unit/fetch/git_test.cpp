// The real git and git-lfs, from repositories of this machine.

#include "support/errors.hpp"
#include "support/lent_file.hpp"
#include "support/programs.hpp"
#include "support/recording_observer.hpp"
#include "support/variables.hpp"
#include "tool_case.hpp"

#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
namespace fs = std::filesystem;

namespace {

/// A home without settings of the user's, with repositories.
struct Repositories {
  test::TempHome home{};
  test::Variables variables{{{"HOME", home.path().string()},
                             {"GIT_AUTHOR_NAME", "a"},
                             {"GIT_AUTHOR_EMAIL", "a@example.org"},
                             {"GIT_COMMITTER_NAME", "a"},
                             {"GIT_COMMITTER_EMAIL", "a@example.org"},
                             {"GIT_ALLOW_PROTOCOL", "file"}}};
  test::Tools tools{};
  test::RecordingObserver observer{};

  /// Runs lines of shell in a folder of the home, made where it is not there; the last line said.
  std::string shell(const std::string& folder, const std::string& lines) const {
    fs::create_directories(home / folder);
    auto command = test::shell("set -e\n" + lines);
    command.working_directory = home / folder;
    const auto result = base::SystemProcessRunner().run(command);
    INFO(result.errors);
    REQUIRE(result.ok());
    std::string text = result.output;
    while (text.ends_with('\n'))
      text.pop_back();
    return text.substr(text.find_last_of('\n') + 1);
  }
  std::string url(const std::string& folder, const std::string& commit) const {
    return "git+file://" + (home / folder).string() + "@" + commit;
  }
  fetch::Outcome fetch(const std::string& url, const fs::path& folder) {
    fs::create_directories(folder);
    return tools.get("git").fetch_tree(url, folder, observer, {});
  }
};

const std::string first = R"(git init -q -b main .
echo one > a.txt
mkdir -p deep
echo two > deep/b.txt
git add .
git commit -q -m first
git rev-parse HEAD)";

}  // namespace

TEST_CASE("tools: git brings the tree of one commit, without its repository") {
  Repositories all;
  const auto commit = all.shell("r", first);
  all.shell("r", "echo later > a.txt; git commit -q -a -m second");
  const auto folder = all.home / "tree";
  fs::create_directories(folder);
  base::write_file_atomically(folder / "left-over", "x", base::Durability::ordered_only);
  const auto outcome = all.fetch(all.url("r", commit), folder);
  CHECK(outcome.problem == "");
  CHECK(outcome.ok);
  CHECK(base::read_file(folder / "a.txt") == "one\n");
  CHECK(base::read_file(folder / "deep/b.txt") == "two\n");
  CHECK_FALSE(fs::exists(folder / ".git"));
  CHECK_FALSE(fs::exists(folder / "left-over"));
  CHECK(outcome.bytes == 8);
}

TEST_CASE("tools: git wants a commit, and says when there is none") {
  Repositories all;
  all.shell("r", first);
  const auto folder = all.home / "tree";
  const auto branch = all.fetch("git+file://" + (all.home / "r").string() + "@main", folder);
  CHECK(branch.problem == "no commit is named");
  const auto unknown = all.fetch(all.url("r", std::string(40, 'a')), folder);
  CHECK(unknown.not_found);
  CHECK_THAT(unknown.problem, Catch::Contains("has no commit aaaa"));
  CHECK(all.fetch(all.url("nowhere", std::string(40, 'a')), folder).not_found);
  test::LentFile to;
  CHECK(all.tools.get("git").names_many("git+https://h/r@x"));
  CHECK_FALSE(all.tools.get("git").fetch({all.url("r", "x")}, {}, to, all.observer, {}).ok);
}

TEST_CASE("tools: git+file is the user's own, not a stranger's") {
  Repositories all;
  all.tools.allow_file = false;
  const auto commit = all.shell("r", first);
  const auto outcome = all.fetch(all.url("r", commit), all.home / "tree");
  CHECK(outcome.problem == "git+file: sources are not allowed here");
}

TEST_CASE("tools: git brings submodules, and no other protocol than the one asked for") {
  Repositories all;
  all.shell("inner", first);
  const auto commit = all.shell(
      "outer",
      first + "\ngit -c protocol.file.allow=always submodule --quiet add " +
          (all.home / "inner").string() + " sub\ngit commit -q -m sub\ngit rev-parse HEAD");
  const auto folder = all.home / "tree";
  const auto outcome = all.fetch(all.url("outer", commit), folder);
  CHECK(outcome.problem == "");
  CHECK(base::read_file(folder / "sub/deep/b.txt") == "two\n");
  CHECK_FALSE(fs::exists(folder / "sub/.git"));

  const auto hostile = all.shell("outer",
                                 "git config -f .gitmodules submodule.sub.url "
                                 "'ext::sh -c touch% " +
                                     (all.home / "executed").string() +
                                     "'\ngit commit -q -a -m hostile\ngit rev-parse HEAD");
  const auto refused = all.fetch(all.url("outer", hostile), folder);
  CHECK_FALSE(refused.ok);
  CHECK_THAT(refused.problem, Catch::Contains("a submodule could not be fetched"));
  CHECK_FALSE(fs::exists(all.home / "executed"));
}

TEST_CASE("tools: git runs no hook and no filter of the user's on a stranger's files") {
  Repositories all;
  const std::string executed = (all.home / "executed").string();
  all.shell(".",
            "git config --global filter.mine.smudge 'touch " + executed +
                "; cat'\ngit config --global core.hooksPath " + (all.home / "hooks").string());
  all.shell(
      "hooks",
      "printf '#!/bin/sh\\ntouch " + executed + "\\n' > post-checkout; chmod +x post-checkout");
  const auto commit = all.shell("r",
                                "git init -q -b main .\necho '*.txt filter=mine' > .gitattributes\n"
                                "echo one > a.txt\ngit -c core.hooksPath=/dev/null add .\n"
                                "git commit -q -m x\ngit rev-parse HEAD");
  fs::remove(executed);
  const auto outcome = all.fetch(all.url("r", commit), all.home / "tree");
  CHECK(outcome.problem == "");
  CHECK(base::read_file(all.home / "tree/a.txt") == "one\n");
  CHECK_FALSE(fs::exists(executed));
}

TEST_CASE("tools: git brings what LFS holds") {
  Repositories all;
  const auto commit = all.shell("r",
                                "git init -q -b main .\ngit lfs install --local > /dev/null\n"
                                "git lfs track '*.bin' > /dev/null\nprintf 0123456789 > big.bin\n"
                                "git add .\ngit commit -q -m lfs\ngit rev-parse HEAD");
  const auto folder = all.home / "tree";
  const auto outcome = all.fetch(all.url("r", commit), folder);
  CHECK(outcome.problem == "");
  CHECK(base::read_file(folder / "big.bin") == "0123456789");
  CHECK_FALSE(fs::exists(folder / ".git"));
}
