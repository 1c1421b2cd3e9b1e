#include "support/errors.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>
#include <sabath/base/tree_digest.hpp>
#include <sabath/home/baseline_files.hpp>
#include <sabath/provenance/code_folder.hpp>

#include <catch2/catch.hpp>

#include <fstream>

using namespace sabath;
using provenance::code_digest;
using provenance::CodeFolder;
namespace fs = std::filesystem;

namespace {

/// A recipe's folder "one", and "lib" beside it.
struct Bench {
  test::TempHome home{};
  fs::path one = home / "one";
  fs::path lib = home / "lib";

  Bench() {
    fs::create_directories(one / "own");
    fs::create_directories(lib / "deep");
    write(one / "t.py", "import helper");
    write(one / "own" / "x.py", "x");
    write(lib / "helper.py", "V = 1");
    write(lib / "deep" / "more.py", "W = 1");
  }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
};

}  // namespace

TEST_CASE("code: a folder without links out of it has the digest of its tree") {
  const Bench bench;
  fs::create_symlink("own/x.py", bench.one / "x.py");
  fs::create_directory_symlink("own", bench.one / "same");
  CHECK(code_digest(bench.one) == base::tree_digest(bench.one));
  CHECK(CodeFolder(bench.one).files().size() == 4);
}

TEST_CASE("code: a link out of the folder is the file or the folder that it leads to") {
  const Bench bench;
  const bool is_absolute = GENERATE(false, true);
  const fs::path to = is_absolute ? bench.lib : fs::path("../lib");
  fs::create_symlink(to / "helper.py", bench.one / "helper.py");
  fs::create_directory_symlink(to, bench.one / "lib");
  const base::Digest digest = code_digest(bench.one);
  // Of what is copied it is the digest of the tree.
  const fs::path copy = bench.home / "copy";
  fs::copy(bench.one, copy, fs::copy_options::recursive);
  REQUIRE_FALSE(fs::is_symlink(copy / "helper.py"));
  CHECK(base::tree_digest(copy) == digest);
  SECTION("a change of the file is one of the code") {
    Bench::write(bench.lib / "helper.py", "V = 2");
    CHECK(code_digest(bench.one) != digest);
  }
  SECTION("and so is one deep in the folder") {
    Bench::write(bench.lib / "deep" / "more.py", "W = 2");
    CHECK(code_digest(bench.one) != digest);
  }
  SECTION("and a file that is new there") {
    Bench::write(bench.lib / "deep" / "new.py", "");
    CHECK(code_digest(bench.one) != digest);
  }
}

TEST_CASE("code: an absolute link into the folder is a file of its own elsewhere") {
  const Bench bench;
  fs::create_symlink(bench.one / "own" / "x.py", bench.one / "x.py");
  const CodeFolder folder(bench.one);
  REQUIRE(folder.files().back().path == "x.py");
  CHECK(folder.files().back().link_target.empty());
}

TEST_CASE("code: links that lead in circles are followed once") {
  const Bench bench;
  fs::create_directory_symlink("..", bench.one / "up");
  fs::create_directory_symlink("..", bench.lib / "deep" / "back");
  fs::create_directory_symlink("self", bench.one / "self");
  std::vector<std::string> paths;
  const CodeFolder folder(bench.one);
  for (const base::TreeFile& file : folder.files())
    paths.push_back(file.path);
  CHECK(paths == std::vector<std::string>{"own/x.py",
                                          "self",
                                          "t.py",
                                          "up/lib/deep/back",
                                          "up/lib/deep/more.py",
                                          "up/lib/helper.py"});
  const base::Digest digest = code_digest(bench.one);
  Bench::write(bench.lib / "helper.py", "V = 2");
  CHECK(code_digest(bench.one) != digest);
}

TEST_CASE("code: what a link leads to beyond the bounds counts by size and time") {
  const Bench bench;
  const fs::path large = bench.lib / "large";
  Bench::write(large, "");
  fs::resize_file(large, (std::uint64_t{256} << 20U) + 1);
  const auto old = fs::file_time_type::clock::now() - std::chrono::hours(1);
  fs::last_write_time(large, old);
  fs::create_symlink("../lib/large", bench.one / "large");
  const CodeFolder folder(bench.one);
  CHECK(folder.uncounted() == "large");
  const base::Digest digest = folder.digest();
  CHECK(code_digest(bench.one) == digest);
  fs::last_write_time(large, old + std::chrono::seconds(1));
  CHECK(code_digest(bench.one) != digest);
}

TEST_CASE("code: files of the system and links to nothing count by their names") {
  const Bench bench;
  fs::create_symlink("/usr/bin/env", bench.one / "env");
  fs::create_symlink("../lib/none", bench.one / "none");
  CHECK(code_digest(bench.one) == base::tree_digest(bench.one));
}

TEST_CASE("code: a baseline is none, and other JSON is") {
  const Bench bench;
  const base::Digest digest = code_digest(bench.one);
  home::write_baseline(bench.one / "baseline.json", spec::Baseline{"tiny", {}, {}});
  CHECK(home::is_baseline(bench.one / "baseline.json"));
  CHECK(code_digest(bench.one) == digest);
  Bench::write(bench.one / "settings.json", R"({"recipe": "tiny", "entries": [1]})");
  CHECK_FALSE(home::is_baseline(bench.one / "settings.json"));
  CHECK(code_digest(bench.one) != digest);
}

TEST_CASE("code: of a folder with more than the limits it is known that it has") {
  const Bench bench;
  fs::create_directory_symlink("../lib", bench.one / "lib");
  CHECK_FALSE(CodeFolder(bench.one, {20, 100}).is_exceeded());
  CHECK(CodeFolder(bench.one, {20, 20}).is_exceeded());
  CHECK(CodeFolder(bench.one, {4, 100}).is_exceeded());
}

TEST_CASE("code: a stop request ends the digest of a folder") {
  const Bench bench;
  base::write_file_atomically(bench.one / "sparse", "");
  fs::resize_file(bench.one / "sparse", std::uintmax_t{1} << 40U);
  std::stop_source stop;
  stop.request_stop();
  CHECK(test::error_of([&] { code_digest(bench.one, {}, stop.get_token()); }).kind() ==
        base::ErrorKind::interrupted);
}
