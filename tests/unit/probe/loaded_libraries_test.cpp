#include "held_process.hpp"

#include <sabath/base/unique_fd.hpp>
#include <sabath/probe/loaded_libraries.hpp>

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <filesystem>

#include <fcntl.h>
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
    mapped.stamp = base::stamp_of(file).value();
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
                              seen.stamp.text() + ":" + seen.path + "\t" + known + " beef\n",
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
  old.stamp = base::stamp_of("/bin/sh").value();
  const auto found = probe::identify_files({old}, copy.state);
  REQUIRE(found.files.size() == 1);
  CHECK(copy.memo().find(old.stamp.text() + ":/bin/sh\t" +
                         found.files.front().library.digest.hex) == 0);
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

TEST_CASE("libraries: an interruption ends the hashing in the middle of a file") {
  const Copy one;
  const Copy two;
  constexpr std::uintmax_t large = 64U << 20U;
  fs::resize_file(one.file, large);
  fs::resize_file(two.file, large);
  std::stop_source stop;
  std::atomic<std::uint64_t> most = 0;
  std::atomic<std::uint64_t> all = 0;
  const auto found = probe::identify_files(
      {one.seen(), two.seen()}, one.state, stop.get_token(), [&](auto done, auto total) {
        stop.request_stop();
        most = std::max<std::uint64_t>(most, done);
        all = total;
      });
  CHECK(all == 2 * large);
  CHECK(most > 0);
  CHECK(most < large);
  CHECK(found.files.empty());
  CHECK(found.notes ==
        std::vector<std::string>{"2 loaded file(s) were not hashed, as the run was interrupted"});
  CHECK(one.memo().empty());
}

TEST_CASE("libraries: on a file system that has another number after a boot nothing is new") {
  const Copy copy;
  auto seen = copy.seen();
  const std::string before = seen.stamp.text();
  seen.stamp.device += 1;
  CHECK(seen.stamp.text() == before);
}

TEST_CASE("libraries: a file that cannot be read is told, and not taken for no ELF file") {
  const TempHome home;
  const base::UniqueFd held(::open("/proc/self/mem", O_RDONLY | O_CLOEXEC));  // keeps its stamp
  REQUIRE(held);
  probe::MappedFile file;
  file.path = "/proc/self/mem";  // at 0 there is nothing to read: EIO
  file.stamp = base::stamp_of(file.path).value();
  const auto found = probe::identify_files({file}, home / "state");
  CHECK(found.files.empty());
  CHECK(found.notes ==
        std::vector<std::string>{"/proc/self/mem: could not be read: Input/output error"});
  CHECK_FALSE(base::read_file_if_exists(home / "state" / "libraries"));
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
