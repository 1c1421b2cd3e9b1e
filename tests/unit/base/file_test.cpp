#include "support/child_process.hpp"
#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/digest.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>
#include <sched.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using namespace sabath::base;
using test::contains;
using test::error_of;

namespace {

namespace fs = std::filesystem;

std::size_t entries_in(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), {}));
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

/// Is an Error{storage} thrown? For use in forked children.
template <class Call>
bool is_storage_error(Call&& call) {
  try {
    call();
    return false;
  } catch (const Error& error) {
    return error.kind() == ErrorKind::storage;
  }
}

}  // namespace

TEST_CASE("file: what is written is read") {
  const test::TempHome home;
  const std::string content("line\n\0binary\xff", 13);
  write_file_atomically(home / "file", content);
  CHECK(read_file(home / "file") == content);
  CHECK(read_file_if_exists(home / "file") == content);
  write_file_atomically(home / "empty", "");
  CHECK(read_file(home / "empty").empty());
}

TEST_CASE("file: absence is not_found, or nothing where it was asked for") {
  const test::TempHome home;
  write_file_atomically(home / "file", "x");
  const Error error = error_of([&] { read_file(home / "none"); });
  CHECK(error.kind() == ErrorKind::not_found);
  CHECK(contains(error.what(), (home / "none").string()));
  CHECK(read_file_if_exists(home / "none") == std::nullopt);
  CHECK(read_file_if_exists(home / "file" / "below") == std::nullopt);
  CHECK(error_of([&] { read_file_if_exists(home.path()); }).kind() == ErrorKind::storage);
}

TEST_CASE("file: no folder to write into is an error of storage") {
  const test::TempHome home;
  const Error error = error_of([&] { write_file_atomically(home / "none" / "file", "x"); });
  CHECK(error.kind() == ErrorKind::storage);
  CHECK(contains(error.what(), "none/file: cannot write: the folder does not exist"));
}

TEST_CASE("file: a file above the limit is refused before it is read") {
  const test::TempHome home;
  write_file_atomically(home / "file", "12345");
  CHECK(read_file(home / "file", 5) == "12345");
  CHECK(error_of([&] { read_file(home / "file", 4); }).kind() == ErrorKind::storage);
  // One for which there is no memory: 1 TiB of hole.
  std::ofstream(home / "huge");
  fs::resize_file(home / "huge", std::uintmax_t{1} << 40U);
  CHECK(error_of([&] { read_file(home / "huge"); }).kind() == ErrorKind::storage);
}

TEST_CASE("file: a pipe is refused and never waited for") {
  const test::TempHome home;
  REQUIRE(::mkfifo((home / "pipe").c_str(), 0600) == 0);
  CHECK(error_of([&] { read_file(home / "pipe"); }).kind() == ErrorKind::storage);
  CHECK(error_of([&] { read_file_if_exists(home / "pipe"); }).kind() == ErrorKind::storage);
  CHECK(contains(error_of([&] { digest_file(home / "pipe"); }).what(), "is a pipe, not a file"));
}

TEST_CASE("file: a device without end is refused, one without content is empty") {
  const std::string message = "/dev/zero: cannot read: is a device, not a file";
  CHECK(error_of([&] { read_file("/dev/zero"); }).what() == message);
  CHECK(error_of([&] { read_file_if_exists("/dev/zero"); }).what() == message);
  CHECK(error_of([&] { digest_file("/dev/zero"); }).what() == message);
  CHECK(read_file("/dev/null").empty());
}

TEST_CASE("file: files without a size are read too") {
  CHECK(contains(read_file("/proc/self/status"), "Pid:"));
}

TEST_CASE("file: replacing keeps nothing but the new content, with the mode asked for") {
  const test::TempHome home;
  const Durability durability = GENERATE(Durability::durable, Durability::ordered_only);
  const auto old_mask = ::umask(077);
  write_file_atomically(home / "file", "old", durability);
  write_file_atomically(home / "file", "new", durability, 0640);
  ::umask(old_mask);
  CHECK(read_file(home / "file") == "new");
  CHECK(mode_of(home / "file") == 0640);
  CHECK(entries_in(home.path()) == 1);
}

TEST_CASE("file: a relative path and a name of full length can be written") {
  const test::TempHome home;
  const auto before = fs::current_path();
  fs::current_path(home.path());
  write_file_atomically("relative", "x");
  fs::current_path(before);
  CHECK(read_file(home / "relative") == "x");
  write_file_atomically(home / std::string(255, 'n'), "x");
  CHECK(entries_in(home.path()) == 2);
}

