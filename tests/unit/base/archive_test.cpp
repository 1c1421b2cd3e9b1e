#include "archives.hpp"
#include "support/errors.hpp"
#include "support/programs.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/file.hpp>

#include <archive.h>
#include <archive_entry.h>
#include <catch2/catch.hpp>

#include <filesystem>
#include <functional>

#include <sys/stat.h>

using namespace sabath;
using namespace sabath::base;
using test::ArchiveWriter;
using test::contains;
using test::error_of;
using test::noise;

namespace {

namespace fs = std::filesystem;
using Place = test::ArchivePlace;

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777U;
}

void cut(const fs::path& path, std::uint64_t size) {
  fs::resize_file(path, size);
}

}  // namespace

TEST_CASE("archive: tar with every compression, and zip, unpack to what went in") {
  Place place;
  const std::string large = noise(700'000);
  const int filter = GENERATE(ARCHIVE_FILTER_NONE,
                              ARCHIVE_FILTER_GZIP,
                              ARCHIVE_FILTER_BZIP2,
                              ARCHIVE_FILTER_XZ,
                              ARCHIVE_FILTER_ZSTD,
                              -1);
  INFO(filter);
  ArchiveWriter writer(place.archive, std::max(filter, 0), filter < 0);
  writer.folder("./");
  writer.folder("empty/");
  writer.file("./z/large.bin", large);
  writer.file("a/script.sh", "#!/bin/sh\n", 0755);
  writer.file("a/nothing", "");
  writer.symbolic_link("a/deep/link", "../../z/large.bin");
  writer.close();

  const auto entries = place.extract();
  REQUIRE(entries.size() == 4);
  CHECK(entries[0] == ArchiveEntry{"a/deep/link", 0, {}, false, "../../z/large.bin"});
  CHECK(entries[1] == ArchiveEntry{"a/nothing", 0, sha256_of(""), false, {}});
  CHECK(entries[2] == ArchiveEntry{"a/script.sh", 10, sha256_of("#!/bin/sh\n"), true, {}});
  CHECK(entries[3] == ArchiveEntry{"z/large.bin", large.size(), sha256_of(large), false, {}});
  CHECK(read_file(place.destination / "a/deep/link") == large);
  CHECK(digest_file(place.destination / "z/large.bin") == sha256_of(large));
  CHECK(fs::is_directory(place.destination / "empty"));
}

TEST_CASE("archive: modes become 0644 or 0755, whatever the archive and the umask say") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.folder("folder", 01777);
  writer.file("folder/setuid", "x", 06755);
  writer.file("folder/open", "x", 0666);
  writer.file("folder/shut", "x", 0000);
  writer.close();
  const auto old_mask = ::umask(077);
  place.extract();
  ::umask(old_mask);
  CHECK(mode_of(place.destination / "folder") == 0755);
  CHECK(mode_of(place.destination / "folder/setuid") == 0755);
  CHECK(mode_of(place.destination / "folder/open") == 0644);
  CHECK(mode_of(place.destination / "folder/shut") == 0644);
}

TEST_CASE("archive: a hard link is the earlier file again") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.file("a/file", "content", 0755);
  writer.hard_link("b/c/same", "./a/file");
  writer.close();
  const auto entries = place.extract();
  REQUIRE(entries.size() == 2);
  CHECK(entries[1] == ArchiveEntry{"b/c/same", 7, sha256_of("content"), true, {}});
  CHECK(fs::equivalent(place.destination / "a/file", place.destination / "b/c/same"));
}

TEST_CASE("archive: names that are not ASCII survive the C locale") {
  Place place;
  const bool zip = GENERATE(false, true);
  const std::string name = "Größe/数据.txt";
  // Written by other programs: libarchive's own writer depends on the locale as well.
  make_directories(place.home / "in" / "Größe");
  write_file_atomically(place.home / "in" / name, "x");
  Command command = test::shell(zip ? "zip -q -r \"$0.zip\" Größe && mv \"$0.zip\" \"$0\""
                                    : "tar --format=pax -cf \"$0\" Größe");
  command.argv.push_back(place.archive.string());
  command.working_directory = place.home / "in";
  if (zip && !find_program("zip")) {
    WARN("skipped: there is no zip");
    return;
  }
  REQUIRE(SystemProcessRunner().run(command).ok());
  const auto entries = place.extract();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].path == name);
  CHECK(read_file(place.destination / name) == "x");
}

