#include "probe/software/library_view.hpp"

#include "held_process.hpp"
#include "support/fake_host.hpp"

#include <catch2/catch.hpp>
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

using namespace sabath;
using namespace sabath::test;
namespace fs = std::filesystem;

namespace {

const probe::MappedFile* file_of(const probe::SeenFiles& seen, const std::string& name) {
  const auto found = std::find_if(seen.files.begin(), seen.files.end(), [&](const auto& file) {
    return file.path == name || file.path.ends_with("/" + name);
  });
  return found == seen.files.end() ? nullptr : &*found;
}

/// A process of a fake /proc.
struct Fake {
  int pid = 100;
  std::string children{};
  std::string maps{};
  int virtual_bytes = 1000;
  int child_faults = 0;
};

void link(const FakeHost& host, int pid, const std::string& name, const fs::path& to) {
  const fs::path place = host.root() / fmt::format("proc/{}/{}", pid, name);
  base::make_directories(place.parent_path());
  fs::remove(place);
  if (!to.empty()) fs::create_symlink(to, place);
}

void put(const FakeHost& host, const Fake& fake) {
  const auto folder = fmt::format("proc/{}/", fake.pid);
  host.put(folder + "stat",
           fmt::format("{} (a) S 1 1 1 0 -1 4194304 97 {} 0 0 0 0 0 0 20 0 1 0 777 {} 10\n",
                       fake.pid,
                       fake.child_faults,
                       fake.virtual_bytes));
  host.put(folder + "comm", "shell\n");
  host.put(folder + "maps", fake.maps);
  host.put(fmt::format("{}task/{}/children", folder, fake.pid), fake.children);
  link(host, fake.pid, "ns/mnt", fs::read_symlink("/proc/self/ns/mnt"));
  link(host, fake.pid, "root", "/");
}

std::string mapped(const std::string& path) {
  return "7f00-7f01 r-xp 00000000 08:01 77    " + path + "\n";
}

const std::string library = test_libraries + "/new/libopenblas.so";
const std::string other_library = test_libraries + "/old/libopenblas.so";

}  // namespace

TEST_CASE("maps: files that are executed are found, and nothing else") {
  const auto found = probe::executable_mappings(
      "55d0-55d1 r--p 00000000 08:01 12     /usr/bin/tool\n"
      "55d1-55d2 r-xp 00001000 08:01 12     /usr/bin/tool\n"
      "7f00-7f01 r-xp 00000000 fe:02 34     /opt/my libs/lib a.so.1\n"
      "7f01-7f02 r-xp 00000000 fe:02 35     /tmp/libgone.so (deleted)\n"
      "7f02-7f03 rwxp 00000000 00:00 0 \n"
      "7f03-7f04 r-xp 00000000 00:05 9      /memfd:jit (deleted)\n"
      "7f04-7f05 rwxp 00000000 00:05 9      /dev/nvidia0\n"
      "7ffd-7ffe r-xp 00000000 00:00 0      [vdso]\n"
      "7f05-7f06 r-xp 00000000 fe:02 36     /last.so");
  REQUIRE(found.size() == 4);
  CHECK(found[0].path == "/usr/bin/tool");
  CHECK(found[0].inode == 12);
  CHECK(found[1].path == "/opt/my libs/lib a.so.1");
  CHECK_FALSE(found[1].is_gone);
  CHECK(found[2].path == "/tmp/libgone.so");
  CHECK(found[2].is_gone);
  CHECK(found[3].path == "/last.so");
}

TEST_CASE("loaded: a real process's program and libraries are seen") {
  HeldProcess held({hold_library, "600", library});
  probe::LibraryView view("/proc");
  CHECK(view.look({{"go", held.pid()}}));
  CHECK_FALSE(view.look({{"go", held.pid()}}));
  held.end();
  CHECK_FALSE(view.look({{"go", held.pid()}}));
  const auto seen = view.finish({"go"}, 0.25);
  CHECK(seen.notes.empty());
  CHECK(seen.cpu_s == 0.25);
  const auto* program = file_of(seen, "hold_library");
  REQUIRE(program != nullptr);
  CHECK(program->is_program);
  CHECK(program->is_first);
  const auto* loaded = file_of(seen, library);
  REQUIRE(loaded != nullptr);
  CHECK_FALSE(loaded->is_program);
  CHECK_FALSE(loaded->is_hidden);
  CHECK(loaded->stamp == base::stamp_of(library));
  CHECK(loaded->stages == std::set<std::string>{"go"});
  CHECK(file_of(seen, "libc.so.6") != nullptr);
}

TEST_CASE("loaded: the children of a stage's process are looked at too") {
  const HeldProcess held({"/bin/sh", "-c", hold_library + " 600 " + library + " & wait"});
  probe::LibraryView view("/proc");
  view.look({{"go", held.pid()}});
  const auto seen = view.finish({"go"}, 0);
  REQUIRE(file_of(seen, library) != nullptr);
  const auto* program = file_of(seen, "hold_library");
  REQUIRE(program != nullptr);
  CHECK(program->is_program);
  CHECK_FALSE(program->is_first);
}

