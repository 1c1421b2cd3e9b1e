// A repetition has the code that the run had, or there is none.
#include "support/answers.hpp"

#include <sabath/probe/host_probe.hpp>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <chrono>
#include <thread>

using namespace sabath::test;
using Catch::Contains;
using nlohmann::json;
namespace fs = std::filesystem;

namespace {

constexpr std::size_t too_large = 5U << 20U;

void git(const Sabath& sabath, const fs::path& folder, std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(),
                   {"git",
                    "-C",
                    folder.string(),
                    "-c",
                    "user.name=ada",
                    "-c",
                    "user.email=ada@example.org",
                    "-c",
                    "protocol.file.allow=always"});
  const Answer answer = sabath.program(arguments);
  INFO(answer.errors);
  REQUIRE(answer.status == 0);
}

void commit_all(const Sabath& sabath, const fs::path& folder, const std::string& words) {
  git(sabath, folder, {"add", "."});
  git(sabath, folder, {"commit", "-q", "-m", words});
}

/// In its own folder of the repository "work": a recipe whose output is what `line` prints.
fs::path recipe(const Sabath& sabath, const std::string& line) {
  const fs::path folder = sabath.folder() / "work/recipes/coded";
  fs::create_directories(folder / "code");
  const json document = {
      {"schema", 1},
      {"name", "coded"},
      {"environment", {{"layers", json::array()}}},
      {"stages",
       {{{"name", "go"}, {"run", {{"shell", line + " > {output}/out"}}}, {"outputs", {"out"}}}}}};
  write_text(folder / "recipe.json", document.dump());
  write_text(folder / "code/train.sh", "echo one\n");
  return folder;
}

/// A repository "NAME" with a script, and with the repository `within` as a submodule that it
/// ignores.
fs::path make_library(const Sabath& sabath,
                      const std::string& name,
                      const std::string& within = {}) {
  const fs::path library = sabath.folder() / name;
  fs::create_directories(library);
  write_text(library / "lib.sh", "echo library\n");
  git(sabath, library, {"init", "-q"});
  if (!within.empty()) {
    const std::string inner = (sabath.folder() / within).string();
    git(sabath, library, {"submodule", "--quiet", "add", inner, "inner"});
    git(sabath, library, {"config", "-f", ".gitmodules", "submodule.inner.ignore", "all"});
  }
  commit_all(sabath, library, "first");
  return library;
}

/// The repository "work" of a recipe's folder that is too large to be kept, with `library` in its
/// "lib".
void commit_with_submodule(const Sabath& sabath, const fs::path& folder, const fs::path& library) {
  const fs::path top = sabath.folder() / "work";
  write_text(folder / "data.bin", std::string(too_large, 'x'));
  git(sabath, top, {"init", "-q"});
  git(sabath, top, {"submodule", "--quiet", "add", library.string(), "recipes/coded/lib"});
  git(sabath, top, {"submodule", "--quiet", "update", "--init", "--recursive"});
  commit_all(sabath, top, "first");
}

std::string output_of_newest(const Sabath& sabath) {
  return text_of(sabath.run_directories().back() / "outputs/go/out");
}

}  // namespace

