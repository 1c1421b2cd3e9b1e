#include "support/errors.hpp"
#include "support/programs.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"

#include <sabath/base/archive/archive.hpp>
#include <sabath/base/file.hpp>

#include <catch2/catch.hpp>

#include <filesystem>
#include <random>

using namespace sabath;
using namespace sabath::base;
using test::contains;
using test::error_of;

namespace {

namespace fs = std::filesystem;

struct Place {
  test::TempHome home;
  test::RecordingObserver observer;
};

std::string noise(std::size_t size) {
  std::mt19937 random(1);
  std::string text(size, '\0');
  for (char& c : text)
    c = static_cast<char>(random() & 0xFFU);
  return text;
}

fs::path compressed(const Place& place, const std::string& program, const std::string& content) {
  const fs::path file = place.home / "content";
  write_file_atomically(file, content);
  Command command = test::shell(program + " -c content > packed");
  command.working_directory = place.home.path();
  REQUIRE(SystemProcessRunner().run(command).ok());
  return place.home / "packed";
}

std::string decompressed(Place& place, const fs::path& packed, const std::string& kind) {
  std::string text;
  decompress_file(
      packed, kind, [&](ByteView bytes) { text += as_text(bytes); }, {}, place.observer);
  return text;
}

}  // namespace

TEST_CASE("archive: a single compressed file gives what went in") {
  Place place;
  const auto& [program, kind] = GENERATE(table<std::string, std::string>(
      {{"gzip", "gz"}, {"bzip2", "bz2"}, {"xz", "xz"}, {"zstd", "zst"}}));
  if (!find_program(program)) {
    WARN("skipped: there is no " + program);
    return;
  }
  const std::string content = GENERATE(std::string("short"), noise(700'000));
  CHECK(decompressed(place, compressed(place, program, content), kind) == content);
}

TEST_CASE("archive: a compressed file that is torn, of another kind, or none is refused") {
  Place place;
  const fs::path packed = compressed(place, "gzip", noise(100'000));
  const auto refusal = [&](const std::string& kind) {
    const Error error = error_of([&] { decompressed(place, packed, kind); });
    CHECK(error.kind() == ErrorKind::integrity);
    return std::string(error.what());
  };
  CHECK(contains(refusal("xz"), "it is not a xz file"));
  fs::resize_file(packed, 50'000);
  CHECK(contains(refusal("gz"), "cannot be unpacked"));
  write_file_atomically(packed, "plain text");
  CHECK(contains(refusal("gz"), "it is not a gzip file"));
  write_file_atomically(packed, "");
  CHECK(contains(refusal("gz"), "it is not a gzip file"));
  CHECK(error_of([&] { decompressed(place, packed, "rar"); }).kind() == ErrorKind::usage);
}

TEST_CASE("archive: a gzip file is held to its checksum and its end") {
  Place place;
  const std::string plain = noise(300'000);
  const fs::path packed = compressed(place, "gzip", plain);
  const std::string content = read_file(packed);
  const auto cause = [&](const std::string& now) {
    write_file_atomically(packed, now);
    const Error error = error_of([&] { decompressed(place, packed, "gz"); });
    CHECK(error.kind() == ErrorKind::integrity);
    return std::string(error.what());
  };
  std::string changed = content;
  changed[changed.size() / 2] = static_cast<char>(changed[changed.size() / 2] ^ 1);
  CHECK(contains(cause(changed), "incorrect data check"));  // noise is stored as it is
  CHECK(contains(cause(content.substr(0, content.size() - 8)), "it is cut short"));
  CHECK(contains(cause(content + "garbage"), "other bytes follow the end of gzip"));
  CHECK(contains(cause(content + std::string(5000, '\0') + "x"), "other bytes follow"));
  CHECK(contains(cause(content + content.substr(0, 1000)), "it is cut short"));

  write_file_atomically(packed, content + content);
  CHECK(decompressed(place, packed, "gz") == plain + plain);
  write_file_atomically(packed, content + std::string(5000, '\0'));
  CHECK(decompressed(place, packed, "gz") == plain);
}

TEST_CASE("archive: a compressed bomb is stopped while it grows") {
  Place place;
  const fs::path packed = compressed(place, "gzip", std::string(3'000'000, '\0'));
  ArchiveLimits limits;
  limits.ratio = 100;
  limits.ratio_floor_bytes = 1'000'000;
  std::uint64_t written = 0;
  const Error error = error_of([&] {
    decompress_file(
        packed, "gz", [&](ByteView bytes) { written += bytes.size(); }, limits, place.observer);
  });
  CHECK(error.kind() == ErrorKind::integrity);
  CHECK(written < 2'000'000);
}