TEST_CASE("file: readers see old or new, never half") {
  const test::TempHome home;
  const std::string a(100'000, 'a');
  const std::string b(100'000, 'b');
  write_file_atomically(home / "file", a);
  std::jthread writer([&] {
    for (int i = 0; i < 50; ++i)
      write_file_atomically(home / "file", i % 2 == 0 ? b : a, Durability::ordered_only);
  });
  for (int i = 0; i < 50; ++i) {
    const std::string seen = read_file(home / "file");
    CHECK((seen == a || seen == b));
  }
}

TEST_CASE("file: a failed replacement leaves the old content and no temporary file") {
  const test::TempHome home;
  SECTION("the target is a folder") {
    fs::create_directories(home / "target" / "inside");
    const Error error = error_of([&] { write_file_atomically(home / "target", "x"); });
    CHECK(error.kind() == ErrorKind::storage);
    CHECK(contains(error.what(), (home / "target").string()));
    CHECK(entries_in(home.path()) == 1);
    CHECK(fs::is_directory(home / "target" / "inside"));
  }
  SECTION("the folder is missing") {
    CHECK_THROWS_AS(write_file_atomically(home / "none" / "file", "x"), Error);
    CHECK(entries_in(home.path()) == 0);
  }
  SECTION("the folder is read-only") {
    const int status = test::status_as_ordinary_user([] {
      const test::TempHome own;
      write_file_atomically(own / "file", "old");
      ::chmod(own.path().c_str(), 0555);
      if (!is_storage_error([&] { write_file_atomically(own / "file", "new"); })) return 1;
      if (!is_storage_error([&] { write_file_once(own / "other", "new"); })) return 2;
      if (!is_storage_error([&] { make_directories(own / "folder"); })) return 3;
      if (read_file(own / "file") != "old") return 4;
      return entries_in(own.path()) == 1 ? 0 : 5;
    });
    CHECK(status == 0);
  }
  SECTION("the disk is full") {
    // On a small tmpfs of its own, which only this child sees.
    constexpr int no_mount = 77;
    const int status = test::status_in_child([&] {
      if (::unshare(CLONE_NEWNS) != 0 ||
          ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
          ::mount("tmpfs", home.path().c_str(), "tmpfs", 0, "size=64k") != 0) {
        return no_mount;
      }
      write_file_atomically(home / "file", "old");
      const std::string large(1U << 20U, 'x');
      if (!is_storage_error([&] { write_file_atomically(home / "file", large); })) return 1;
      if (!is_storage_error([&] { write_file_once(home / "other", large); })) return 2;
      if (read_file(home / "file") != "old") return 3;
      return entries_in(home.path()) == 1 ? 0 : 4;
    });
    REQUIRE(WIFEXITED(status));
    if (WEXITSTATUS(status) == no_mount) {
      WARN("skipped: no permission to mount a small file system");
    } else {
      CHECK(WEXITSTATUS(status) == 0);
    }
  }
}

TEST_CASE("file: write_all names the file when the disk is full") {
  const UniqueFd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Error error = error_of([&] { write_all(full.get(), as_bytes("x"), "/dev/full"); });
  CHECK(error.kind() == ErrorKind::storage);
  CHECK(error.what() == std::string("/dev/full: cannot write: No space left on device"));
}

TEST_CASE("file: once written, a file is not replaced") {
  const test::TempHome home;
  CHECK(write_file_once(home / "file", "first"));
  CHECK_FALSE(write_file_once(home / "file", "second"));
  CHECK(read_file(home / "file") == "first");
  CHECK(entries_in(home.path()) == 1);
}

TEST_CASE("file: of many writers of one file exactly one wins") {
  const test::TempHome home;
  std::atomic<int> winners{0};
  {
    std::vector<std::jthread> writers;
    for (int i = 0; i < 8; ++i) {
      writers.emplace_back([&, i] {
        if (write_file_once(home / "file", std::to_string(i))) ++winners;
      });
    }
  }
  CHECK(winners == 1);
  CHECK(entries_in(home.path()) == 1);
}

TEST_CASE("file: folders are made with their parents, and one in the way is named") {
  const test::TempHome home;
  make_directories(home / "a" / "b" / "c");
  CHECK(fs::is_directory(home / "a" / "b" / "c"));
  CHECK_NOTHROW(make_directories(home / "a" / "b"));
  write_file_atomically(home / "file", "");
  const Error error = error_of([&] { make_directories(home / "file" / "x" / "y"); });
  CHECK(error.kind() == ErrorKind::storage);
  CHECK(contains(error.what(), (home / "file").string() + ": cannot make the folder"));
}

TEST_CASE("file: renaming never replaces, neither files nor folders") {
  const test::TempHome home;
  write_file_atomically(home / "a", "a");
  write_file_atomically(home / "b", "b");
  CHECK_FALSE(rename_no_replace(home / "a", home / "b"));
  CHECK(read_file(home / "b") == "b");
  CHECK(rename_no_replace(home / "a", home / "c"));
  CHECK(read_file(home / "c") == "a");
  CHECK_FALSE(fs::exists(home / "a"));

  fs::create_directories(home / "from" / "x");
  fs::create_directories(home / "empty");
  CHECK_FALSE(rename_no_replace(home / "from", home / "empty"));
  CHECK(rename_no_replace(home / "from", home / "to"));
  CHECK(fs::is_directory(home / "to" / "x"));
  CHECK_THROWS_AS(rename_no_replace(home / "none", home / "other"), Error);
}

TEST_CASE("file: a temporary folder is private and goes away with all that is in it") {
  const test::TempHome home;
  fs::path path;
  {
    const TempDir folder(home.path(), "work-");
    path = folder.path();
    CHECK(path.filename().string().starts_with("work-"));
    CHECK(mode_of(path) == 0700);
    write_file_atomically(path / "file", "x");
  }
  CHECK_FALSE(fs::exists(path));
  CHECK(error_of([&] { TempDir(home / "none"); }).kind() == ErrorKind::not_found);
}

TEST_CASE("file: a temporary folder that was moved from or released is kept") {
  const test::TempHome home;
  fs::path path;
  {
    TempDir first(home.path());
    TempDir second(std::move(first));
    path = second.path();
    CHECK(fs::exists(path));
    CHECK(second.release() == path);
  }
  CHECK(fs::is_directory(path));
}

TEST_CASE(
    "file: a tree is removed although its folders are read-only, and links are not followed") {
  const int status = test::status_as_ordinary_user([] {
    const test::TempHome home;
    make_directories(home / "tree" / "a" / "b");
    write_file_atomically(home / "outside", "x");
    write_file_atomically(home / "tree" / "a" / "b" / "file", "x", Durability::ordered_only, 0444);
    make_directories(home / "far");
    write_file_atomically(home / "far" / "kept", "x");
    fs::create_directory_symlink(home / "far", home / "tree" / "a" / "link");
    for (const char* folder : {"tree/a/b", "tree/a", "tree"})
      ::chmod((home / folder).c_str(), 0555);
    ::chmod((home / "far").c_str(), 0500);
    if (!remove_tree(home / "tree")) return 1;
    if (fs::exists(home / "tree")) return 2;
    struct stat far {};
    ::stat((home / "far").c_str(), &far);
    if ((far.st_mode & 0777U) != 0500) return 3;
    if (!fs::exists(home / "far" / "kept")) return 4;
    fs::create_directory_symlink(home / "far", home / "link");
    if (!remove_tree(home / "link") || fs::exists(fs::symlink_status(home / "link"))) return 5;
    return remove_tree(home / "none") ? 0 : 6;
  });
  CHECK(status == 0);
}

TEST_CASE("file: what cannot be removed is told, not thrown") {
  const int status = test::status_as_ordinary_user(
      [] { return remove_tree("/etc/hostname") || remove_tree("/proc/self/status") ? 1 : 0; });
  CHECK(status == 0);
}

TEST_CASE("file: what lies beneath a folder by its name") {
  for (const auto& [path, folder] : {std::pair("/a/b", "/a"),
                                     std::pair("/a", "/a"),
                                     std::pair("/a/b", "/a/"),
                                     std::pair("/a/./b/../c", "/a"),
                                     std::pair("/", "/"),
                                     std::pair("/a", "/"),
                                     std::pair("a/b", "a")}) {
    INFO(path << " " << folder);
    CHECK(is_beneath(path, folder));
  }
  for (const auto& [path, folder] : {std::pair("/ab", "/a"),
                                     std::pair("/a", "/a/b"),
                                     std::pair("/a/../b", "/a"),
                                     std::pair("/a", ""),
                                     std::pair("a", "/a")}) {
    INFO(path << " " << folder);
    CHECK_FALSE(is_beneath(path, folder));
  }
}

TEST_CASE("file: relative paths that stay in their folder") {
  for (const char* safe : {"a", "a/b.txt", "..a", "a..", "ü/x y", ".hidden"}) {
    INFO(safe);
    CHECK(is_safe_relative_path(safe));
  }
  for (const char* unsafe :
       {"", "/", "/a", "..", "../a", "a/../b", "a/..", ".", "./a", "a/", "a\nb", "a\x7f"}) {
    INFO(unsafe);
    CHECK_FALSE(is_safe_relative_path(unsafe));
  }
  CHECK_FALSE(is_safe_relative_path(std::string("a\0b", 3)));
}

TEST_CASE("file: names") {
  for (const std::string& safe : {std::string("a"), std::string("0.x_y-z"), std::string(64, 'a')})
    CHECK(is_safe_name(safe));
  for (const std::string& unsafe : {std::string(),
                                    std::string("A"),
                                    std::string(".a"),
                                    std::string("-a"),
                                    std::string("_a"),
                                    std::string("a/b"),
                                    std::string("a..b"),
                                    std::string("a b"),
                                    std::string("ü"),
                                    std::string(65, 'a')}) {
    INFO(unsafe);
    CHECK_FALSE(is_safe_name(unsafe));
  }
}