TEST_CASE("repro: code that was too large to be kept comes from its commit, with its diff") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "(sh {code}/train.sh; cat {code}/more.sh)");
  const fs::path top = sabath.folder() / "work";
  write_text(folder / "data.bin", std::string(too_large, 'x'));
  const std::string kind = GENERATE("clean", "changed", "untracked");
  if (kind != "untracked") write_text(folder / "code/more.sh", "");
  git(sabath, top, {"init", "-q"});
  commit_all(sabath, top, "first");
  std::string expected = "one\n";
  if (kind == "changed") {
    write_text(folder / "code/train.sh", "echo two\n");
    write_text(folder / "code/blob", std::string("\0\1\2", 3));
    git(sabath, top, {"add", "-N", "."});
    expected = "two\n";
  }
  if (kind == "untracked") {
    write_text(folder / "code/more.sh", "three\n");
    expected = "one\nthree\n";
  }
  done(sabath, {"run", folder.string()});
  CHECK(output_of_newest(sabath) == expected);
  const json state = json::parse(sabath.newest())["code_state"];
  CHECK_THAT(state["not_kept"].get<std::string>(), Contains("4 MiB"));
  CHECK(state["tree"].get<std::string>().starts_with("sha256:"));
  CHECK(state.contains("untracked") == (kind == "untracked"));
  // As people go on working.
  write_text(folder / "code/train.sh", "echo later; exit 9\n");
  commit_all(sabath, top, "later");
  const Answer answer = done(sabath, {"repro", "@last", "--require", "bitwise"});
  CHECK_THAT(answer.output, Contains("PASS"));
  CHECK(output_of_newest(sabath) == expected);
  CHECK(text_of(folder / "code/train.sh") == "echo later; exit 9\n");
  CHECK(fs::is_empty(sabath.home() / "state/repro"));
  // Its folder is gone: what it repeated says where the repository is.
  done(sabath, {"repro", "@last", "--require", "bitwise"});
}

TEST_CASE("repro: what a submodule had changed is part of the code") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "sh {recipe}/lib/lib.sh");
  commit_with_submodule(sabath, folder, make_library(sabath, "library"));
  write_text(folder / "lib/lib.sh", "echo changed\n");
  done(sabath, {"run", folder.string()});
  CHECK(output_of_newest(sabath) == "changed\n");
  write_text(folder / "lib/lib.sh", "echo later\n");
  const Answer answer = done(sabath, {"repro", "@last", "--require", "bitwise"});
  CHECK_THAT(answer.output, Contains("PASS"));
  CHECK(output_of_newest(sabath) == "changed\n");
}

TEST_CASE("repro: code that git was told not to look at is recorded as changed, and comes back") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "(sh {recipe}/lib/lib.sh; sh {code}/train.sh)");
  const fs::path top = sabath.folder() / "work";
  write_text(top / "left out.sh", "echo never there\n");
  commit_with_submodule(sabath, folder, make_library(sabath, "library"));
  fs::path changed = folder / "lib/lib.sh";
  std::string expected = "changed\none\n";
  json dirty = {"M recipes/coded/lib"};
  SECTION("a submodule that is ignored by the repository") {
    git(sabath, top, {"config", "-f", ".gitmodules", "submodule.recipes/coded/lib.ignore", "all"});
    commit_all(sabath, top, "ignored");
  }
  SECTION("a submodule that is ignored by the user") {
    git(sabath, top, {"config", "submodule.recipes/coded/lib.ignore", "dirty"});
    git(sabath, top, {"config", "diff.ignoreSubmodules", "all"});
  }
  bool waits = false;
  SECTION("a file of a submodule that is assumed to be unchanged") {
    waits = true;
    git(sabath, folder / "lib", {"update-index", "--assume-unchanged", "lib.sh"});
  }
  SECTION("a file that is assumed to be unchanged, or whose work tree is skipped") {
    const std::string mark = GENERATE("--assume-unchanged", "--skip-worktree");
    git(sabath, top, {"update-index", mark, "recipes/coded/code/train.sh"});
    // As a sparse checkout does: no change.
    git(sabath, top, {"update-index", "--skip-worktree", "left out.sh"});
    fs::remove(top / "left out.sh");
    changed = folder / "code/train.sh";
    expected = "library\nchanged\n";
    dirty = {"M recipes/coded/code/train.sh"};
  }
  write_text(changed, "echo changed\n");
  // To git, which looks at seconds, a file as large as before that changed in the second of its
  // index is another one only as long as the index is known to be of that second.
  if (waits) std::this_thread::sleep_for(std::chrono::milliseconds(1100));
  const std::string index = text_of(top / ".git/index");
  done(sabath, {"run", folder.string()});
  CHECK(text_of(top / ".git/index") == index);
  CHECK(output_of_newest(sabath) == expected);
  const json state = json::parse(sabath.newest())["code_state"]["git"];
  CHECK(state["dirty"] == dirty);
  CHECK(state["diff"] == "code.diff");
  write_text(changed, "echo later\n");
  CHECK_THAT(done(sabath, {"repro", "@last", "--require", "bitwise"}).output, Contains("PASS"));
  CHECK(output_of_newest(sabath) == expected);
}

