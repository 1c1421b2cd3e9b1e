#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/tree_digest.hpp>

#include <fstream>

using namespace sabath;
using base::tree_digest;
namespace fs = std::filesystem;

namespace {

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
}

/// A small folder of code.
void fill(const fs::path& folder) {
  write(folder / "main.py", "print(1)");
  write(folder / "lib" / "a.py", "a");
  fs::create_symlink("main.py", folder / "link");
}

}  // namespace

TEST_CASE("tree digest: equal folders have one digest, wherever and in whatever order made") {
  const test::TempHome home;
  fill(home / "one");
  fs::create_symlink("main.py", [&] {
    fs::create_directories(home / "two");
    return home / "two" / "link";
  }());
  write(home / "two" / "lib" / "a.py", "a");
  write(home / "two" / "main.py", "print(1)");
  const base::Digest digest = tree_digest(home / "one");
  CHECK(tree_digest(home / "two") == digest);
  CHECK(tree_digest((home / "one").string() + "/") == digest);
  CHECK(tree_digest(home / "one" / "lib" / "..") == digest);
}

TEST_CASE("tree digest: it is sha256 over kind, content and path, in the order of paths") {
  const test::TempHome home;
  write(home / "x" / "b", "2");
  write(home / "x" / "a", "1");
  using namespace std::string_literals;
  const std::string text =
      "f"s + base::sha256_of("1").hex + "\0a\0"s + "f"s + base::sha256_of("2").hex + "\0b\0"s;
  CHECK(tree_digest(home / "x") == base::sha256_of(text));
}

TEST_CASE("tree digest: any change of content, name, kind or executable bit changes it") {
  const test::TempHome home;
  const fs::path folder = home / "x";
  fill(folder);
  const base::Digest before = tree_digest(folder);
  SECTION("content") {
    write(folder / "main.py", "print(2)");
  }
  SECTION("a name") {
    fs::rename(folder / "main.py", folder / "main2.py");
  }
  SECTION("a folder") {
    fs::rename(folder / "lib", folder / "lib2");
  }
  SECTION("a new file, even an empty one") {
    write(folder / "empty", "");
  }
  SECTION("one file less") {
    fs::remove(folder / "lib" / "a.py");
  }
  SECTION("the executable bit") {
    fs::permissions(folder / "main.py", fs::perms::owner_exec, fs::perm_options::add);
  }
  SECTION("where a link points") {
    fs::remove(folder / "link");
    fs::create_symlink("lib", folder / "link");
  }
  SECTION("a link instead of its target") {
    fs::remove(folder / "link");
    write(folder / "link", "print(1)");
  }
  CHECK(tree_digest(folder) != before);
}

TEST_CASE("tree digest: version control, caches, empty folders, times and pipes do not count") {
  const test::TempHome home;
  const fs::path folder = home / "x";
  fill(folder);
  const base::Digest before = tree_digest(folder);
  write(folder / ".git" / "HEAD", "ref");
  write(folder / "lib" / "__pycache__" / "a.pyc", "x");
  write(folder / "lib" / ".git", "gitdir: elsewhere");
  fs::create_directory(folder / "empty");
  fs::last_write_time(folder / "main.py", fs::file_time_type::min() + std::chrono::hours(1));
  fs::permissions(folder / "main.py", fs::perms::group_write, fs::perm_options::add);
  CHECK(tree_digest(folder) == before);
}

TEST_CASE("tree digest: links are neither followed out of the folder nor around in it") {
  const test::TempHome home;
  fill(home / "x");
  write(home / "outside" / "secret", "1");
  fs::create_symlink(home / "outside", home / "x" / "out");
  fs::create_symlink(".", home / "x" / "lib" / "round");
  fs::create_symlink("nowhere", home / "x" / "dangling");
  const base::Digest before = tree_digest(home / "x");
  write(home / "outside" / "secret", "2");
  CHECK(tree_digest(home / "x") == before);
}

TEST_CASE("tree digest: a folder that is not there, or a file that may not be read, is an error") {
  const test::TempHome home;
  const base::Error error = test::error_of([&] { tree_digest(home / "none"); });
  CHECK(error.kind() == base::ErrorKind::not_found);
  CHECK(test::contains(error.what(), (home / "none").string()));
  fill(home / "x");
  fs::permissions(home.path(), fs::perms(0755));
  fs::permissions(home / "x" / "main.py", fs::perms::none);
  const int status = test::status_as_ordinary_user([&] {
    try {
      tree_digest(home / "x");
    } catch (const base::Error& unreadable) {
      return unreadable.kind() == base::ErrorKind::storage ? 7 : 1;
    }
    return 0;
  });
  CHECK(WEXITSTATUS(status) == 7);
}