TEST_CASE("archive: a sparse file has its holes, at the end too") {
  Place place;
  Command command = test::shell(
      "printf begin > holes && truncate -s 300000 holes && printf middle >> holes && "
      "truncate -s 900000 holes && tar -S -cf \"$0\" holes");
  command.argv.push_back(place.archive.string());
  command.working_directory = place.home.path();
  REQUIRE(SystemProcessRunner().run(command).ok());
  const std::string expected =
      "begin" + std::string(300'000 - 5, '\0') + "middle" + std::string(600'000 - 6, '\0');
  const auto entries = place.extract();
  REQUIRE(entries.size() == 1);
  CHECK(entries[0].size_bytes == 900'000);
  CHECK(entries[0].digest == sha256_of(expected));
  CHECK(read_file(place.destination / "holes") == expected);
}

TEST_CASE("archive: whoever tries to leave the folder is refused by name") {
  Place place;
  const auto refusal = [&](const std::function<void(ArchiveWriter&)>& fill) {
    {
      ArchiveWriter writer(place.archive);
      fill(writer);
      writer.close();
    }
    const std::string message = place.refused().what();
    CHECK_FALSE(fs::exists(place.home / "evil"));
    CHECK_FALSE(fs::exists("/tmp/sabath-evil"));
    return message;
  };
  SECTION("..") {
    CHECK(refusal([](auto& w) { w.file("a/../../evil", "x"); }) ==
          place.archive.string() +
              ":a/../../evil: cannot be unpacked: the path leads out of its folder");
  }
  SECTION("an absolute path") {
    CHECK(contains(refusal([](auto& w) { w.file("/tmp/sabath-evil", "x"); }), "is absolute"));
  }
  SECTION("a folder outside") {
    CHECK(contains(refusal([](auto& w) { w.folder("../evil"); }), "leads out of its folder"));
  }
  SECTION("a symbolic link outside") {
    const std::string target =
        GENERATE("../evil", "/etc/passwd", "x/../../evil", "a/b/../../..", "..", "");
    INFO(target);
    const auto message = refusal([&](auto& w) { w.symbolic_link("link", target); });
    CHECK(contains(message, ":link: cannot be unpacked: it is a link to '" + target + "'"));
  }
  SECTION("a symbolic link that leads out by way of another one") {
    // Read as text, deep/up/.. is deep; on disk it is the folder above the destination.
    CHECK(contains(refusal([](auto& w) {
                     w.symbolic_link("deep/er/up", "../..");
                     w.symbolic_link("out", "deep/er/up/../evil");
                   }),
                   ":out: "));
  }
  SECTION("writing through a symbolic link") {
    CHECK(contains(refusal([](auto& w) {
                     w.folder("real");
                     w.symbolic_link("link", "real");
                     w.file("link/evil", "x");
                   }),
                   "it would be written through 'link', which is a link or a file"));
  }
  SECTION("writing over a symbolic link") {
    CHECK(contains(refusal([](auto& w) {
                     w.file("file", "x");
                     w.symbolic_link("link", "file");
                     w.file("link", "y");
                   }),
                   "the archive holds it twice"));
  }
  SECTION("a hard link outside") {
    const std::string target = GENERATE("../some archive", "/etc/passwd");
    INFO(target);
    CHECK(contains(refusal([&](auto& w) { w.hard_link("link", target); }), ":link: "));
  }
  SECTION("a hard link to what is no earlier file") {
    CHECK(contains(refusal([](auto& w) { w.hard_link("link", "none"); }),
                   "a hard link to 'none', which is not an earlier file of the archive"));
    fs::remove_all(place.destination);
    fs::create_directory(place.destination);
    CHECK(contains(refusal([](auto& w) {
                     w.symbolic_link("s", "x");
                     w.hard_link("link", "s");
                   }),
                   "not an earlier file"));
  }
}

TEST_CASE("archive: devices, pipes and other oddities are refused") {
  Place place;
  const unsigned type = GENERATE(AE_IFCHR, AE_IFBLK, AE_IFIFO);
  ArchiveWriter writer(place.archive);
  writer.special("odd", type);
  writer.close();
  CHECK(contains(place.refused().what(), ":odd: cannot be unpacked: it is neither a file"));
  CHECK(fs::is_empty(place.destination));
}

TEST_CASE("archive: two entries of one name are refused, two of one folder are not") {
  Place place;
  SECTION("files") {
    ArchiveWriter writer(place.archive);
    writer.file("a/b", "1");
    writer.file("a/./b", "2");
    writer.close();
    CHECK(
        contains(place.refused().what(), ":a/./b: cannot be unpacked: the archive holds it twice"));
    CHECK(read_file(place.destination / "a/b") == "1");
  }
  SECTION("a file where a folder is, and a folder where a file is") {
    const bool folder_first = GENERATE(true, false);
    ArchiveWriter writer(place.archive);
    if (folder_first) writer.folder("a");
    writer.file("a", "1");
    if (!folder_first) writer.file("a/b", "2");
    writer.close();
    place.refused();
  }
  SECTION("folders") {
    ArchiveWriter writer(place.archive);
    writer.folder("a");
    writer.file("a/b", "1");
    writer.folder("a/");
    writer.close();
    CHECK(place.extract().size() == 1);
  }
}

TEST_CASE("archive: names that no manifest could hold are refused") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.file("a\nb", "x");
  writer.close();
  CHECK(
      contains(place.refused().what(), ":a\\x0ab: cannot be unpacked: the path is not printable"));
}