TEST_CASE("repro: a submodule of a submodule is looked at, whatever its parent ignores") {
  Sabath sabath;
  make_library(sabath, "inner");
  const fs::path outer = make_library(sabath, "outer", "inner");
  const fs::path folder = recipe(sabath, "sh {recipe}/lib/inner/lib.sh");
  commit_with_submodule(sabath, folder, outer);
  write_text(folder / "lib/inner/lib.sh", "echo changed\n");
  done(sabath, {"run", folder.string()});
  CHECK(json::parse(sabath.newest())["code_state"]["git"]["dirty"] ==
        json{"M recipes/coded/lib/inner"});
  write_text(folder / "lib/inner/lib.sh", "echo later\n");
  CHECK_THAT(done(sabath, {"repro", "@last", "--require", "bitwise"}).output, Contains("PASS"));
  CHECK(output_of_newest(sabath) == "changed\n");
}

TEST_CASE("cli: a file that was renamed and edited is told as renamed, a new one as added") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "sh {code}/train.sh");
  const fs::path top = sabath.folder() / "work";
  write_text(folder / "code/old.txt", std::string(200, 'a') + "\nb\nc\nd\n");
  git(sabath, top, {"init", "-q"});
  commit_all(sabath, top, "first");
  git(sabath, folder, {"mv", "code/old.txt", "code/new.txt"});
  write_text(folder / "code/new.txt", std::string(200, 'a') + "\nb\nc\ne\n");
  write_text(folder / "code/more.sh", "one\n");
  git(sabath, folder, {"add", "code/more.sh"});
  write_text(folder / "code/more.sh", "two\n");
  done(sabath, {"run", folder.string()});
  CHECK(json::parse(sabath.newest())["code_state"]["git"]["dirty"] ==
        json{"A recipes/coded/code/more.sh", "R recipes/coded/code/new.txt"});
}

TEST_CASE("repro: code beside the recipe's folder is told apart, and comes with its commit") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "sh {recipe}/../train.sh");
  const fs::path outer = folder.parent_path() / "train.sh";
  const fs::path top = sabath.folder() / "work";
  write_text(outer, "echo one\n");
  const bool has_git = GENERATE(true, false);
  if (has_git) {
    git(sabath, top, {"init", "-q"});
    commit_all(sabath, top, "first");
  }
  done(sabath, {"run", folder.string(), "--seed", "1"});
  if (!has_git) CHECK_THAT(done(sabath, {"repro", "@last"}).output, Contains("PASS"));
  write_text(outer, "echo two\n");
  const Answer again = sabath({"repro", "@last", "--require", "bitwise"});
  if (has_git) {
    INFO(again.output + again.errors);
    CHECK(again.status == 0);
    CHECK(output_of_newest(sabath) == "one\n");
  } else {
    CHECK(again.status == 11);
    CHECK_THAT(again.errors, Contains("train.sh") && Contains("not what it was"));
  }
  done(sabath, {"run", folder.string(), "--seed", "1"});
  const Answer compared = sabath({"compare", "@last~1", "@last"});
  CHECK(compared.status == 1);
  CHECK_THAT(compared.output, Contains("train.sh") && Contains("the changed code"));
}

TEST_CASE("repro: a log that the command names by its path is no code, a script is") {
  Sabath sabath;
  const std::string log = (sabath.folder() / "train.log").string();
  const std::string script = (sabath.folder() / "more.sh").string();
  write_text(script, "echo more\n");
  write_text(log, "");
  const fs::path folder = recipe(sabath, "sh {code}/train.sh | tee -a " + log + "; sh " + script);
  done(sabath, {"run", folder.string(), "--seed", "1"});
  done(sabath, {"run", folder.string(), "--seed", "1"});
  CHECK(done(sabath, {"compare", "@last~1", "@last"}).output.find("train.log") ==
        std::string::npos);
  CHECK_THAT(done(sabath, {"repro", "@last", "--require", "bitwise"}).output, Contains("PASS"));
  write_text(script, "echo other\n");
  done(sabath, {"run", folder.string(), "--seed", "1"});
  const Answer compared = sabath({"compare", "@last~2", "@last"});
  CHECK(compared.status == 1);
  CHECK_THAT(compared.output, Contains("more.sh") && Contains("the changed code"));
}

