#include "held_process.hpp"

#include <sabath/probe/loaded_libraries.hpp>

#include <catch2/catch.hpp>

#include <filesystem>

#include <sys/stat.h>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

/// A copy of a library whose times are long past, but for the one that nobody can set.
struct Copy {
  TempHome home{};
  fs::path file = home / "libx.so";
  fs::path state = home / "state";

  Copy() { fs::copy_file(test_libraries + "/new/libopenblas.so", file); }
  probe::MappedFile seen() const {
    probe::MappedFile mapped;
    mapped.path = file.string();
    mapped.stamp = probe::stamp_of(file).value();
    mapped.stages = {"go"};
    return mapped;
  }
  std::string memo() const { return base::read_file_if_exists(state / "libraries").value_or(""); }
};

}  // namespace

TEST_CASE("libraries: what was seen is named by its bytes") {
  const Copy copy;
  const auto found = probe::identify_files({copy.seen()}, copy.state);
  REQUIRE(found.files.size() == 1);
  const spec::LoadedLibrary& library = found.files.front().library;
  CHECK(library.path == copy.file.string());
  CHECK(library.digest == base::digest_file(copy.file));
  CHECK(library.build_id == "5aba70");
  CHECK(library.size_bytes == fs::file_size(copy.file));
  CHECK(library.stages == std::vector<std::string>{"go"});
  CHECK(found.notes.empty());
}

TEST_CASE("libraries: what the memo knows is not read again") {
  const Copy copy;
  auto seen = copy.seen();
  const std::string known(64, 'a');
  base::make_directories(copy.state);
  base::write_file_atomically(copy.state / "libraries",
                              seen.stamp.text() + "\t" + known + " beef\n",
                              base::Durability::ordered_only,
                              0600);
  auto found = probe::identify_files({seen}, copy.state);
  REQUIRE(found.files.size() == 1);
  CHECK(found.files.front().library.digest.hex == known);
  CHECK(found.files.front().library.build_id == "beef");
  // Unless others could have written it.
  fs::permissions(copy.state / "libraries", fs::perms::all);
  found = probe::identify_files({seen}, copy.state);
  CHECK(found.files.front().library.digest == base::digest_file(copy.file));
}

TEST_CASE("libraries: only what was written a while ago is kept in the memo") {
  const Copy copy;
  probe::identify_files({copy.seen()}, copy.state);
  CHECK(copy.memo().empty());  // the file is as new as can be
  auto old = copy.seen();
  old.path = "/bin/sh";
  old.stamp = probe::stamp_of("/bin/sh").value();
  const auto found = probe::identify_files({old}, copy.state);
  REQUIRE(found.files.size() == 1);
  CHECK(copy.memo().find(old.stamp.text() + "\t" + found.files.front().library.digest.hex) == 0);
}

TEST_CASE("libraries: a file that changed or is gone is told and not listed") {
  const Copy copy;
  auto changed = copy.seen();
  changed.stamp.modified_ns -= 1;
  auto gone = copy.seen();
  gone.path = (copy.home / "liby.so").string();
  const auto found = probe::identify_files({changed, gone}, copy.state);
  CHECK(found.files.empty());
  CHECK(found.notes == std::vector<std::string>{changed.path + ": changed since it was loaded",
                                                gone.path + ": changed since it was loaded"});
}

TEST_CASE("libraries: what is no ELF file is left out in silence") {
  const Copy copy;
  base::write_file_atomically(copy.file, "data");
  const auto found = probe::identify_files({copy.seen()}, copy.state);
  CHECK(found.files.empty());
  CHECK(found.notes.empty());
}

TEST_CASE("libraries: who interrupted a run does not wait for the hashing") {
  const Copy copy;
  std::stop_source stop;
  stop.request_stop();
  const auto found = probe::identify_files({copy.seen()}, copy.state, stop.get_token());
  CHECK(found.files.empty());
  CHECK(found.notes ==
        std::vector<std::string>{"1 loaded file(s) were not hashed, as the run was interrupted"});
}

TEST_CASE("libraries: a hidden file is listed if it could be hashed in its time, else told") {
  const Copy copy;
  auto hashed = copy.seen();
  hashed.path = "/in/container/libz.so";
  hashed.is_hidden = true;
  hashed.digest = base::sha256_of("z");
  hashed.build_id = "01";
  auto missed = hashed;
  missed.digest.reset();
  const auto found = probe::identify_files({hashed, missed}, copy.state);
  REQUIRE(found.files.size() == 1);
  CHECK(found.files.front().library.digest == base::sha256_of("z"));
  CHECK(found.files.front().is_hidden);
  REQUIRE(found.notes.size() == 1);
  CHECK(found.notes.front().find("not all that was loaded in a container") == 0);
}
