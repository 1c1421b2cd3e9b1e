#include "archives.hpp"
#include "support/programs.hpp"

#include <sabath/base/file.hpp>

using namespace sabath;
using namespace sabath::base;
using test::ArchiveWriter;
using test::contains;
using test::noise;
using Place = test::ArchivePlace;

TEST_CASE("archive: a gzipped tar is held to its checksum, its length and its end") {
  Place place;
  ArchiveWriter writer(place.archive, ARCHIVE_FILTER_GZIP);
  writer.file("file", noise(300'000));
  writer.close();
  std::string content = read_file(place.archive);
  const auto cause = [&](const std::string& now) {
    write_file_atomically(place.archive, now);
    return std::string(place.refused().what());
  };
  SECTION("another checksum") {
    content[content.size() - 8] = static_cast<char>(~content[content.size() - 8]);
    CHECK(contains(cause(content), "incorrect data check"));
  }
  SECTION("another length") {
    content[content.size() - 1] = static_cast<char>(~content[content.size() - 1]);
    CHECK(contains(cause(content), "incorrect length check"));
  }
  SECTION("without its last bytes") {
    CHECK(contains(cause(content.substr(0, content.size() - 8)), "it is cut short"));
  }
  SECTION("something behind it") {
    CHECK(contains(cause(content + "garbage"), "other bytes follow the end of gzip"));
  }
  SECTION("zeros behind it are allowed") {
    write_file_atomically(place.archive, content + std::string(5000, '\0'));
    CHECK(place.extract().size() == 1);
  }
}

TEST_CASE("archive: a tar is refused when an entry or its end is damaged") {
  Place place;
  const int filter = GENERATE(ARCHIVE_FILTER_NONE, ARCHIVE_FILTER_GZIP);
  INFO(filter);
  ArchiveWriter writer(place.archive);
  for (const std::string name : {"a", "b", "c"})
    writer.file(name, std::string(512, name.front()));
  writer.close();
  const std::string whole = read_file(place.archive);
  constexpr std::size_t entry = 1024;  // a header and a block
  const auto put = [&](const std::string& content) {
    write_file_atomically(place.archive, content);
    if (filter == ARCHIVE_FILTER_NONE) return;
    Command command = test::shell("gzip \"$0\" && mv \"$0.gz\" \"$0\"");
    command.argv.push_back(place.archive.string());
    REQUIRE(SystemProcessRunner().run(command).ok());
  };
  const auto cause = [&](const std::string& content) {
    put(content);
    return std::string(place.refused().what());
  };
  SECTION("the header of an entry in the middle") {
    std::string content = whole;
    content[entry] = 'x';
    CHECK(contains(cause(content), "Damaged tar archive"));
  }
  SECTION("cut between two entries") {
    CHECK(contains(cause(whole.substr(0, 2 * entry)), "it ends without the mark of its end"));
  }
  SECTION("one block of zeros is a mark") {
    put(whole.substr(0, 3 * entry + 512));
    CHECK(place.extract().size() == 3);
  }
  SECTION("zeros in place of an entry") {
    std::string content = whole;
    content.replace(entry, entry, entry, '\0');
    CHECK(contains(cause(content), "other bytes follow the mark of its end"));
  }
  SECTION("a second archive behind it") {
    CHECK(contains(cause(whole + whole), "other bytes follow the mark of its end"));
  }
  SECTION("something far behind its end") {
    CHECK(contains(cause(whole + std::string(1'000'000, '\0') + "x"), "other bytes follow"));
  }
}

TEST_CASE("archive: bytes behind bzip2, xz and zstd are refused") {
  Place place;
  ArchiveWriter writer(place.archive,
                       GENERATE(ARCHIVE_FILTER_BZIP2, ARCHIVE_FILTER_XZ, ARCHIVE_FILTER_ZSTD));
  writer.file("file", noise(3000));
  writer.close();
  write_file_atomically(place.archive, read_file(place.archive) + "garbage");
  place.refused();
}

TEST_CASE("archive: a zip file is held to its directory") {
  Place place;
  ArchiveWriter writer(place.archive, ARCHIVE_FILTER_NONE, true);
  for (const std::string name : {"first", "second", "third"})
    writer.file(name, std::string(500, name.front()));
  writer.close();
  std::string content = read_file(place.archive);
  const std::size_t end = content.rfind("PK\x05\x06");
  const std::size_t last = content.rfind("PK\x01\x02");
  const std::size_t directory = content.find("PK\x01\x02");
  const auto cause = [&](const std::string& now) {
    write_file_atomically(place.archive, now);
    return std::string(place.refused().what());
  };
  SECTION("without its end record") {
    CHECK(contains(cause(content.substr(0, end)), "its directory is missing"));
  }
  SECTION("without its directory") {
    CHECK(contains(cause(content.substr(0, directory)), "its directory is missing"));
  }
  SECTION("without a member in its directory") {
    const std::size_t left = last - directory;
    content.erase(last, end - last);
    content[last + 8] = content[last + 10] = 2;
    content[last + 12] = static_cast<char>(left & 0xFFU);
    content[last + 13] = static_cast<char>(left >> 8U);
    CHECK(contains(cause(content), "it holds a member that is not in its directory"));
  }
  SECTION("with another number of members") {
    content[end + 8] = content[end + 10] = 2;
    CHECK(contains(cause(content), "it has 3 members, not 2"));
  }
  SECTION("with another name in its directory") {
    content.replace(content.find("second", directory), 6, "secund");
    CHECK(contains(cause(content), "secund has another name in the directory"));
  }
  SECTION("behind another zip file") {
    CHECK(contains(cause(content + content), "not in its directory"));
  }
  SECTION("behind a script it is allowed") {
    write_file_atomically(place.archive, "#!/bin/sh\n" + content);
    CHECK(place.extract().size() == 3);
  }
}

TEST_CASE("archive: an empty zip file has no entries") {
  Place place;
  ArchiveWriter(place.archive, ARCHIVE_FILTER_NONE, true).close();
  CHECK(place.extract().empty());
}
