#include "support/errors.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <chrono>

using namespace sabath;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

TEST_CASE("archive writer: what it wrote unpacks to the same tree, with the same bytes each time") {
  test::TempHome home;
  const fs::path tree = home / "tree";
  base::make_directories(tree / "deep/er");
  base::write_file_atomically(tree / "empty", "");
  base::write_file_atomically(tree / "deep/er/gr\xc3\xbc\xc3\x9f.py", std::string(300'000, 'x'));
  base::write_file_atomically(tree / std::string(150, 'n'), "long name");
  fs::permissions(tree / "empty", fs::perms(0700));
  fs::create_symlink("../empty", tree / "deep/link");
  base::write_archive(tree, base::list_tree(tree), home / "one.tar.gz");
  fs::last_write_time(tree / "empty",
                      fs::file_time_type::clock::now() - std::chrono::hours(24 * 400));
  base::write_archive(tree, base::list_tree(tree), home / "two.tar.gz");
  CHECK(base::read_file(home / "one.tar.gz") == base::read_file(home / "two.tar.gz"));
  CHECK(fs::status(home / "one.tar.gz").permissions() == fs::perms(0600));

  test::RecordingObserver observer;
  base::make_directories(home / "again");
  base::extract_archive(home / "one.tar.gz", home / "again", {}, observer);
  CHECK(base::tree_digest(home / "again") == base::tree_digest(tree));
}

TEST_CASE("archive writer: nothing is replaced, and nothing half-written remains") {
  test::TempHome home;
  base::make_directories(home / "tree");
  base::write_file_atomically(home / "tree/file", "x");
  base::write_file_atomically(home / "there", "mine");
  const auto files = base::list_tree(home / "tree");
  CHECK(
      contains(error_of([&] { base::write_archive(home / "tree", files, home / "there"); }).what(),
               "cannot write"));
  CHECK(base::read_file(home / "there") == "mine");
  fs::remove(home / "tree/file");
  CHECK(error_of([&] { base::write_archive(home / "tree", files, home / "new"); }).kind() ==
        base::ErrorKind::not_found);
  CHECK_FALSE(fs::exists(home / "new"));
}
