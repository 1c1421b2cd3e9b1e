#include "support/errors.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/archive/archive_writer.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/home/batch_bundle.hpp>
#include <sabath/home/program_bundle.hpp>

#include <catch2/catch.hpp>

using namespace sabath;
namespace fs = std::filesystem;

TEST_CASE("bundle: an archive that is none is an error of integrity that names it") {
  const test::TempHome home;
  test::RecordingObserver observer;
  const std::string manifest =
      GENERATE("{}", "[]", R"({"moved": 1, "runs": "/x"})", R"({"moved": {}, "runs": 1})");
  fs::create_directories(home / "content");
  base::write_file_atomically(home / "content" / "bundle.json", manifest);
  const fs::path archive = home / "bundle.tar.gz";
  base::write_archive(home / "content", base::list_tree(home / "content"), archive);
  fs::create_directories(home / "here");
  const base::Error error =
      test::error_of([&] { home::open_bundle(archive, 0, home / "here", observer, {}); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(test::contains(error.what(), archive.string() + ": is not a bundle of runs"));
}

TEST_CASE("bundle: a program travels with its libraries but for those of the C library") {
  const test::TempHome home;
  const fs::path folder = home / "jobs";
  fs::create_directory(folder);
  for (int tries = 0; tries < 2; ++tries)
    CHECK(home::program_bundle("/opt/bin/sabath", folder) ==
          std::vector<fs::path>{"/opt/bin/sabath", folder / "sabath-lib"});
  CHECK(fs::is_regular_file(folder / "sabath-lib" / "libstdc++.so.6"));
  for (const auto& entry : fs::directory_iterator(folder / "sabath-lib")) {
    const std::string name = entry.path().filename().string();
    INFO(name);
    CHECK(fs::is_regular_file(entry.path()));
    CHECK_FALSE((name.starts_with("libc.so") || name.starts_with("libm.so") ||
                 name.starts_with("ld-linux") || name.starts_with("linux-vdso")));
  }
}