TEST_CASE("loaded: what lies otherwise in a process's own view is hashed there") {
  const TempHome home;
  base::write_file_atomically(home / "lib.so", "not this one");
  const std::string place = (home / "lib.so").string();
  const std::string line =
      "mount --bind " + library + " " + place + " && exec " + hold_library + " 600 " + place;
  std::optional<HeldProcess> held;
  try {
    held.emplace(std::vector<std::string>{"unshare", "-m", "/bin/sh", "-c", line});
  } catch (const std::exception& error) {
    WARN("no mount namespace may be made here: " << error.what());
    return;
  }
  probe::LibraryView view("/proc");
  view.look({{"go", held->pid()}});
  REQUIRE(view.has_hidden_to_hash());
  while (view.has_hidden_to_hash())
    view.hash_some();
  const auto seen = view.finish({"go"}, 0);
  const auto* file = file_of(seen, place);
  REQUIRE(file != nullptr);
  CHECK(file->is_hidden);
  CHECK(file->digest == base::digest_file(library));
  CHECK(file->build_id == "5aba70");
  CHECK_FALSE(file_of(seen, "libc.so.6")->is_hidden);
}

TEST_CASE("loaded: a file of this host is not taken for what a process elsewhere had") {
  const FakeHost host;
  const TempHome home;
  put(host, {100, "", mapped(library)});
  SECTION("when it ended before its namespace could be read") {
    link(host, 100, "ns/mnt", {});
    link(host, 100, "root", {});
  }
  SECTION("when it has another namespace, and no such file by now") {
    link(host, 100, "ns/mnt", "mnt:[1]");
    link(host, 100, "root", home.path());
  }
  SECTION("when it has another root") {
    link(host, 100, "root", home.path());
  }
  probe::LibraryView view(host.root() / "proc");
  view.look({{"go", 100}});
  const auto seen = view.finish({"go"}, 0);
  CHECK(seen.files.empty());
  CHECK(seen.notes == std::vector<std::string>{"stage go: not all that 'shell' had loaded could "
                                               "be looked at in its time"});
}

TEST_CASE("loaded: a process whose address space did not change is not read again") {
  const FakeHost host;
  put(host, {100, "", mapped(library)});
  probe::LibraryView view(host.root() / "proc");
  CHECK(view.look({{"go", 100}}));
  put(host, {100, "", mapped(library) + mapped(other_library)});
  CHECK_FALSE(view.look({{"go", 100}}));
  put(host, {100, "", mapped(library) + mapped(other_library), 2000});
  CHECK(view.look({{"go", 100}}));
  CHECK(file_of(view.finish({"go"}, 0), other_library) != nullptr);
}

TEST_CASE("loaded: stages that run beside one another have their own") {
  const FakeHost host;
  put(host, {100, "", mapped(library)});
  put(host, {200, "201", mapped(library)});
  put(host, {201, "", mapped(other_library)});
  probe::LibraryView view(host.root() / "proc");
  view.look({{"a", 100}, {"b", 200}});
  const auto seen = view.finish({"a", "b"}, 0);
  CHECK(file_of(seen, library)->stages == std::set<std::string>{"a", "b"});
  CHECK(file_of(seen, other_library)->stages == std::set<std::string>{"b"});
}

TEST_CASE("loaded: what could not be seen is told") {
  const FakeHost host;
  probe::LibraryView view(host.root() / "proc");
  SECTION("a stage that was over before the first look") {
    CHECK_FALSE(view.look({{"go", 100}}));
    CHECK(view.finish({"go"}, 0).notes ==
          std::vector<std::string>{"stage go: its process ended before it could be looked at; what "
                                   "it had loaded is not known"});
  }
  SECTION("a child that ended between two looks") {
    put(host, {100, "", mapped(library)});
    view.look({{"go", 100}});
    put(host, {100, "", mapped(library), 1000, 50});
    view.look({{"go", 100}});
    CHECK(view.finish({"go"}, 0).notes ==
          std::vector<std::string>{"stage go: processes that 'shell' started ended before they "
                                   "could be looked at"});
  }
  SECTION("but not one that was looked at before it ended") {
    put(host, {100, "101", mapped(library)});
    put(host, {101, "", mapped(other_library)});
    view.look({{"go", 100}});
    put(host, {100, "", mapped(library), 1000, 50});
    view.look({{"go", 100}});
    CHECK(view.finish({"go"}, 0).notes.empty());
  }
  SECTION("a library that was replaced while it was loaded") {
    put(host, {100, "", mapped(library) + mapped("/opt/libold.so (deleted)")});
    view.look({{"go", 100}});
    const auto seen = view.finish({"go"}, 0);
    CHECK(seen.notes ==
          std::vector<std::string>{"/opt/libold.so: was removed or replaced while it was loaded"});
    CHECK(file_of(seen, "libold.so") == nullptr);
  }
  SECTION("a process that does not let itself be looked at") {
    put(host, {100, "", ""});
    view.look({{"go", 100}});
    const auto notes = view.finish({"go"}, 0).notes;
    REQUIRE(notes.size() == 2);
    CHECK(notes[1].find("stage go: what 'shell' has loaded may not be seen") == 0);
  }
}
