#include "support/temp_home.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/own_tree.hpp>

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using base::made_mark;
using base::remove_own_tree;

namespace fs = std::filesystem;

namespace {

constexpr unsigned other_user = 65534;

/// `open`, in which others can exchange what there is, and a folder with a file in it.
struct Open {
  Open() {
    fs::create_directories(folder / "inner");
    base::write_file_atomically(folder / "inner/file", "x");
    set_mode(home / "open", 0777);
    set_mode(folder, 0755);
  }
  static void set_mode(const fs::path& path, mode_t mode) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  void mark(const fs::path& path) const { REQUIRE(base::mark(base::Directory::open(path)) == 0); }
  bool is_whole() const { return fs::exists(folder / "inner/file"); }

  test::TempHome home{};
  fs::path folder = home / "open/folder";
};

}  // namespace

TEST_CASE("own tree: where others can exchange folders, one without a mark stays") {
  const Open at;
  const auto why = base::why_kept(base::Beneath::anywhere(), at.folder);
  REQUIRE(why);
  CHECK(*why == "others could have moved it there, and it has no valid file .sabath-made");
  CHECK_FALSE(remove_own_tree(at.folder));
  CHECK(at.is_whole());
}

TEST_CASE("own tree: one with a mark goes, and so does an empty one") {
  const Open at;
  SECTION("mark") {
    at.mark(at.folder);
  }
  SECTION("manifest of a tree") {
    base::write_file_atomically(at.folder / ".sabath-tree.json", "{}");
  }
  SECTION("empty") {
    fs::remove_all(at.folder / "inner");
  }
  SECTION("empty but for the empty mark of an older version") {
    fs::remove_all(at.folder / "inner");
    base::write_file_atomically(at.folder / made_mark, "");
  }
  SECTION("read-only") {
    at.mark(at.folder);
    Open::set_mode(at.folder / "inner", 0555);
    Open::set_mode(at.folder, 0555);
  }
  CHECK_FALSE(base::why_kept(base::Beneath::anywhere(), at.folder));
  CHECK(remove_own_tree(at.folder));
  CHECK_FALSE(fs::exists(at.folder));
}

TEST_CASE("own tree: what only looks like a mark is none") {
  const Open at;
  SECTION("folder") {
    fs::create_directories(at.folder / made_mark);
  }
  SECTION("link") {
    fs::create_symlink("inner/file", at.folder / made_mark);
  }
  SECTION("another name") {
    base::write_file_atomically(at.folder / ".sabath-abcdef", "");
  }
  SECTION("deeper") {
    at.mark(at.folder / "inner");
  }
  SECTION("empty, as an archive or an older version brings it") {
    base::write_file_atomically(at.folder / made_mark, "");
  }
  SECTION("of another folder") {
    at.mark(at.folder / "inner");
    fs::copy(at.folder / "inner" / made_mark, at.folder / made_mark);
  }
  SECTION("others can write to the folder") {
    at.mark(at.folder);
    Open::set_mode(at.folder, 0777);
  }
  SECTION("beside it, where others can write") {
    at.mark(at.folder.parent_path());
  }
  SECTION("another user's") {
    at.mark(at.folder);
    if (::lchown((at.folder / made_mark).c_str(), other_user, other_user) != 0) return;
  }
  CHECK_FALSE(remove_own_tree(at.folder));
  CHECK(at.is_whole());
}

TEST_CASE("own tree: the mark of a folder counts for all in it that others cannot exchange") {
  const Open at;
  at.mark(at.folder);
  const fs::path inner = at.folder / "inner";
  const bool is_open = GENERATE(false, true);
  fs::create_directories(inner / "last/files");
  if (is_open) Open::set_mode(inner, 0777);
  CHECK(remove_own_tree(inner / "last") == !is_open);
  CHECK(fs::exists(inner / "last/files") == is_open);
}

TEST_CASE("own tree: where nobody else can exchange folders, none needs a mark") {
  const Open at;
  const mode_t mode = GENERATE(0755U, 01777U);
  Open::set_mode(at.home / "open", mode);
  CHECK(remove_own_tree(at.folder));
  CHECK_FALSE(fs::exists(at.folder));
}

TEST_CASE("own tree: a folder above that is another user's can be exchanged") {
  const Open at;
  if (::geteuid() != 0) {
    WARN("SKIPPED: only root can make folders of another user's");
    return;
  }
  Open::set_mode(at.home / "open", 01755);
  REQUIRE(::chown((at.home / "open").c_str(), other_user, other_user) == 0);
  CHECK_FALSE(remove_own_tree(at.folder));
  CHECK(at.is_whole());
}

TEST_CASE("own tree: a folder is made with its mark, whatever the umask") {
  const test::TempHome home;
  const mode_t before = ::umask(0277);
  const auto parent = base::Directory::open(home.path());
  const int made = base::make_marked(parent, "new", 0750);
  ::umask(before);
  CHECK(made == 0);
  CHECK(base::make_marked(parent, "new", 0750) == EEXIST);
  struct stat status {};
  REQUIRE(::stat((home / "new").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777U) == 0750U);
  const std::string text = base::read_file(home / "new" / made_mark);
  CHECK(text.starts_with(std::to_string(status.st_ino) + " "));
  CHECK(base::mark(parent.beneath("new")) == 0);
  base::write_file_atomically(home / "new" / made_mark, "");
  CHECK(base::mark(parent.beneath("new")) == 0);
  CHECK(base::read_file(home / "new" / made_mark) == text);
  CHECK(base::make_marked(parent, "missing/new", 0750) == ENOENT);
}

TEST_CASE("own tree: all in a folder goes, with its marks") {
  const Open at;
  at.mark(at.folder);
  CHECK(base::remove_all_in(base::Directory::open(at.folder)));
  CHECK(fs::is_empty(at.folder));
}
