#include "env_workshop.hpp"

#include <sabath/base/file.hpp>
#include <sabath/env/prefix_image.hpp>

#include <catch2/catch.hpp>

#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace sabath;
using test::contains;
using test::EnvWorkshop;
using test::error_of;
namespace fs = std::filesystem;

namespace {

constexpr uid_t nobody = 65534;

/// One built layer with a script, and a place for copies.
struct ImageWorkshop : EnvWorkshop {
  spec::BuiltEnvironment built{};
  fs::path local = home / "node";

  ImageWorkshop() {
    write("code/Makefile", test::script_makefile());
    built = build({{}, {test::source_layer("make")}});
    fs::create_directories(local);
  }
  fs::path prefix() const { return built.layers.front().prefix; }
  std::vector<env::PrefixImage> pack() { return env::pack_prefixes(built, processes, observer); }
  std::vector<env::LocalPrefix> unpack(const std::vector<env::PrefixImage>& images) {
    return env::unpack_images(images, local, processes, observer);
  }
};

constexpr int no_namespaces = 3;

/// What a process of `user` finds: 0 where it sees the copies, and may not write there.
int seen_by(uid_t user, const std::vector<env::LocalPrefix>& prefixes) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (user != ::geteuid() && (::setgid(user) != 0 || ::setuid(user) != 0)) ::_exit(2);
    ::prctl(PR_SET_DUMPABLE, 1);  // as a process is that its user started: /proc/self is its own
    try {
      env::enter_local_prefixes(prefixes);
    } catch (const base::Error&) {
      ::_exit(no_namespaces);
    }
    for (const env::LocalPrefix& one : prefixes) {
      if (!fs::exists(one.prefix / "only-here")) ::_exit(4);
      if (::mkdir((one.prefix / "new").c_str(), 0755) == 0) ::_exit(5);
      if (errno != EROFS) ::_exit(6);
    }
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

}  // namespace

TEST_CASE("image: a prefix is packed once, and unpacked once on a node") {
  ImageWorkshop shop;
  CHECK(env::images_of(shop.built).empty());
  const auto images = shop.pack();
  REQUIRE(images.size() == 1);
  CHECK(images[0].path.parent_path() == shop.prefix().parent_path());
  CHECK(base::digest_file(images[0].path) == images[0].digest);
  CHECK(images[0].path.filename() == images[0].digest.hex + ".squashfs");
  CHECK(env::images_of(shop.built).size() == 1);
  const auto made = fs::last_write_time(images[0].path);
  CHECK(shop.pack().front().digest == images[0].digest);
  CHECK(fs::last_write_time(images[0].path) == made);

  const auto copies = shop.unpack(images);
  REQUIRE(copies.size() == 1);
  CHECK(base::read_file(copies[0].copy / "bin/hello") ==
        base::read_file(shop.prefix() / "bin/hello"));
  // squashfs keeps seconds, which is what Python's bytecode goes by.
  const auto seconds = [](const fs::path& file) {
    return std::chrono::floor<std::chrono::seconds>(fs::last_write_time(file));
  };
  CHECK((seconds(copies[0].copy / "bin/hello") == seconds(shop.prefix() / "bin/hello")));
  const std::size_t told = shop.observer.notes.size();
  shop.unpack(images);
  CHECK(shop.observer.notes.size() == told);
}

TEST_CASE("image: the same files make the same image") {
  ImageWorkshop shop;
  const auto first = shop.pack().front();
  fs::remove(first.path);
  CHECK(shop.pack().front().digest == first.digest);
}

TEST_CASE("image: one that was changed is not unpacked") {
  ImageWorkshop shop;
  const auto images = shop.pack();
  fs::permissions(images[0].path, fs::perms::owner_write, fs::perm_options::add);
  std::string bytes = base::read_file(images[0].path);
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  base::write_file_atomically(images[0].path, bytes);
  const auto error = error_of([&] { shop.unpack(images); });
  CHECK(error.kind() == base::ErrorKind::integrity);
  CHECK(contains(error.what(), "is not what it was when it was made"));
}

TEST_CASE("image: one that somebody else could have put there is not unpacked") {
  ImageWorkshop shop;
  const auto images = shop.pack();
  fs::permissions(shop.prefix().parent_path(), fs::perms::group_write, fs::perm_options::add);
  CHECK(contains(error_of([&] { shop.unpack(images); }).what(), "can be written by its group"));
  fs::permissions(shop.prefix().parent_path(), fs::perms::group_write, fs::perm_options::remove);
  const auto copies = shop.unpack(images);
  env::check_trusted(shop.built, copies);
  fs::permissions(shop.prefix().parent_path(), fs::perms::group_write, fs::perm_options::add);
  CHECK(contains(error_of([&] { env::check_trusted(shop.built, copies); }).what(),
                 "can be written by its group"));
}

TEST_CASE("image: a copy that lost files is unpacked anew") {
  ImageWorkshop shop;
  const auto images = shop.pack();
  const auto copies = shop.unpack(images);
  fs::permissions(copies[0].copy / "bin", fs::perms::owner_all);
  fs::remove(copies[0].copy / "bin/hello");
  CHECK(fs::exists(shop.unpack(images)[0].copy / "bin/hello"));
}

TEST_CASE("image: a folder that is not there is told with what names another") {
  ImageWorkshop shop;
  const auto images = shop.pack();
  shop.local = shop.home / "gone";
  const auto error = error_of([&] { shop.unpack(images); });
  CHECK(contains(error.what(), "no folder to unpack images in"));
  CHECK(contains(error.hint(), "\"local\""));
}

TEST_CASE("image: nothing is unpacked into a folder that others can write") {
  ImageWorkshop shop;
  const fs::path own = shop.local / ("sabath-" + std::to_string(::geteuid()));
  SECTION("its mode") {
    fs::create_directory(own);
    fs::permissions(own, fs::perms::all);
  }
  SECTION("a link that somebody made before") {
    fs::create_directory_symlink(shop.home / "x", own);
  }
  const auto error = error_of([&] { shop.unpack(shop.pack()); });
  CHECK(contains(error.what(), "is not a folder that only you can write"));
}

TEST_CASE("image: a process sees the copy in the place of its prefix, and others do not") {
  ImageWorkshop shop;
  shop.write("code/Makefile", test::script_makefile("@echo another"));
  auto other = test::source_layer("make");
  other.name = "other";
  shop.built.layers.push_back(shop.build({{}, {other}}).layers.front());
  auto copies = shop.unpack(shop.pack());
  REQUIRE(copies.size() == 2);
  for (const env::LocalPrefix& one : copies) {
    fs::permissions(one.copy, fs::perms(0777));
    base::write_file_atomically(one.copy / "only-here", "");
  }
  if (!env::may_enter()) {
    WARN("no namespaces may be made here: not tested");
    return;
  }
  CHECK(seen_by(::geteuid(), copies) == 0);
  if (::geteuid() == 0) {
    // Another user needs a user namespace for it. What lies there is for all to read.
    fs::permissions(copies[0].copy.parent_path(), fs::perms(0755));
    fs::permissions(shop.home.path(), fs::perms(0755));
    const int seen = seen_by(nobody, copies);
    if (seen == no_namespaces) WARN("no user namespaces may be made here: not tested");
    CHECK((seen == 0 || seen == no_namespaces));
  }
  CHECK_FALSE(fs::exists(shop.prefix() / "only-here"));
}
