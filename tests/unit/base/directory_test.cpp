#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/beneath.hpp>
#include <sabath/base/directory.hpp>

#include <catch2/catch.hpp>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::base;
using test::contains;
using test::error_of;

namespace {

namespace fs = std::filesystem;

constexpr unsigned other_user = 65534;

void put(const fs::path& file, const std::string& text = "kept") {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void share(const fs::path& directory) {
  REQUIRE(::chown(directory.c_str(), static_cast<uid_t>(-1), other_user) == 0);
  REQUIRE(::chmod(directory.c_str(), 02775) == 0);
}

Lookup any_lookup() {
  return GENERATE(Lookup::automatic, Lookup::by_component);
}

/// What the victim has outside, and a directory that a group may write to.
struct Surroundings {
  Surroundings() {
    put(home / "victim/old/file");
    fs::create_directories(home / "shared/sub/deep");
  }
  bool is_whole() const { return fs::exists(home / "victim/old/file"); }
  test::TempHome home{};
};

}  // namespace

TEST_CASE("directory: what is beneath is made, renamed, listed and removed") {
  const Surroundings at;
  const Beneath shared(at.home / "shared", any_lookup());
  shared.make_directories(at.home / "shared/a/b/c");
  shared.write_atomically(at.home / "shared/a/b/file", "text");
  CHECK(shared.read_if_exists(at.home / "shared/a/b/file")->text == "text");
  CHECK_FALSE(shared.read_if_exists(at.home / "shared/a/none/file"));
  CHECK(shared.write_once(at.home / "shared/a/once", "1"));
  CHECK_FALSE(shared.write_once(at.home / "shared/a/once", "2"));
  CHECK_FALSE(shared.rename_no_replace(at.home / "shared/a/once", at.home / "shared/a/b/file"));
  CHECK(shared.rename_no_replace(at.home / "shared/a/once", at.home / "shared/sub/moved"));
  CHECK(shared.directory(at.home / "shared/a").names() == std::vector<std::string>{"b"});
  CHECK(shared.remove_tree(at.home / "shared/a"));
  CHECK(shared.remove_tree(at.home / "shared/a"));  // it is gone already
  CHECK_FALSE(fs::exists(at.home / "shared/a"));
  CHECK(shared.unlink(at.home / "shared/none") == ENOENT);
  CHECK(error_of([&] { shared.directory(at.home / "victim"); }).kind() == ErrorKind::internal);
  CHECK(error_of([&] { shared.directory(at.home / "shared/../victim"); }).kind() ==
        ErrorKind::storage);
}

TEST_CASE("directory: a root with a slash at its end has the same paths beneath") {
  const Surroundings at;
  const std::string root = at.home / "shared";
  const std::string slashes = GENERATE("", "/", "//");
  const Beneath shared(root + slashes, any_lookup());
  CHECK(shared.root().string() == root);
  CHECK(shared.make(root + slashes + (slashes.empty() ? "/x" : "x"), 0755) == 0);
  CHECK(shared.make(root + "/y", 0755) == 0);
  CHECK(shared.directory(root).names() == std::vector<std::string>{"sub", "x", "y"});
  CHECK(shared.directory(root + "/").names() == std::vector<std::string>{"sub", "x", "y"});
  CHECK(error_of([&] { shared.directory(root + "x"); }).kind() == ErrorKind::internal);
  CHECK(Beneath::anywhere().root().string() == "/");
}

TEST_CASE("directory: a link in a directory of a group is refused, and says what to do") {
  const Surroundings at;
  share(at.home / "shared");
  fs::create_directory_symlink(at.home / "victim", at.home / "shared/trash");
  const fs::path inner = at.home / "shared/trash/old";
  const Beneath shared(at.home / "shared", any_lookup());
  const Error error = error_of([&] { shared.directory(at.home / "shared/trash"); });
  CHECK(error.kind() == ErrorKind::storage);
  CHECK(contains(error.what(), (at.home / "shared/trash").string() + ": is a symbolic link"));
  CHECK(contains(error.hint(), "remove the link"));
  CHECK_FALSE(shared.remove_tree(inner));
  CHECK(shared.unlink(inner / "file") == ELOOP);
  CHECK(shared.rename(inner, at.home / "shared/x") == ELOOP);
  CHECK(shared.make(at.home / "shared/trash/new", 0755) == ELOOP);
  CHECK(shared.make_link("x", at.home / "shared/trash/new") == ELOOP);
  CHECK(shared.set_mode(inner, 0777) == ELOOP);
  CHECK_FALSE(shared.open_file(at.home / "shared/trash/new", O_WRONLY | O_CREAT));
  CHECK(error_of([&] { shared.write_atomically(at.home / "shared/trash/new", ""); }).kind() ==
        ErrorKind::storage);
  CHECK(error_of([&] { shared.make_directories(at.home / "shared/trash/new/er"); }).kind() ==
        ErrorKind::storage);
  CHECK(error_of([&] { shared.make_directories(at.home / "shared/trash"); }).kind() ==
        ErrorKind::storage);
  // The link itself can be removed; what it leads to cannot.
  CHECK(shared.remove_tree(at.home / "shared/trash"));
  CHECK(at.is_whole());
  CHECK(std::distance(fs::directory_iterator(at.home / "victim"), {}) == 1);
}

TEST_CASE("directory: a user's own links are followed where nobody else can make any") {
  const Surroundings at;
  fs::create_directory_symlink(at.home / "shared", at.home / "named");
  fs::create_directory_symlink("sub", at.home / "shared/inner");
  const Beneath named(at.home / "named", any_lookup());
  named.make_directories(at.home / "named/inner/x");
  CHECK(fs::is_directory(at.home / "shared/sub/x"));
  // The one who named the root chose the way to it, wherever that leads.
  share(at.home.path());
  CHECK(Beneath(at.home / "named", any_lookup()).make(at.home / "named/y", 0755) == 0);
}

TEST_CASE("directory: another user's link leads to directories of that user alone") {
  if (::geteuid() != 0) {
    WARN("SKIPPED: only root can act as another user");
    return;
  }
  const Surroundings at;
  const Lookup lookup = any_lookup();
  put(at.home / "theirs/own/file");
  for (const char* const name : {"theirs", "theirs/own"})
    REQUIRE(::chown((at.home / name).c_str(), other_user, other_user) == 0);
  fs::create_directory_symlink(at.home / "victim", at.home / "theirs/bad");
  fs::create_directory_symlink(at.home / "theirs/own", at.home / "theirs/good");
  const Beneath theirs(at.home.path(), lookup);
  CHECK(theirs.make(at.home / "theirs/good/x", 0755) == 0);
  CHECK(theirs.make(at.home / "theirs/bad/x", 0755) == ELOOP);
  CHECK_FALSE(theirs.remove_tree(at.home / "theirs/bad/old"));
  // In a sticky directory a link counts by its owner.
  REQUIRE(::chmod((at.home / "shared").c_str(), 01777) == 0);
  fs::create_directory_symlink("sub", at.home / "shared/ours");
  fs::create_directory_symlink("sub", at.home / "shared/others");
  REQUIRE(::lchown((at.home / "shared/others").c_str(), other_user, other_user) == 0);
  CHECK(theirs.make(at.home / "shared/ours/x", 0755) == 0);
  CHECK(theirs.make(at.home / "shared/others/y", 0755) == ELOOP);
  CHECK(at.is_whole());
}

TEST_CASE("directory: links that lead round end") {
  const Surroundings at;
  fs::create_directory_symlink("b", at.home / "shared/a");
  fs::create_directory_symlink("a", at.home / "shared/b");
  const Beneath shared(at.home / "shared", any_lookup());
  CHECK(shared.make(at.home / "shared/a/x", 0755) == ELOOP);
}

TEST_CASE(
    "directory: a tree is removed whatever its depth and its modes, and links in it stay links") {
  const Surroundings at;
  fs::path deep = at.home / "shared/tree";
  for (int i = 0; i < 300; ++i)
    deep /= "d";
  put(deep / "file");
  put(at.home / "shared/tree/read-only/file");
  fs::create_directory_symlink(at.home / "victim", at.home / "shared/tree/link");
  REQUIRE(::chmod((at.home / "shared/tree/read-only").c_str(), 0555) == 0);
  REQUIRE(::chmod(deep.c_str(), 0) == 0);
  CHECK(Beneath(at.home / "shared", any_lookup()).remove_tree(at.home / "shared/tree"));
  CHECK_FALSE(fs::exists(at.home / "shared/tree"));
  CHECK(at.is_whole());
}

TEST_CASE("directory: a mode is never set through a link, nor of what is another's") {
  const Surroundings at;
  const Beneath shared(at.home / "shared", any_lookup());
  fs::create_directory_symlink(at.home / "victim", at.home / "shared/link");
  REQUIRE(::chmod((at.home / "victim").c_str(), 0700) == 0);
  CHECK(shared.set_mode(at.home / "shared/link", 0755) == EPERM);
  CHECK(shared.set_mode(at.home / "shared/sub", 0700) == 0);
  struct stat status {};
  REQUIRE(::stat((at.home / "victim").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0700);
}

TEST_CASE("directory: an exchange for a link while a tree is removed costs nothing outside") {
  const Surroundings at;
  share(at.home / "shared");
  const Lookup lookup = any_lookup();
  const Beneath shared(at.home / "shared", lookup);
  fs::create_directory_symlink(at.home / "victim", at.home / "shared/evil");
  std::atomic<bool> ends = false;
  std::atomic<int> exchanges = 0;
  std::thread attacker([&] {
    const std::string folder = at.home / "shared/work";
    const std::string link = at.home / "shared/evil";
    while (!ends) {
      if (::renameat2(AT_FDCWD, folder.c_str(), AT_FDCWD, link.c_str(), 1U << 1U) == 0) ++exchanges;
    }
  });
  int removed = 0;
  for (int round = 0; round < 400; ++round) {
    for (int i = 0; i < 4; ++i) {
      ::mkdir((at.home / "shared/work").c_str(), 0755);
      ::mkdir((at.home / "shared/work/old").c_str(), 0755);
    }
    removed += shared.remove_tree(at.home / "shared/work/old") ? 1 : 0;
    shared.set_mode(at.home / "shared/work/old", 0711);
    shared.make(at.home / "shared/work/new", 0755);
    shared.unlink(at.home / "shared/work/old/file");
  }
  ends = true;
  attacker.join();
  CHECK(exchanges > 0);
  CHECK(removed > 0);
  CHECK(at.is_whole());
  CHECK_FALSE(fs::exists(at.home / "victim/new"));
  struct stat status {};
  REQUIRE(::stat((at.home / "victim/old").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0755);
}

TEST_CASE("directory: an exchange of the root after it was opened has no effect") {
  const Surroundings at;
  const Beneath shared(at.home / "shared", any_lookup());
  REQUIRE(shared.make(at.home / "shared/x", 0755) == 0);
  fs::rename(at.home / "shared", at.home / "moved");
  fs::rename(at.home / "victim", at.home / "shared");
  CHECK(shared.remove_tree(at.home / "shared/old"));  // there is none in what it has open
  CHECK(fs::exists(at.home / "shared/old/file"));
  CHECK(shared.remove_tree(at.home / "shared/x"));
  CHECK_FALSE(fs::exists(at.home / "moved/x"));
}