TEST_CASE("archive: limits hold") {
  Place place;
  ArchiveLimits limits;
  ArchiveWriter writer(place.archive, ARCHIVE_FILTER_GZIP);
  writer.file("a/b/c/file", std::string(1'000'000, '\0'));
  writer.file("two", "x");
  writer.close();
  SECTION("as they are") {
    CHECK(place.extract(limits).size() == 2);
  }
  SECTION("entries") {
    limits.entries = 1;
    CHECK(contains(place.refused(limits).what(),
                   ":two: cannot be unpacked: the archive has more than 1"));
  }
  SECTION("bytes, before any is written") {
    limits.total_bytes = 999'999;
    CHECK(contains(place.refused(limits).what(), "holds more than"));
    CHECK_FALSE(fs::exists(place.destination / "a/b/c/file"));
  }
  SECTION("bytes in sum") {
    limits.total_bytes = 1'000'000;
    CHECK(contains(place.refused(limits).what(), ":two: "));
  }
  SECTION("a bomb") {
    limits.ratio = 100;
    limits.ratio_floor_bytes = 100'000;
    CHECK(contains(place.refused(limits).what(), "more than 100 times its size"));
    limits.ratio_floor_bytes = 2'000'000;
    CHECK(place.extract(limits).size() == 2);
  }
  SECTION("depth") {
    limits.depth = 3;
    CHECK(contains(place.refused(limits).what(), "deeper than 3"));
  }
  SECTION("length") {
    limits.path_length = 9;
    CHECK(contains(place.refused(limits).what(), "longer than 9"));
  }
}

TEST_CASE("archive: a bomb in a zip that hides its size is stopped while it is written") {
  Place place;
  // From a pipe, zip cannot know the size beforehand.
  Command command = test::shell("head -c 3000000 /dev/zero | zip -q - - > \"$0\"");
  command.argv.push_back(place.archive.string());
  if (!find_program("zip") || !SystemProcessRunner().run(command).ok()) {
    WARN("skipped: there is no zip");
    return;
  }
  ArchiveLimits limits;
  limits.ratio = 10;
  limits.ratio_floor_bytes = 100'000;
  CHECK(contains(place.refused(limits).what(), "more than 10 times"));
}

