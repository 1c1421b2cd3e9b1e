#include "support/recording_observer.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/archive/zip_writer.hpp>
#include <sabath/base/error.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <sys/resource.h>

using namespace sabath;
using base::ZipWriter;
namespace fs = std::filesystem;

namespace {

struct Case {
  base::TempDir folder{fs::temp_directory_path()};
  test::RecordingObserver observer{};
  fs::path zip = folder.path() / "a.zip";

  void write_two(const fs::path& to) const {
    base::write_file_atomically(folder.path() / "big", std::string(3'000'000, 'x') + "y");
    ZipWriter writer(to);
    writer.add_file("z/big", folder.path() / "big", {}, {});
    writer.add_text("größe.txt", std::string(1000, 'a'));
    writer.add_text("empty", "");
    writer.finish("größe.txt");
  }
  bool python_reads(const std::string& check) const {
    const std::string command = "python3 -c \"import zipfile; z = zipfile.ZipFile('" +
                                zip.string() + "'); assert z.testzip() is None; " + check + "\"";
    return std::system(command.c_str()) == 0;  // NOLINT(cert-env33-c,concurrency-mt-unsafe)
  }
};

}  // namespace

TEST_CASE("zip writer: others read what it writes, and it gives the same bytes") {
  const Case c;
  c.write_two(c.zip);
  CHECK(c.python_reads(
      "assert z.namelist() == ['gr\u00f6\u00dfe.txt', 'empty', 'z/big']; "
      "assert z.read('z/big')[-2:] == b'xy'; assert z.getinfo('empty').date_time[0] == 1980"));
  c.write_two(c.folder.path() / "b.zip");
  CHECK(base::read_file(c.zip) == base::read_file(c.folder.path() / "b.zip"));
}

TEST_CASE("zip writer: it is unpacked with the digests that it gave") {
  Case c;
  c.write_two(c.zip);
  fs::create_directory(c.folder.path() / "out");
  const auto entries = base::extract_archive(c.zip, c.folder.path() / "out", {}, c.observer);
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].path == "empty");
  CHECK(entries[1].digest == base::sha256_of(std::string(1000, 'a')));
  CHECK(entries[2].digest == base::digest_file(c.folder.path() / "big"));
}

TEST_CASE("zip writer: more than 65,535 members") {
  Case c;
  {
    ZipWriter writer(c.zip);
    for (int i = 0; i < 70'000; ++i)
      writer.add_text("m" + std::to_string(i), "x");
    writer.finish("m7");
  }
  CHECK(c.python_reads("assert len(z.namelist()) == 70000"));
  CHECK(base::read_archive(c.zip, c.observer).size() == 70'000);
}

TEST_CASE("zip writer: a member of more than 4 GiB", "[.][long]") {
  Case c;
  base::write_file_atomically(c.folder.path() / "sparse", "a");
  fs::resize_file(c.folder.path() / "sparse", (std::uintmax_t{1} << 32U) + 5);
  ZipWriter writer(c.zip);
  writer.add_file("sparse", c.folder.path() / "sparse", {}, {});
  writer.add_text("behind", "b");
  writer.finish("behind");
  CHECK(c.python_reads("assert z.getinfo('sparse').file_size == 2**32 + 5"));
}

TEST_CASE("zip writer: what is not finished leaves nothing") {
  const Case c;
  {
    ZipWriter writer(c.zip);
    writer.add_text("a", "b");
  }
  CHECK(fs::is_empty(c.folder.path()));
}

TEST_CASE("zip writer: a full disk is an error, and leaves nothing") {
  Case c;
  base::write_file_atomically(c.folder.path() / "big", std::string(100'000, 'x'));
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{50'000, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const auto attempt = [&] {
    ZipWriter writer(c.zip);
    writer.add_file("big", c.folder.path() / "big", {}, {});
    writer.finish("big");
  };
  CHECK_THROWS_AS(attempt(), base::Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  fs::remove(c.folder.path() / "big");
  CHECK(fs::is_empty(c.folder.path()));
}