TEST_CASE("cli: a file of data that a command names is told apart by its bytes") {
  Sabath sabath;
  const fs::path data = sabath.folder() / "data.txt";
  const fs::path folder = recipe(sabath, "cat " + data.string());
  const auto run_with = [&](const std::string& text) {
    write_text(data, text);
    done(sabath, {"run", folder.string(), "--seed", "1"});
  };
  run_with("one");
  run_with("one");
  CHECK_THAT(done(sabath, {"compare", "@last~1", "@last"}).output, Contains("nothing differs"));
  run_with("two");
  const Answer compared = sabath({"compare", "@last~1", "@last"});
  CHECK(compared.status == 1);
  CHECK_THAT(
      compared.output,
      Contains("code: file " + data.string()) && !Contains("nothing that is recorded differs"));
}

TEST_CASE(
    "repro: code that is nowhere any more is refused, and that of today is used only unchanged") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "sh {code}/train.sh");
  write_text(folder / "data.bin", std::string(too_large, 'x'));
  done(sabath, {"run", folder.string()});
  done(sabath, {"repro", "@last", "--require", "bitwise"});
  SECTION("it was changed") {
    write_text(folder / "code/train.sh", "echo two\n");
    const Answer answer = sabath({"repro", "@last"});
    CHECK(answer.status == 11);
    CHECK_THAT(answer.errors, Contains("is not what the run was made from any more"));
    CHECK(sabath.count_runs() == 2);
  }
  SECTION("it is gone") {
    fs::remove_all(folder);
    CHECK(sabath({"repro", "@last"}).status == 10);
  }
}

TEST_CASE("repro: has as many cores, and the variables that choose among ways to compute") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "(echo $OMP_NUM_THREADS $KMP_AFFINITY; nproc)");
  SECTION("variables") {
    sabath.environment()["OMP_NUM_THREADS"] = "1";
    done(sabath, {"run", folder.string()});
    const std::string again = json::parse(sabath.newest())["reproduce"];
    CHECK_THAT(
        again,
        Catch::StartsWith("env ") && Contains(" OMP_NUM_THREADS=1 ") && Contains(" sabath run "));
    sabath.environment().erase("OMP_NUM_THREADS");
    sabath.environment()["KMP_AFFINITY"] = "compact";
    const Answer answer = done(sabath, {"repro", "@last", "--require", "bitwise"});
    CHECK_THAT(answer.output, Contains("PASS") && Contains("nothing differs"));
  }
  SECTION("cores") {
    if (sabath::probe::usable_cores().size() < 2) {
      WARN("one core: nothing to give a part of");
      return;
    }
    done(sabath, {"run", folder.string(), "--seeds", "1,2", "--jobs", "2"});
    const Answer answer = done(sabath, {"repro", "@last", "--require", "bitwise"});
    CHECK_THAT(answer.output, Contains("PASS") && Contains("nothing differs"));
  }
}

TEST_CASE("repro: a diff of the code that is gone is named") {
  Sabath sabath;
  const fs::path folder = recipe(sabath, "sh {code}/train.sh");
  const fs::path top = sabath.folder() / "work";
  write_text(folder / "data.bin", std::string(too_large, 'x'));
  git(sabath, top, {"init", "-q"});
  commit_all(sabath, top, "first");
  write_text(folder / "code/train.sh", "echo two\n");
  done(sabath, {"run", folder.string()});
  REQUIRE(fs::remove(sabath.run_directories().back() / "code.diff"));
  write_text(folder / "code/train.sh", "echo later\n");
  const Answer answer = sabath({"repro", "@last"});
  INFO(answer.errors);
  CHECK(answer.status == 11);
  CHECK_THAT(answer.errors, Contains("code.diff: cannot be read"));
}