TEST_CASE("archive: a damaged archive is refused") {
  Place place;
  const int filter = GENERATE(ARCHIVE_FILTER_NONE,
                              ARCHIVE_FILTER_GZIP,
                              ARCHIVE_FILTER_BZIP2,
                              ARCHIVE_FILTER_XZ,
                              ARCHIVE_FILTER_ZSTD,
                              -1);
  INFO(filter);
  ArchiveWriter writer(place.archive, std::max(filter, 0), filter < 0);
  writer.file("file", noise(300'000));
  writer.close();
  const auto size = fs::file_size(place.archive);
  SECTION("cut off in the middle") {
    cut(place.archive, size / 2);
    place.refused();
  }
  SECTION("bytes changed where the format has a checksum") {
    // Plain tar and zstd by default have none.
    if (filter == ARCHIVE_FILTER_NONE || filter == ARCHIVE_FILTER_ZSTD) return;
    std::string content = read_file(place.archive);
    for (std::size_t i = 0; i < 16; ++i)
      content[size / 2 + i] = static_cast<char>(~content[size / 2 + i]);
    write_file_atomically(place.archive, content);
    place.refused();
  }
}

TEST_CASE("archive: what is none is refused") {
  Place place;
  SECTION("noise") {
    write_file_atomically(place.archive, noise(5000));
  }
  SECTION("nothing") {
    write_file_atomically(place.archive, "");
  }
  SECTION("a page that says sorry") {
    write_file_atomically(place.archive, "<html>sorry</html>");
  }
  SECTION("a compressed file that is no archive") {
    write_file_atomically(place.archive, "plain text, and enough of it\n");
    Command command = test::shell("gzip \"$0\" && mv \"$0.gz\" \"$0\"");
    command.argv.push_back(place.archive.string());
    REQUIRE(SystemProcessRunner().run(command).ok());
  }
  SECTION("a folder") {
    fs::create_directory(place.archive);
  }
  place.refused();
  CHECK(fs::is_empty(place.destination));
}

TEST_CASE("archive: a missing archive is not_found") {
  Place place;
  CHECK(error_of([&] { place.extract(); }).kind() == ErrorKind::not_found);
}

TEST_CASE("archive: a stop request interrupts it") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.file("file", "x");
  writer.close();
  std::stop_source stop;
  stop.request_stop();
  const Error error = error_of([&] {
    extract_archive(place.archive, place.destination, {}, place.observer, stop.get_token());
  });
  CHECK(error.kind() == ErrorKind::interrupted);
  CHECK(fs::is_empty(place.destination));
}

TEST_CASE("archive: progress is told in packed bytes and comes to its end") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.file("file", std::string(20U << 20U, 'x'));
  writer.close();
  place.extract();
  REQUIRE(place.observer.progresses.size() >= 2);
  const auto& first = place.observer.progresses.front();
  const auto& last = place.observer.progresses.back();
  CHECK(first.task == "unpacking some archive");
  CHECK(first.total == fs::file_size(place.archive));
  CHECK_FALSE(first.finished);
  CHECK(last.finished);
  CHECK(last.done == last.total);

  fs::remove_all(place.destination);
  fs::create_directory(place.destination);
  cut(place.archive, 1'000'000);
  place.refused();
  CHECK(place.observer.progresses.back().finished);
}

TEST_CASE("archive: names that differ only in case are told, because not every disk keeps both") {
  Place place;
  ArchiveWriter writer(place.archive);
  writer.file("a/README", "1");
  writer.file("a/readme", "2");
  writer.close();
  CHECK(place.extract().size() == 2);
  REQUIRE(place.observer.warnings.size() == 1);
  CHECK(contains(place.observer.warnings.front(), "a/readme"));
}

TEST_CASE("archive: a link and a file cannot take each other's place, in any order or guise") {
  // Each of these would write outside, or over what is there, if one check were missing.
  const std::vector<std::vector<std::pair<std::string, std::string>>> attacks{
      {{"x", "@../evil"}},
      {{"x", "@/tmp/sabath-evil"}},
      {{"x", "@."}, {"x/evil", "1"}},
      {{"x", "@y"}, {"y", "@../evil"}, {"x", "1"}},
      {{"d/x", "@../.."}, {"d/x/evil", "1"}},
      {{"d/x", "@.."}, {"d/x/e", "@../evil"}},
      {{"d/x", "@../d"}, {"d/x/x", "1"}},
      {{"./../evil", "1"}},
      {{"d/./.././../evil", "1"}},
      {{"//tmp/sabath-evil", "1"}},
      {{"d//..//..//evil", "1"}},
      {{"d", "1"}, {"d/evil", "1"}},
      {{"d/evil", "1"}, {"d", "@.."}},
      {{"a\\..\\..\\evil", "1"}, {"a\\..\\..\\evil", "2"}},
      {{"x", "@d/../../evil"}},
      {{"x", "@d/.."}, {"x/evil", "1"}},
      {{"x", "@"}},
      {{std::string(1100, 'n'), "1"}},
      {{"new\nline", "1"}},
      {{"\x1b[2Jclear", "1"}},
      {{"x", "@a\nb"}},
      {{"..", "1"}},
      {{".", "1"}},
      {{"...", "@..../../.."}},
  };
  std::size_t number = 0;
  for (const auto& attack : attacks) {
    INFO("attack " << number++ << ": " << attack.front().first);
    Place place;
    {
      ArchiveWriter writer(place.archive);
      for (const auto& [path, content] : attack) {
        if (content.starts_with("@")) {
          writer.symbolic_link(path, content.substr(1));
        } else {
          writer.file(path, content);
        }
      }
      writer.close();
    }
    place.refused();
    CHECK_FALSE(fs::exists(place.home / "evil"));
    CHECK_FALSE(fs::exists("/tmp/sabath-evil"));
    std::size_t beside = 0;
    for ([[maybe_unused]] const auto& entry : fs::directory_iterator(place.home.path()))
      ++beside;
    CHECK(beside == 2);  // the archive and the destination
  }
}
