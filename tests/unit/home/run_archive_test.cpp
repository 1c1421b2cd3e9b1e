// Runs as archives: all that a folder can hold, archives that are cut short, processes that are
// killed.
#include "support/child.hpp"
#include "support/errors.hpp"
#include "support/fake_clock.hpp"
#include "support/recording_observer.hpp"
#include "support/temp_home.hpp"
#include "unit/spec/full_values.hpp"

#include <sabath/base/file.hpp>
#include <sabath/base/process/process_identity.hpp>
#include <sabath/home/run_archive.hpp>
#include <sabath/home/run_files.hpp>
#include <sabath/home/run_statements.hpp>
#include <sabath/spec/run_record.hpp>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include <sys/stat.h>
#include <unistd.h>

using namespace sabath;
using test::contains;
using test::error_of;
namespace fs = std::filesystem;

namespace {

const std::string id = "tiny-20261120-103201-abcdefgh";

/// Kinds, modes, targets and contents of all that lies beneath a folder, without times.
std::string picture_of(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    paths.push_back(entry.path());
  std::ranges::sort(paths);
  std::string picture;
  for (const fs::path& path : paths) {
    struct stat status {};
    REQUIRE(::lstat(path.c_str(), &status) == 0);
    picture += path.lexically_relative(folder).string() + " ";
    if (S_ISDIR(status.st_mode)) picture += "folder " + std::to_string(status.st_mode & 0777U);
    if (S_ISLNK(status.st_mode)) picture += "-> " + fs::read_symlink(path).string();
    if (S_ISREG(status.st_mode)) {
      picture += std::to_string(status.st_mode & 0777U) + " " + std::to_string(status.st_nlink) +
                 " " + base::digest_file(path).hex;
    }
    picture += "\n";
  }
  return picture;
}

class Home {
 public:
  Home() {
    folders.home = home_ / "home";
    base::make_directories(run());
    spec::RunRecord record = test::full_record();
    record.run_id = id;
    base::write_file_atomically(home::RunFiles(run()).record(), home::record_text(record));
    base::write_file_atomically(run() / "plan.json", "{}");
    write("attempts/1/train/stdout.log", "hello\n");
  }
  void write(const std::string& name, const std::string& text) const {
    base::make_directories((run() / name).parent_path());
    base::write_file_atomically(run() / name, text);
  }
  /// All kinds of entries.
  void fill() const {
    write("outputs/go/empty.bin", "");
    write("outputs/go/" + std::string(255, 'n'), "long");
    const std::string deep = "deep/" + std::string(200, 'a') + "/" + std::string(200, 'b') + "/" +
                             std::string(200, 'c') + "/x";
    write(deep, "far");
    write("gr\xc3\xbc\xc3\x9f e", "umlaut and blank");
    write("work/.git/HEAD", "kept too");
    write("work/__pycache__/a.pyc", "kept too");
    fs::create_directories(run() / "work/empty");
    write("outputs/go/model.bin", std::string(300'000, '\x01'));
    fs::permissions(run() / "outputs/go/model.bin", fs::perms(0444));
    write("code.tar.gz", "private");
    fs::permissions(run() / "code.tar.gz", fs::perms(0600));
    write("locked/in/file", "x");
    fs::permissions(run() / "locked/in", fs::perms(0500));
    fs::permissions(run() / "locked", fs::perms(0700));
    write("outputs/go/tool", "#!/bin/sh\n");
    fs::permissions(run() / "outputs/go/tool", fs::perms(0755));
    fs::create_hard_link(run() / "outputs/go/model.bin", run() / "work/model.bin");
    fs::create_symlink("../outputs/go/model.bin", run() / "work/inside");
    fs::create_symlink("/nowhere/at/all", run() / "work/outside");
    fs::create_symlink("../../../..", run() / "work/up");
    std::ofstream(run() / "sparse.bin").put('a');
    fs::resize_file(run() / "sparse.bin", 64U << 20U);
  }
  home::ArchivedSize archive() { return home::archive_run(folders, id, clock, observer, {}); }
  void restore() { home::restore_run(folders, id, observer, {}); }
  fs::path run() const { return folders.runs() / id; }
  fs::path archived() const { return folders.archive() / id; }
  /// Entries of the archive that are not runs.
  std::size_t leftovers() const {
    std::size_t count = 0;
    for (const auto& entry : fs::directory_iterator(folders.archive())) {
      const std::string name = entry.path().filename().string();
      if (name != id && name != ".sabath-made") ++count;
    }
    return count;
  }

 private:
  test::TempHome home_{};

 public:
  home::Folders folders{};
  test::FakeClock clock{};
  test::RecordingObserver observer{};
};

}  // namespace

TEST_CASE("run archive: a run comes back as it was, with all kinds of files") {
  Home home;
  home.fill();
  home::add_statement(home.run(), home::RunStatement::Kind::tag, "good", "2026-11-27");
  const std::string before = picture_of(home.run());
  const home::ArchivedSize size = home.archive();
  CHECK(size.packed_bytes < size.before_bytes);
  CHECK_FALSE(fs::exists(home.run()));
  CHECK(home.folders.run(id) == home.archived());
  CHECK(home::is_archived(home.archived()));
  // What an index needs is there without unpacking.
  CHECK(home::RunFiles(home.archived()).read_record()->run_id == id);
  CHECK(home::read_statements(home.archived()).front().text == "good");
  CHECK(home.leftovers() == 0);
  const std::string bytes = base::read_file(home::packed_files(home.archived()));
  home::add_statement(home.archived(), home::RunStatement::Kind::note, "later", "2026-11-27");

  home.restore();
  CHECK_FALSE(fs::exists(home.archived()));
  CHECK(home.leftovers() == 0);
  CHECK(home::read_statements(home.run()).back().text == "later");
  fs::remove(home.run() / "said/2.json");
  CHECK(picture_of(home.run()) == before);
  struct stat status {};
  REQUIRE(::stat((home.run() / "sparse.bin").c_str(), &status) == 0);
  CHECK(status.st_size == 64 << 20);
  CHECK(status.st_blocks * 512 < 8 << 20);  // its hole is one again
  home.archive();
  CHECK(base::read_file(home::packed_files(home.archived())) == bytes);
}

TEST_CASE("run archive: unpacking for one command changes nothing") {
  Home home;
  home.fill();
  const std::string before = picture_of(home.run());
  home.archive();
  const fs::path folder = home::make_unpacking_folder(home.folders);
  CHECK(folder.parent_path() == home.folders.home);
  base::make_directories(folder / id);
  home::unpack_run(home.archived(), folder / id, home.observer, {});
  CHECK(picture_of(folder / id) == before);
  CHECK(fs::exists(home::packed_files(home.archived())));
}

TEST_CASE("run archive: an archive that was cut short or changed is an error that names it") {
  Home home;
  home.fill();
  home.archive();
  const fs::path packed = home::packed_files(home.archived());
  const std::string whole = base::read_file(packed);
  const auto spoil = [&](const std::string& text) {
    fs::remove(packed);
    base::write_file_atomically(packed, text);
  };
  std::string flipped = whole;
  flipped[flipped.size() / 2] ^= 1;
  for (const std::string& text : {whole.substr(0, whole.size() / 2),
                                  whole.substr(0, whole.size() - 1),
                                  std::string(),
                                  whole + "x",
                                  flipped}) {
    spoil(text);
    const base::Error error = error_of([&] { home.restore(); });
    CHECK(error.kind() == base::ErrorKind::integrity);
    CHECK(contains(error.what(), packed.string()));
    CHECK(contains(error.hint() + error.what(), packed.string()));
    CHECK_FALSE(fs::exists(home.run()));
    CHECK(base::read_file(packed) == text);
    CHECK(home.leftovers() == 0);
  }
  fs::remove(packed);
  CHECK(error_of([&] { home.restore(); }).kind() == base::ErrorKind::integrity);
  spoil(whole);
  home.restore();
  CHECK(fs::exists(home.run() / "sparse.bin"));
}

TEST_CASE("run archive: what cannot be packed is named, and nothing changes") {
  Home home;
  const auto refused = [&](const std::string& part) {
    const std::string before = picture_of(home.run());
    const base::Error error = error_of([&] { home.archive(); });
    CHECK(contains(error.what(), part));
    CHECK(picture_of(home.run()) == before);
    CHECK_FALSE(fs::exists(home.archived()));
    CHECK(home.leftovers() == 0);
  };
  REQUIRE(::mkfifo((home.run() / "pipe").c_str(), 0600) == 0);
  CHECK(contains(error_of([&] { home.archive(); }).what(), "pipe"));
  CHECK_FALSE(fs::exists(home.archived()));
  fs::remove(home.run() / "pipe");
  home.write("bad\xff name", "x");
  refused("bad\\xff name");
  fs::remove(home.run() / "bad\xff name");
  fs::remove(home::RunFiles(home.run()).record());
  const base::Error error = error_of([&] { home.archive(); });
  CHECK(error.kind() == base::ErrorKind::usage);
  CHECK(contains(error.what(), "has no record"));
}

TEST_CASE("run archive: a stop leaves the folder") {
  Home home;
  home.fill();
  std::stop_source source;
  source.request_stop();
  const base::Error error = error_of(
      [&] { home::archive_run(home.folders, id, home.clock, home.observer, source.get_token()); });
  CHECK(error.kind() == base::ErrorKind::interrupted);
  CHECK(fs::exists(home.run() / "sparse.bin"));
  CHECK(home.leftovers() == 0);
}

TEST_CASE("run archive: a folder that differs from its archive is not removed, nor the archive") {
  Home home;
  home.fill();
  home.archive();
  // Both are there, as after a kill; then somebody worked with the folder.
  base::make_directories(home.run());
  home::unpack_run(home.archived(), home.run(), home.observer, {});
  const auto refused = [&] {
    const std::string before = picture_of(home.run());
    for (const base::Error& error :
         {error_of([&] { home.archive(); }), error_of([&] { home.restore(); })}) {
      CHECK(error.kind() == base::ErrorKind::integrity);
      CHECK(contains(error.what(), id));
      CHECK(contains(error.hint(), "nothing was removed"));
    }
    CHECK(picture_of(home.run()) == before);
    CHECK(fs::exists(home::packed_files(home.archived())));
    CHECK(home.leftovers() == 0);
  };
  home.write("late.txt", "added later");
  refused();
  fs::remove(home.run() / "late.txt");
  home.write("attempts/1/train/stdout.log", "changed");
  refused();
  home.write("attempts/1/train/stdout.log", "hello\n");
  home.archive();
  CHECK_FALSE(fs::exists(home.run()));
  home.restore();
  CHECK(fs::exists(home.run() / "sparse.bin"));
}

TEST_CASE("run archive: a file that is added while it is packed is not lost") {
  class Adding : public base::Observer {
   public:
    explicit Adding(fs::path file) : file_(std::move(file)) {}
    void note(std::string_view) override {}
    void warn(std::string_view, std::string_view) override {}
    void progress(const base::Progress& progress) override {
      if (progress.finished && progress.task.starts_with("packing"))
        base::write_file_atomically(file_, "late");
    }

   private:
    fs::path file_;
  };
  Home home;
  Adding observer(home.run() / "late.txt");
  const base::Error error =
      error_of([&] { home::archive_run(home.folders, id, home.clock, observer, {}); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(base::read_file(home.run() / "late.txt") == "late");
  CHECK(home.leftovers() == 0);
}

TEST_CASE("run archive: statements that cannot be read go into the archive and back as they are") {
  Home home;
  home::add_statement(home.run(), home::RunStatement::Kind::tag, "good", "2026-11-27");
  const std::string newer = R"({"schema": 2, "at": "x", "by": "y", "rating": 5})";
  home.write("said/2.json", newer);
  home.write("said/notes.txt", "mine");
  home.archive();
  CHECK(base::read_file(home.archived() / "said/2.json") == newer);
  home.restore();
  CHECK(base::read_file(home.run() / "said/2.json") == newer);
  CHECK(base::read_file(home.run() / "said/notes.txt") == "mine");
  fs::create_symlink("/nowhere", home.run() / "said/3.json");
  const base::Error error = error_of([&] { home.archive(); });
  CHECK(contains(error.what(), (home.run() / "said/3.json").string()));
  CHECK(fs::is_symlink(home.run() / "said/3.json"));
  CHECK_FALSE(fs::exists(home.archived()));
}

TEST_CASE("run archive: no folder is moved between file systems") {
  Home home;
  CHECK_NOTHROW(home::require_one_file_system(home.run(), home.folders.home));
  const base::Error error =
      error_of([&] { home::require_one_file_system("/proc/self", home.folders.home); });
  CHECK(error.kind() == base::ErrorKind::storage);
  CHECK(contains(error.what(), "another file system"));
}

TEST_CASE("run archive: a folder that a killed process had moved aside comes back") {
  Home home;
  home.archive();
  base::make_directories(home.run());
  home::unpack_run(home.archived(), home.run(), home.observer, {});
  test::Child gone([]() -> std::string { return base::ProcessIdentity::current().text(); });
  const fs::path aside = home.folders.archive() / (".run-" + gone.wait() + "." + id);
  fs::rename(home.run(), aside);
  base::make_directories(aside / "said");
  fs::permissions(aside / "said", fs::perms(0500));
  home.restore();
  CHECK_FALSE(fs::exists(aside));
  CHECK_FALSE(fs::exists(home.run() / "said"));
  CHECK_FALSE(fs::exists(home.archived()));
  CHECK(home.leftovers() == 0);
}

TEST_CASE("run archive: after a kill at any moment the folder or the whole archive is there",
          "[long]") {
  Home home;
  home.fill();
  fs::remove(home.run() / "sparse.bin");
  for (int i = 0; i < 300; ++i)
    home.write("many/" + std::to_string(i), std::string(3000, static_cast<char>('a' + i % 26)));
  const std::string before = picture_of(home.run());
  std::size_t kills = 0;
  for (int round = 0; round < 40; ++round) {
    test::Child worker([&]() -> std::string {
      for (;;) {
        home.archive();
        home.restore();
      }
    });
    std::this_thread::sleep_for(std::chrono::microseconds(1500 + 3700 * round));
    worker.kill();
    kills += worker.wait() == "killed" ? 1 : 0;
    const bool is_folder = fs::exists(home.run());
    REQUIRE((is_folder || fs::exists(home.archived())));
    if (is_folder) REQUIRE(picture_of(home.run()) == before);
    // The next command continues.
    if (is_folder) home.archive();
    home.restore();
    REQUIRE(picture_of(home.run()) == before);
    REQUIRE(home.leftovers() == 0);
  }
  CHECK(kills == 40);
}
